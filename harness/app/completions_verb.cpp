// What shells need to complete verbs and options, from the table of verbs.

#include "app/verb_functions.hpp"
#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {
namespace {

/// A verb with the options of all its rows.
struct CompletedVerb {
  std::string name;  ///< `gate`, `tune loader`
  std::string about;
  std::vector<Option> options;  ///< those with a dash that the help shows
};
/// Verbs that begin with the same word.
struct FirstWord {
  std::string text;
  std::vector<CompletedVerb> verbs;

  /// The verb that is this word alone, as `report` beside `report claims`.
  const CompletedVerb* alone() const {
    const auto found = std::ranges::find(verbs, text, &CompletedVerb::name);
    return found == verbs.end() ? nullptr : &*found;
  }
  bool is_one() const { return verbs.size() == 1 && alone() != nullptr; }
  /// Of `tune loader`; none where the word is all of a verb.
  std::vector<std::string> second_words() const {
    std::vector<std::string> out;
    for (const CompletedVerb& verb : verbs) {
      if (verb.name != text) out.push_back(verb.name.substr(text.size() + 1));
    }
    return out;
  }
  std::string about() const {
    return alone() != nullptr ? alone()->about : fmt::format("one of {}", fmt::join(second_words(), ", "));
  }
};

template <class T, class Projection>
T& found_or_added(std::vector<T>& all, const std::string& name, Projection name_of) {
  const auto found = std::ranges::find(all, name, name_of);
  if (found != all.end()) return *found;
  T added;
  added.*name_of = name;
  all.push_back(std::move(added));
  return all.back();
}

/// In the order of the help. Of a verb of several rows, the last one is told: it needs no option.
std::vector<FirstWord> first_words() {
  std::vector<FirstWord> out;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const std::string name(verb.name);
    FirstWord& first = found_or_added(out, name.substr(0, name.find(' ')), &FirstWord::text);
    CompletedVerb& named = found_or_added(first.verbs, name, &CompletedVerb::name);
    named.about = verb.about;
    const Call call = verb.make();
    for (const Option& option : call.options.all()) {
      const auto known = std::ranges::find(named.options, option.name(), &Option::name);
      if (option.rule.hidden || option.is_positional()) continue;
      if (known == named.options.end()) {
        named.options.push_back(option);
      } else if (option.all_names().size() > known->all_names().size()) {
        *known = option;  // rows may have further names for it
      }
    }
  }
  return out;
}

std::vector<std::string> dashed_names(const Option& option) {
  std::vector<std::string> out;
  for (const std::string_view name : option.all_names()) {
    if (name.starts_with('-')) out.emplace_back(name);
  }
  return out;
}

/// Words that a value is one of.
std::vector<std::string> choices(const Option& option) {
  std::vector<std::string> out;
  if (const auto* choice = std::get_if<Choice>(&option.value)) {
    for (const std::string_view word : choice->words) {
      if (!word.empty()) out.emplace_back(word);
    }
  }
  return out;
}

/// Whether its value is a file's or a folder's name.
bool is_path(const Option& option) {
  return option.rule.writes != Writes::nothing ||
         std::holds_alternative<std::filesystem::path*>(option.value) ||
         std::holds_alternative<std::vector<std::filesystem::path>*>(option.value);
}
bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.value); }
bool is_repeatable(const Option& option) {
  return std::holds_alternative<std::vector<std::filesystem::path>*>(option.value);
}

/// The text with a backslash before each of these characters.
std::string with_backslashes(std::string_view text, std::string_view before) {
  std::string out;
  for (const char c : text) {
    if (before.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Words that may come next; where there are none, bash falls back on names of files.
std::string bash_case(const CompletedVerb& verb, std::vector<std::string> names) {
  std::vector<std::string> with_value;
  std::string cases;
  for (const Option& option : verb.options) {
    const std::vector<std::string> own = dashed_names(option);
    names.insert(names.end(), own.begin(), own.end());
    if (const std::vector<std::string> words = choices(option); !words.empty()) {
      cases += fmt::format("        {}) words='{}' ;;\n", fmt::join(own, " | "), fmt::join(words, " "));
    } else if (!is_flag(option)) {
      with_value.insert(with_value.end(), own.begin(), own.end());
    }
  }
  if (!with_value.empty()) cases += fmt::format("        {}) ;;\n", fmt::join(with_value, " | "));
  return fmt::format("    {})\n      case $previous in\n{}        *) words='{} --help' ;;\n      esac ;;\n",
                     shell_word(verb.name), cases, fmt::join(names, " "));
}

std::string bash_text() {
  std::string words, second_words, cases;
  for (const FirstWord& first : first_words()) {
    words += first.text + " ";
    if (first.alone() != nullptr && !first.is_one()) {
      second_words +=
          fmt::format("    {0}) case ${{COMP_WORDS[2]}} in {1}) verb=\"{0} ${{COMP_WORDS[2]}}\" ;; esac ;;\n",
                      first.text, fmt::join(first.second_words(), " | "));
    } else if (!first.is_one()) {
      second_words += fmt::format(
          "    {0}) if ((COMP_CWORD == 2)); then words='{1}'; else verb=\"{0} ${{COMP_WORDS[2]}}\"; fi ;;\n",
          first.text, fmt::join(first.second_words(), " "));
    }
    for (const CompletedVerb& verb : first.verbs)
      cases += bash_case(verb, verb.name == first.text ? first.second_words() : std::vector<std::string>());
  }
  return fmt::format(R"(# Completion for bash, as `assay completions bash` prints it.
_assay() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} verb=${{COMP_WORDS[1]}} words=
  # --option=value is three words here.
  [[ $previous == '=' ]] && previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  [[ $current == '=' ]] && current=
  if ((COMP_CWORD == 1)); then
    verb=''
    words='{}--help --version'
  fi
  case $verb in
{}  esac
  case $verb in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _assay assay
)",
                     words, second_words, cases);
}

std::string zsh_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return out + "'";
}

/// What zsh's _arguments completes as the option's value; empty for a flag.
std::string zsh_value(const Option& option) {
  if (is_flag(option)) return "";
  std::string how;
  if (const std::vector<std::string> words = choices(option); !words.empty()) {
    how = fmt::format("({})", fmt::join(words, " "));
  } else if (is_path(option)) {
    how = option.rule.writes == Writes::folder ? "_files -/" : "_files";
  }
  return fmt::format(":{}:{}", with_backslashes(option.type(), ":"), how);
}

/// One argument of zsh's _arguments for each name of the option; one of them excludes the others.
std::string zsh_specification(const Option& option) {
  const std::vector<std::string> names = dashed_names(option);
  const std::string others = is_repeatable(option) ? "*"
                             : names.size() > 1    ? fmt::format("({})", fmt::join(names, " "))
                                                   : "";
  std::string out;
  for (const std::string& name : names) {
    const char* const behind = is_flag(option) ? "" : name.starts_with("--") ? "=" : "+";
    out += fmt::format("        {} \\\n",
                       zsh_quoted(fmt::format("{}{}{}[{}]{}", others, name, behind,
                                              with_backslashes(option.about, R"(\[])"), zsh_value(option))));
  }
  return out;
}

std::string zsh_case(const std::string& word, const CompletedVerb& verb) {
  std::string out = fmt::format("    {})\n      _arguments \\\n", word);
  for (const Option& option : verb.options) out += zsh_specification(option);
  return out + "        '--help[print this help and exit]' '*:file:_files' ;;\n";
}

/// A choice of words, each told.
std::string zsh_words(const std::vector<std::pair<std::string, std::string>>& words,
                      std::string_view indent) {
  std::string out = fmt::format("{}if ((CURRENT == 2)); then\n{}  verbs=(\n", indent, indent);
  for (const auto& [word, about] : words)
    out += fmt::format("{}    {}\n", indent, zsh_quoted(fmt::format("{}:{}", word, about)));
  return out +
         fmt::format(
             "{0}  )\n{0}  _describe verb verbs\n{0}  return\n{0}fi\n{0}shift words\n{0}((CURRENT--))\n",
             indent);
}

/// The word alone beside its second words: those become cases of their own, to which zsh_second_word() leads.
std::string zsh_word_and_seconds(const FirstWord& first) {
  std::string out;
  for (const CompletedVerb& verb : first.verbs) {
    out += zsh_case(verb.name == first.text ? first.text : verb.name.substr(first.text.size() + 1), verb);
  }
  return out;
}

/// What stands before the cases for a word that is a verb alone and with a second word.
std::string zsh_second_word(const FirstWord& first) {
  std::string words;
  for (const CompletedVerb& verb : first.verbs) {
    if (verb.name == first.text) continue;
    words += "      " +
             zsh_quoted(fmt::format("{}:{}", verb.name.substr(first.text.size() + 1), verb.about)) + "\n";
  }
  return fmt::format(
      "  if [[ $words[1] == {0} && $words[2] == ({1}) ]] && ((CURRENT > 2)); then\n    shift words\n"
      "    ((CURRENT--))\n  elif [[ $words[1] == {0} ]] && ((CURRENT == 2)); then\n    verbs=(\n{2}    )\n"
      "    _describe verb verbs\n  fi\n",
      first.text, fmt::join(first.second_words(), "|"), words);
}

std::string zsh_first_word(const FirstWord& first) {
  if (first.is_one()) return zsh_case(first.text, first.verbs.front());
  if (first.alone() != nullptr) return zsh_word_and_seconds(first);
  std::vector<std::pair<std::string, std::string>> words;
  std::string cases;
  for (const CompletedVerb& verb : first.verbs) {
    words.emplace_back(verb.name.substr(first.text.size() + 1), verb.about);
    cases += zsh_case(words.back().first, verb);
  }
  return fmt::format("    {})\n{}      case $words[1] in\n{}      esac ;;\n", first.text,
                     zsh_words(words, "      "), cases);
}

std::string zsh_text() {
  std::vector<std::pair<std::string, std::string>> words;
  std::string cases, second;
  for (const FirstWord& first : first_words()) {
    words.emplace_back(first.text, first.about());
    cases += zsh_first_word(first);
    if (first.alone() != nullptr && !first.is_one()) second += zsh_second_word(first);
  }
  return fmt::format(R"(#compdef assay
# Completion for zsh, as `assay completions zsh` prints it.
_assay() {{
  local -a verbs
{}{}  case $words[1] in
{}  esac
}}
_assay "$@"
)",
                     zsh_words(words, "  "), second, cases);
}

std::string fish_quoted(const std::string& text) { return "'" + with_backslashes(text, R"(\')") + "'"; }

/// A line of completions that holds where `condition` does.
std::string fish_line(const std::string& condition, const std::string& what, const std::string& about) {
  return fmt::format("complete -c assay -n {} {} -d {}\n", fish_quoted(condition), what, fish_quoted(about));
}

std::string fish_option(const std::string& condition, const Option& option) {
  std::string what;
  for (const std::string& name : dashed_names(option)) {
    what += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (const std::vector<std::string> words = choices(option); !words.empty()) {
    what += fmt::format(" -x -a '{}'", fmt::join(words, " "));
  } else if (!is_flag(option)) {
    what += is_path(option) ? " -r -F" : " -x";
  }
  return fish_line(condition, what.substr(1), std::string(option.about));
}

std::string fish_text() {
  std::string out = "# Completion for fish, as `assay completions fish` prints it.\n";
  for (const FirstWord& first : first_words()) {
    out += fish_line("__fish_use_subcommand", "-f -a " + first.text, first.about());
    const std::string after = "__fish_seen_subcommand_from " + first.text;
    const std::string second =
        fmt::format("__fish_seen_subcommand_from {}", fmt::join(first.second_words(), " "));
    for (const CompletedVerb& verb : first.verbs) {
      std::string condition = after;
      if (verb.name == first.text && !first.is_one()) {
        condition = fmt::format("not {}; and {}", second, after);
      } else if (!first.is_one()) {
        const std::string word = verb.name.substr(first.text.size() + 1);
        out += fish_line(fmt::format("{}; and not {}", after, second), "-f -a " + word, verb.about);
        condition += "; and __fish_seen_subcommand_from " + word;
      }
      for (const Option& option : verb.options) out += fish_option(condition, option);
    }
  }
  return out;
}

}  // namespace

Outcome completions_verb(const CompletionsOptions& options) {
  switch (options.shell) {
    case Shell::bash: fmt::print("{}", bash_text()); break;
    case Shell::zsh: fmt::print("{}", zsh_text()); break;
    case Shell::fish: fmt::print("{}", fish_text()); break;
  }
  return {};
}

}  // namespace assay
