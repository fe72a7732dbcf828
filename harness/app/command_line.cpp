#include "app/exit_codes.hpp"
#include "app/interrupt.hpp"
#include "app/output_paths.hpp"
#include "app/parse.hpp"
#include "assay/error.hpp"
#include "assay/hooks.hpp"
#include "assay/outcome.hpp"
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

int obey(int argc, const char* const* argv, const Registry& registry) {
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.output.empty()) fmt::print("{}", line.output);
  if (!line.errors.empty()) fmt::print(stderr, "assay: {}", line.errors);
  if (!line.call) return line.exit_code;
  require_writable_outputs(line.call->options);
  return line.call->perform(registry);
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
  } catch (const Stopped&) {
    const Outcome outcome{Word::interrupted, "before anything was measured"};
    fmt::print("{}", outcome.text());
    return translated(once_printed(outcome.exit_code()), codes);
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
