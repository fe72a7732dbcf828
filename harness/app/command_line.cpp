#include "app/exit_codes.hpp"
#include "app/interrupt.hpp"
#include "app/options.hpp"
#include "app/output_paths.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/files/child_process.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <system_error>

namespace assay {
namespace {

static_assert(ChildEnd::reported_crash == exit_code::crashed);

int dispatch(const Options& options, const Registry& registry) {
  switch (options.verb) {
    case Verb::list: return list_verb(options, registry);
    case Verb::check: return check_verb(options, registry);
    case Verb::run: return run_verb(options, registry);
    case Verb::record: return record_verb(options, registry);
    case Verb::gate:
      return options.base.empty() ? gate_verb(options, registry) : two_builds_verb(options, registry);
    case Verb::reanalyze: return reanalyze_verb(options);
    case Verb::selftest: return selftest_verb(options, registry);
    case Verb::compare: return compare_verb(options);
    case Verb::merge: return merge_verb(options);
    case Verb::predict: return predict_verb(options);
    case Verb::epoch: return epoch_verb(options);
    case Verb::tune_loader:
    case Verb::tune_batch:
    case Verb::tune_threads: return tune_verb(options);
    case Verb::tune_threshold: return tune_threshold_verb(options, registry);
    case Verb::tune_library: return tune_library_verb(options, registry);
    case Verb::report: return report_verb(options);
    case Verb::doctor: return doctor_verb(options);
    case Verb::launch: return launch_verb(options, registry);
    case Verb::turns: return turns_verb(options, registry);
    case Verb::describe: return describe_verb(options, registry);
  }
  return exit_code::unusable;
}

int obey(int argc, const char* const* argv, const Registry& registry) {
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.output.empty()) fmt::print("{}", line.output);
  if (!line.errors.empty()) fmt::print(stderr, "assay: {}", line.errors);
  if (!line.options) return line.exit_code;
  require_writable_outputs(*line.options);
  return dispatch(*line.options, registry);
}

/// Flushes standard output, whose end may not have left the process yet. A verdict that nobody can read is
/// none.
int once_printed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  fmt::print(stderr,
             "assay: standard output: cannot be written: {}\n  free some space, or send it elsewhere\n",
             std::strerror(errno));
  return code == exit_code::passed ? exit_code::unusable : code;
}

/// Faults end here, and codes are translated here, for all verbs alike.
int with_faults_caught(int argc, const char* const* argv, const std::function<int()>& action) {
  const ExitCodes codes = asked_exit_codes(argc, argv);
  catch_interrupts(translated(exit_code::interrupted, codes));
  report_crashes(translated(exit_code::crashed, codes));
  try {
    return translated(once_printed(action()), codes);
  } catch (const ChildCrash& failure) {
    fmt::print(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::crashed, codes);
  } catch (const Error& failure) {
    fmt::print(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::unusable, codes);
  } catch (const std::system_error& failure) {  // files, and what the system has no more of
    fmt::print(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::unusable, codes);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::crashed, codes);
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Registry& registry) {
  return with_faults_caught(argc, argv, [&] { return obey(argc, argv, registry); });
}

int run_command_line(int argc, const char* const* argv, const std::function<Registry()>& registry) {
  return with_faults_caught(argc, argv, [&] { return obey(argc, argv, registry()); });
}

}  // namespace assay
