// The command line as CLI11 reads it, the only file that knows CLI11.
#include "app/option_list.hpp"
#include "assay/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>

namespace assay {
namespace {

constexpr std::size_t help_column = 34;

bool takes_commas(const Option& option) {
  if (option.rule.behind_dashes || option.rule.several) return false;
  return option
      .holds<std::vector<int>*, std::vector<Index>*, std::vector<double>*, std::vector<std::string>*>();
}

CLI::Option* declare(CLI::App& app, const Option& option) {
  const std::string names(option.names), about(option.about);
  if (option.holds<bool*>()) return app.add_flag(names, about);
  CLI::Option* out = app.add_option(
      names, [](const CLI::results_t&) { return true; }, about);
  out->type_name(option.type());
  const bool paths = option.rule.several || option.holds<std::vector<std::filesystem::path>*>();
  if ((paths && (option.rule.several || option.is_positional())) || option.rule.behind_dashes) {
    out->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  } else if (paths || takes_commas(option)) {
    out->expected(1)->take_all();
    if (takes_commas(option)) out->delimiter(',');
  }
  return out;
}

std::string truth_of(const std::string& text) {
  return text == "0" || text == "false" || text == "no" || text == "off" ? "false" : "true";
}

/// CLI11's app with one option of its own for each of ours.
struct Declared {
  Declared(const std::string& program, const std::string& about, const OptionList& options)
      : app(about, program) {
    app.get_formatter()->column_width(help_column);
    app.set_help_flag("--help,-h", "print this help and exit");
    app.allow_extras();
    for (const Option& option : options.all()) {
      theirs.push_back(declare(app, option));
      if (option.rule.required && !option.rule.behind_dashes) theirs.back()->required();
      if (option.rule.hidden) theirs.back()->group("");
    }
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const OptionRule& rule = options.all()[i].rule;
      if (!rule.needs.empty()) theirs[i]->needs(app.get_option(std::string(rule.needs)));
      if (!rule.excludes.empty()) theirs[i]->excludes(app.get_option(std::string(rule.excludes)));
    }
  }
  CLI::App app;
  std::vector<CLI::Option*> theirs;
};

/// Takes what stands behind `--` out of the arguments, where an option is there for it: CLI11 would split
/// words at commas, and take its own options out of those of another program.
void take_behind_dashes(OptionList& options, const std::string& program,
                        std::vector<std::string>& arguments) {
  const auto taker =
      std::ranges::find_if(options.all(), [](const Option& one) { return one.rule.behind_dashes; });
  if (taker == options.all().end()) return;
  const auto dashes = std::ranges::find(arguments, "--");
  const std::vector<std::string> words(dashes == arguments.end() ? dashes : dashes + 1, arguments.end());
  if (words.empty() || words.front().empty()) {
    throw Error(program, fmt::format("names no {}", taker->name()),
                fmt::format("write it behind --, as `{} -- ./program --its-options`", program));
  }
  taker->read(words);
  arguments.erase(dashes, arguments.end());
}

/// The variable that gave the option its value; empty when none did.
std::string read_variables(Option& option, const Environment& environment) {
  for (const std::string_view name : option.rule.variables) {
    const char* const value = environment(std::string(name).c_str());
    if (value == nullptr || *value == '\0') continue;
    option.read({option.holds<bool*>() ? truth_of(value) : value});
    return std::string(name);
  }
  return "";
}

/// Takes words that belong to no option out of `remaining`.
void take_words(std::vector<std::string>& remaining, std::vector<std::string>& texts) {
  const auto is_word = [](const std::string& text) { return !text.starts_with('-'); };
  std::ranges::copy_if(remaining, std::back_inserter(texts), is_word);
  std::erase_if(remaining, is_word);
}

/// An exclusion holds for what a variable says as well.
void require_not_excluded(const Option& given_by_variable, const std::string& variable,
                          const Declared& declared, const OptionList& options) {
  for (std::size_t i = 0; i < declared.theirs.size(); ++i) {
    const Option& other = options.all()[i];
    if (declared.theirs[i]->count() == 0 || other.rule.excludes.empty()) continue;
    if (!given_by_variable.is_named(other.rule.excludes)) continue;
    throw Error(variable,
                fmt::format("gives {}, which cannot be beside {}", other.rule.excludes, other.name()),
                fmt::format("unset it, or leave {} away", other.name()));
  }
}

/// CLI11's message about arguments it refuses. For options given too often it says "At Most 1 required".
std::string refusal(const CLI::ParseError& failure, const Declared& declared) {
  for (const CLI::Option* option : declared.theirs) {
    const int count = static_cast<int>(option->count()), most = option->get_items_expected_max();
    const bool is_flag = most == 0,
               takes_all = option->get_multi_option_policy() != CLI::MultiOptionPolicy::Throw;
    if (is_flag || takes_all || count <= most) continue;
    return fmt::format("{}: is given {} times ({}), and takes one value", option->get_name(), count,
                       fmt::join(option->results(), ", "));
  }
  return failure.what();
}

}  // namespace

std::vector<std::string> read_options(const std::string& program, OptionList& options,
                                      std::vector<std::string> arguments, const Environment& environment) {
  Declared declared(program, "", options);
  take_behind_dashes(options, program, arguments);
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    declared.app.parse(arguments);
  } catch (const CLI::ParseError& failure) {
    throw Error(program, refusal(failure, declared), fmt::format("`{} --help` lists its options", program));
  }
  std::vector<std::string> remaining = declared.app.remaining();
  for (std::size_t i = 0; i < declared.theirs.size(); ++i) {
    Option& option = options.all()[i];
    const CLI::Option& theirs = *declared.theirs[i];
    if (option.rule.behind_dashes) {
      if (theirs.count() == 0) continue;
      throw Error(program, fmt::format("\"{}\" was not expected before --", theirs.results().front()),
                  fmt::format("write the whole {} behind --", option.name()));
    }
    if (theirs.count() == 0) {
      const std::string variable = read_variables(option, environment);
      if (!variable.empty()) require_not_excluded(option, variable, declared, options);
    } else if (option.holds<bool*>()) {
      option.read({theirs.as<bool>() ? "true" : "false"});
    } else {
      std::vector<std::string> texts = theirs.results();
      if (option.rule.joined) take_words(remaining, texts);
      option.read(texts);
    }
  }
  return remaining;
}

std::string help_of(const std::string& program, const std::string& about, OptionList& options) {
  return Declared(program, about, options).app.help();
}

}  // namespace assay
