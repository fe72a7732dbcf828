// The table of verbs as a manual page, in roff, and as completion in shells. Each of these has a
// script that asks the hidden verb `__complete` for the words that may come next.

#include "app/output.hpp"
#include "app/verbs.hpp"
#include "core/machine/build_info.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace assay {
namespace {

/// The text as it is: no dash is broken at, no backslash escapes, no line is a request, and nothing is beyond
/// ASCII.
std::string roff(std::string_view text) {
  static const std::map<char, std::string_view> escapes{{'\\', R"(\e)"},  {'-', R"(\-)"},   {'\'', R"(\(aq)"},
                                                        {'`', R"(\(ga)"}, {'^', R"(\(ha)"}, {'~', R"(\(ti)"}};
  std::string out = text.starts_with('.') || text.starts_with('\'') ? R"(\&)" : "";
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, character_length(text));
    const auto escape = escapes.find(text.front());
    if (length > 1) {
      unsigned point = static_cast<unsigned char>(text.front()) & (0x7fU >> length);
      for (const char c : text.substr(1, length - 1))
        point = point << 6U | (static_cast<unsigned char>(c) & 0x3fU);
      out += fmt::format("\\[u{:04X}]", point);
    } else {
      out += escape == escapes.end() ? text.substr(0, 1) : escape->second;
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string bold(std::string_view text) { return R"(\fB)" + roff(text) + R"(\fR)"; }
std::string italic(std::string_view text) { return R"(\fI)" + roff(text) + R"(\fR)"; }

/// An entry whose text is indented below its head.
std::string entry(const std::string& head, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

std::string head_of(const Option& option) {
  if (option.is_positional()) return italic(option.name());
  std::vector<std::string> names;
  for (const std::string_view name : option.all_names()) {
    if (name.starts_with('-')) names.push_back(bold(name));
  }
  const std::string type = option.type();
  return fmt::format("{}{}", fmt::join(names, ", "), type.empty() ? "" : " " + italic(type));
}

std::string section_of(const Verb& verb) {
  std::string out = fmt::format(".SS \"{}\"\n{}.\n", roff(verb.title()), roff(verb.about));
  const Call call = verb.make();
  for (const Option& option : call.options.all()) {
    if (!option.rule.hidden) out += entry(head_of(option), option.about);
  }
  return out;
}

/// Variables that stand for options: the options, and the verbs that read them.
std::string variables_of_options() {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> read;
  for (const Verb& verb : verbs()) {
    const Call call = verb.make();
    for (const Option& option : call.options.all()) {
      for (const std::string_view name : option.rule.variables) {
        auto& [options, readers] = read[std::string(name)];
        options.emplace(option.long_name());
        readers.emplace(verb.name());
      }
    }
  }
  std::string out;
  for (const auto& [name, known] : read) {
    out += entry(bold(name), fmt::format("{}, where it is not given to {}", fmt::join(known.first, " or "),
                                         fmt::join(known.second, ", ")));
  }
  return out;
}

std::string manual() {
  std::string verb_sections, codes;
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) verb_sections += section_of(verb);
  }
  for (const auto& [code, meaning] : exit_codes()) codes += entry(bold(std::to_string(code)), meaning);
  return fmt::format(R"(.TH ASSAY 1 "" "assay {}" "User Commands"
.SH NAME
assay \- check, time and compare the hot paths of neural\-network training
.SH SYNOPSIS
.B assay
.I VERB
.RI [ OPTION "]..."
.br
.B assay
.RI [ VERB ]
.B \-\-help
.br
.B assay \-\-version
.SH DESCRIPTION
Checks variants of a kernel against an oracle, times those that agree, compares the times with an earlier build, and
tells what they mean for an epoch.
Where a verb is listed several times, the options in its title choose between them.
.SH VERBS
{}.SH EXIT STATUS
{}.SH ENVIRONMENT
Options win over variables.
{}.SH FILES
.TP
.I assay.json
in the root of a repository: how gates build its revisions
)",
                     roff(build_info().version), verb_sections, codes, variables_of_options());
}

using Words = std::vector<std::string>;

/// Words that may come next, each with its meaning.
class Candidates {
 public:
  /// A word that is there keeps its meaning.
  std::string& add(std::string_view word, std::string_view about = "") {
    const auto found = std::ranges::find(all_, word, [](const auto& one) { return one.first; });
    return (found == all_.end() ? all_.emplace_back(word, about) : *found).second;
  }
  /// Returns a line for each word; a tab stands before the meaning.
  std::string text(const std::string& before, std::string_view begun) const {
    std::string out;
    for (const auto& [word, about] : all_) {
      if (word.starts_with(begun)) out += fmt::format("{}{}\t{}\n", before, word, about);
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

/// Adds the next word of every verb whose name begins with `typed`.
void add_verbs(Candidates& out, const Words& typed) {
  for (const Verb& verb : verbs()) {
    const std::vector<std::string_view> name = parts_of(verb.name(), ' ');
    if (verb.hidden || name.size() <= typed.size() || !std::equal(typed.begin(), typed.end(), name.begin()))
      continue;
    std::string& about = out.add(name[typed.size()]);
    if (name.size() == typed.size() + 1) {
      about = verb.about;
    } else if (about.empty() || about.starts_with("one of ")) {
      about += (about.empty() ? "one of " : ", ") + std::string(name.back());
    }
  }
}

/// Adds the values of the option `previous`, or else all options of the verbs of this name. Adds nothing
/// where a value may be anything: shells complete names of files then.
void add_options(Candidates& out, std::string_view name, const std::string& previous) {
  for (const Verb& verb : verbs()) {
    if (verb.name() != name) continue;
    const Call call = verb.make();
    for (const Option& option : call.options.all()) {
      if (!option.is_named(previous) || option.holds<bool*>()) continue;
      out = {};
      if (const auto* choice = std::get_if<WordChoice>(&option.value)) {
        for (const std::string_view word : choice->words) {
          if (!word.empty()) out.add(word);
        }
      }
      return;
    }
    for (const Option& option : call.options.all()) {
      for (const std::string_view own : option.all_names()) {
        if (!option.rule.hidden && own.starts_with('-')) out.add(own, option.about);
      }
    }
  }
  out.add("--help", "print this help and exit");
}

constexpr std::string_view bash = R"(# Completion for bash, as `assay completions bash` prints it.
_assay() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null | cut -f1)
}
complete -o default -F _assay assay
)";

constexpr std::string_view zsh = R"script(#compdef assay
# Completion for zsh, as `assay completions zsh` prints it.
_assay() {
  local tab=$'\t'
  local -a told
  told=("${(@f)$("$words[1]" __complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)}")
  told=("${(@)told/$tab/:}")
  if [[ -n "$told" ]]; then _describe assay told; else _files; fi
}
_assay "$@"
)script";

constexpr std::string_view fish = R"(# Completion for fish, as `assay completions fish` prints it.
function __assay_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l told ($words[1] __complete -- $words 2>/dev/null)
  if test (count $told) -gt 0
    printf '%s\n' $told
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c assay -f -a '(__assay_complete)'
)";

}  // namespace

Outcome man_verb(const ManOptions&) {
  print_visible(stdout, "{}", manual());
  return {};
}

Outcome complete_verb(const CompleteOptions& options) {
  Words words(options.words.begin() + 1, options.words.end());  // without the program
  // bash makes three words of --option=value; other shells leave it one.
  if (!words.empty() && words.back() == "=") words.emplace_back();
  std::erase(words, "=");
  std::string current = words.empty() ? "" : words.back(), before;
  if (!words.empty()) words.pop_back();
  if (const std::size_t equals = current.find('='); current.starts_with("--") && equals != current.npos) {
    words.push_back(current.substr(0, equals));
    before = current.substr(0, equals + 1);
    current.erase(0, equals + 1);
  }
  Candidates out;
  add_verbs(out, words);
  if (words.empty()) {
    out.add("--help", "list all verbs");
    out.add("--version", "say version, commit and compiler");
  } else if (std::ranges::find(words, "--") == words.end()) {  // words behind -- belong to another program
    const bool has_two = words.size() > 1 && std::ranges::any_of(verbs(), [&](const Verb& verb) {
                           return verb.name() == words[0] + " " + words[1];
                         });
    const std::string name = has_two ? words[0] + " " + words[1] : words[0];
    if (std::ranges::find(verbs(), name, &Verb::name) != verbs().end()) add_options(out, name, words.back());
  }
  print_visible(stdout, "{}", out.text(before, current));
  return {};
}

Outcome completions_verb(const CompletionsOptions& options) {
  constexpr std::array scripts{bash, zsh, fish};
  print_visible(stdout, "{}", scripts[static_cast<std::size_t>(options.shell)]);
  return {};
}

}  // namespace assay
