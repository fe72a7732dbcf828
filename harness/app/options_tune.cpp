#include "app/options_tune.hpp"

#include "app/options_checks.hpp"
#include "core/statistics/decision.hpp"

#include <CLI/CLI.hpp>

namespace assay {
namespace {

CLI::Range round_counts() { return CLI::Range(static_cast<int>(fewest_rounds), 1000); }

}  // namespace

void add_tune_threshold_options(CLI::App& sub, ThresholdOptions& options) {
  ThresholdRequest& request = options.request;
  const CLI::Range extents(Index{1}, largest_extent);
  sub.add_option("case", request.subject, "an operation and its fields that stay, such as layernorm/cols=768")
      ->required();
  sub.add_option("--vary", request.vary, "the field that grows")->required();
  sub.add_option("--from", request.from, "smallest size")->required()->check(extents);
  sub.add_option("--to", request.to, "largest size")->required()->check(extents);
  sub.add_option("--step", request.step, "from one size to the next, about (default 1.1)")
      ->check(between(1.01, 16.0));
  sub.add_option("--between", request.between,
                 "two variants, the one for small sizes first: naive,simd@avx2 or threaded#1,threaded#2")
      ->required();
  sub.add_option("--threads", request.threads, "of the two, where their names do not say, as 1,2")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  sub.add_option("--rounds", options.rounds, "process starts at each size (default 12)")
      ->check(round_counts());
  CLI::Option* header =
      sub.add_option("--header", options.header, "write the break-even as a constant of C++ here");
  CLI::Option* constant = sub.add_option("--constant", options.constant, "name of that constant");
  header->needs(constant);
  constant->needs(header);
}

void add_tune_library_options(CLI::App& sub, LibraryOptions& options) {
  sub.add_option("--core-types", options.core_types,
                 "of OpenBLAS, to try, as Haswell,SkylakeX (default: all that this processor can execute)")
      ->delimiter(',');
  sub.add_option("--rounds", options.rounds, "launches in which all take turns (default 10)")
      ->check(round_counts());
}

}  // namespace assay
