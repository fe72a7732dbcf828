#include "app/verbs.hpp"

#include "app/output.hpp"
#include "app/progress.hpp"
#include "assay/error.hpp"
#include "assay/hooks.hpp"
#include "core/files/child_process.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/plugin/library.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace assay {
namespace {

using Words = std::vector<std::string>;

bool asks_for_help(const Words& arguments) {
  return std::ranges::any_of(arguments, [](const std::string& a) { return a == "--help" || a == "-h"; });
}

/// How many arguments the name of a verb takes; 0 where they are not it.
std::size_t words_of(const Verb& verb, const Words& arguments) {
  const std::vector<std::string_view> name = parts_of(verb.name(), ' ');
  const bool are_it =
      arguments.size() >= name.size() && std::equal(name.begin(), name.end(), arguments.begin());
  return are_it ? name.size() : 0;
}

/// Rows whose name begins with `word`; all for none.
std::string table(std::string_view word) {
  std::string out;
  for (const Verb& verb : verbs()) {
    if (verb.hidden || !verb.name().starts_with(word)) continue;
    out += fmt::format("  {:<32}  {}\n", verb.title(), verb.about);
  }
  return out;
}

std::string help_of_all() {
  return fmt::format(
      "Checks, times and compares the hot paths of neural-network training.\n"
      "Usage: assay [--plugin FILE] VERB [OPTIONS]\n\n{}\n  --plugin FILE adds the kernels of a shared "
      "library (assay/plugin.h)\n  assay VERB --help lists the options of a verb; assay --version says which "
      "program this is\n",
      table(""));
}

[[noreturn]] void refuse_verb(const Words& arguments) {
  Words names, seconds;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const std::string first(verb.name().substr(0, verb.name().find(' ')));
    if (std::ranges::find(names, first) == names.end()) names.push_back(first);
    if (!arguments.empty() && first == arguments[0])
      seconds.emplace_back(verb.name().substr(first.size() + 1));
  }
  if (arguments.empty() || arguments[0].starts_with('-')) {
    throw Error("assay", "a verb is missing", fmt::format("verbs: {}", fmt::join(names, " ")));
  }
  if (!seconds.empty()) {
    throw Error("assay " + arguments[0], "needs to be told what",
                fmt::format("one of: {}", fmt::join(seconds, " ")));
  }
  throw Error(arguments[0], "is no verb of assay", fmt::format("verbs: {}", fmt::join(names, " ")));
}

[[noreturn]] void refuse_option(const std::string& argument, const Verb& verb, const Call& call) {
  if (!argument.starts_with('-')) {
    throw Error(verb.title(), fmt::format("\"{}\" was not expected", argument),
                fmt::format("`{} --help` lists its options", verb.title()));
  }
  const std::string option = argument.substr(0, argument.find('='));
  for (const Verb& other : verbs()) {
    if (other.name() != verb.name()) continue;
    const Call its = other.make();
    if (std::ranges::none_of(its.options.all(), [&](const Option& one) { return one.is_named(option); }))
      continue;
    throw Error(option, fmt::format("does nothing for `{}`", verb.title()),
                fmt::format("leave it away; it is an option of `{}`", other.title()));
  }
  Words names;
  for (const Option& one : call.options.all()) {
    if (!one.is_positional() && !one.rule.hidden) names.push_back(std::string(one.long_name()));
  }
  throw Error(option, fmt::format("is no option of `{}`", verb.title()),
              fmt::format("did you mean {}? `{} --help` lists all", near_names(option, names, 1).front(),
                          verb.title()));
}

Call parsed(const Verb& verb, const Words& arguments) {
  Call out = verb.make();
  const Words rest = read_options(verb.title(), out.options, arguments, std::getenv);
  if (!rest.empty()) refuse_option(rest.front(), verb, out);
  return out;
}

static_assert(ChildEnd::reported_crash == exit_code::crashed);

Outcome obey(int argc, const char* const* argv, const Registry& registry) {
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.call) {
    print_visible(stdout, "{}", line.output);
    return {};
  }
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
  const std::string_view verb = arguments.size() > 1 ? arguments[1] : "";
  return verb == "launch" || verb == "turns";
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
  } catch (const std::bad_alloc&) {
    print_visible(stderr, "assay: memory: the system gives no more\n  raise `ulimit -v`, or choose less\n");
    return translated(exit_code::unusable, codes);
  } catch (const std::exception& failure) {
    print_visible(stderr, "assay: {}\n", failure.what());
    // Errors of the system are of files, and of what it has no more of.
    const bool unusable = dynamic_cast<const Error*>(&failure) != nullptr ||
                          dynamic_cast<const std::system_error*>(&failure) != nullptr;
    const bool crashed = dynamic_cast<const ChildCrash*>(&failure) != nullptr;
    return translated(unusable && !crashed ? exit_code::unusable : exit_code::crashed, codes);
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  const Words arguments(argv + std::min(argc, 1), argv + argc);
  if (!arguments.empty() && arguments[0] == "--version")
    return {.output = fmt::format("assay {}\ncommit {}\ncompiler {}\n", build_info().version,
                                  build_info().commit, build_info().compiler)};
  std::string help;
  for (const Verb& verb : verbs()) {
    const std::size_t words = words_of(verb, arguments);
    if (words == 0) continue;
    const Words rest(arguments.begin() + static_cast<std::ptrdiff_t>(words), arguments.end());
    // Words behind -- belong to another program.
    const Words own(rest.begin(), std::ranges::find(rest, "--"));
    const bool is_meant =
        std::ranges::all_of(verb.chosen_by(), [&](std::string_view option) { return gives(own, option); });
    if (asks_for_help(own)) {
      Call call = verb.make();
      help += (help.empty() ? "" : "\n") + help_of(verb.title(), std::string(verb.about), call.options);
    } else if (is_meant) {
      return {.call = parsed(verb, rest)};
    }
  }
  if (help.empty() && asks_for_help(arguments))
    help = arguments[0].starts_with('-') ? help_of_all() : table(arguments[0] + " ");
  if (help.empty()) refuse_verb(arguments);
  return {.output = help};
}

int translated(int code, ExitCodes meaning) {
  constexpr int cannot_be_judged = 125;
  if (meaning == ExitCodes::usual || code == exit_code::passed || code == exit_code::found) return code;
  return cannot_be_judged;
}

ExitCodes asked_exit_codes(int argc, const char* const* argv) {
  ExitCodes out = ExitCodes::usual;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool split = argument == "--exit-code" && i + 1 < argc;
    const std::string_view value = split ? argv[i + 1] : argument;
    if (value == (split ? "bisect" : "--exit-code=bisect")) out = ExitCodes::bisect;
  }
  return out;
}

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
