#include "bench/tune/core_types.hpp"

#include "assay/error.hpp"
#include "bench/tune/variable_rounds.hpp"
#include "core/machine/openblas_cores.hpp"
#include "core/text/near_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

const OpenBlasCore& core_named(const std::string& name) {
  std::vector<std::string> known;
  for (const OpenBlasCore& core : openblas_cores()) {
    if (same_core(core.name, name)) return core;
    known.push_back(core.name);
  }
  constexpr std::size_t shown = 3;
  throw Error("--core-types " + name, "is no core type whose instructions are known here",
              fmt::format("near it: {}; all: {}", fmt::join(near_names(name, known, shown), ", "),
                          fmt::join(known, ", ")));
}

/// Each once, the least demanding first.
std::vector<OpenBlasCore> cores_to_try(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& features) {
  std::vector<std::string> names;
  for (const std::string& name : wanted) {
    const OpenBlasCore& core = core_named(name);
    const std::vector<std::string> missing = lacking(core, features);
    if (!missing.empty()) {
      throw Error("--core-types " + name, fmt::format("this processor lacks {}", fmt::join(missing, ", ")),
                  "leave it out");
    }
    names.push_back(core.name);
  }
  std::vector<OpenBlasCore> out;
  for (const OpenBlasCore& core : openblas_cores()) {
    const bool asked = names.empty() || std::ranges::find(names, core.name) != names.end();
    if (asked && lacking(core, features).empty()) out.push_back(core);
  }
  return out;
}

}  // namespace

std::vector<ValueAttempt> core_attempts(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& features,
                                        const ReportedCore& reported) {
  std::vector<ValueAttempt> out(1);
  out.front().reported = reported(environment_of(core_type, out.front()));
  for (const OpenBlasCore& core : cores_to_try(wanted, features)) {
    ValueAttempt next{.value = core.name};
    next.reported = reported(environment_of(core_type, next));
    if (!same_core(next.reported, core.name)) {
      next.left_out = fmt::format("NOT TAKEN: OpenBLAS uses {} instead", next.reported);
    } else if (same_core(next.reported, out.front().reported)) {
      next.left_out = "what the default uses";
    }
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace assay
