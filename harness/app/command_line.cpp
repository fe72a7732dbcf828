#include "app/interrupt.hpp"
#include "app/output.hpp"
#include "app/parse.hpp"
#include "app/tuned_kernels.hpp"
#include "assay/error.hpp"
#include "assay/hooks.hpp"
#include "assay/outcome.hpp"
#include "assay/pipeline.hpp"
#include "core/files/child_process.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay {
namespace {

static_assert(ChildEnd::reported_crash == exit_code::crashed);

Outcome obey(int argc, const char* const* argv, const Registry& registry) {
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.output.empty()) print_visible(stdout, "{}", line.output);
  if (!line.errors.empty()) print_visible(stderr, "assay: {}", line.errors);
  if (!line.call) return {line.exit_code == exit_code::passed ? Word::done : Word::unusable};
  require_writable_outputs(line.call->options);
  return line.call->perform(registry);
}

/// Takes `--plugin FILE` out of the arguments, wherever it stands. The environment names the libraries from
/// then on, so that the processes that run their kernels know of them as well.
std::vector<const char*> without_plugins(int argc, const char* const* argv) {
  constexpr std::string_view option = "--plugin";
  std::string named;
  std::vector<const char*> out;
  const auto note = [&](std::string_view file) {
    if (file.empty()) throw Error(std::string(option), "names no file", "name a shared library with kernels");
    if (file.find(':') != std::string_view::npos)
      throw Error(std::string(option), fmt::format("\"{}\" has a colon in its name", file),
                  "rename the file");
    named += (named.empty() ? "" : ":") + std::filesystem::absolute(file).lexically_normal().string();
  };
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == option) {
      note(i + 1 < argc ? argv[++i] : "");
    } else if (argument.starts_with(option) && argument.substr(option.size()).starts_with('=')) {
      note(argument.substr(option.size() + 1));
    } else {
      out.push_back(argv[i]);
    }
  }
  if (!named.empty()) setenv(plugins_variable, named.c_str(), 1);
  return out;
}

/// Whether these arguments start a process that runs kernels.
bool serves_kernels(const std::vector<const char*>& arguments) {
  constexpr std::array<std::string_view, 2> verbs{"launch", "turns"};
  return arguments.size() > 1 && std::ranges::find(verbs, std::string_view(arguments[1])) != verbs.end();
}

/// Flushes standard output, whose end may not have left the process yet. An outcome that nobody can read is
/// none.
int once_printed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  print_visible(stderr,
                "assay: standard output: cannot be written: {}\n  free some space, or send it elsewhere\n",
                std::strerror(errno));
  return code == exit_code::passed ? exit_code::unusable : code;
}

/// Faults end here, and codes are translated here, for all verbs alike.
int with_faults_caught(int argc, const char* const* argv, const std::function<Outcome()>& action) {
  const ExitCodes codes = asked_exit_codes(argc, argv);
  catch_interrupts(translated(exit_code::interrupted, codes));
  report_crashes(translated(exit_code::crashed, codes));
  try {
    return translated(once_printed(action().exit_code()), codes);
  } catch (const Stopped&) {
    const Outcome outcome{Word::interrupted, "before anything was measured"};
    print_visible(stdout, "{}", outcome.text());
    return translated(once_printed(outcome.exit_code()), codes);
  } catch (const ChildCrash& failure) {
    print_visible(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::crashed, codes);
  } catch (const Error& failure) {
    print_visible(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::unusable, codes);
  } catch (const std::system_error& failure) {  // files, and what the system has no more of
    print_visible(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::unusable, codes);
  } catch (const std::bad_alloc&) {
    print_visible(stderr, "assay: memory: the system gives no more\n  raise `ulimit -v`, or choose less\n");
    return translated(exit_code::unusable, codes);
  } catch (const std::exception& failure) {
    print_visible(stderr, "assay: {}\n", failure.what());
    return translated(exit_code::crashed, codes);
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Registry& registry) {
  return with_faults_caught(argc, argv, [&] { return obey(argc, argv, registry); });
}

int run_command_line(int argc, const char* const* argv, const std::function<Registry()>& registry) {
  return with_faults_caught(argc, argv, [&] {
    if (argc > 0) set_called_as(argv[0]);
    const std::vector<const char*> rest = without_plugins(argc, argv);
    if (!serves_kernels(rest)) print_visible(stderr, "{}", use_tuned_kernels());
    Registry all = registry();
    for (const std::filesystem::path& library : plugins_here())
      add_plugin(all, library, serves_kernels(rest));
    return obey(static_cast<int>(rest.size()), rest.data(), all);
  });
}

}  // namespace assay
