// Completion in shells: each has a script that asks the hidden verb `__complete` for the words that may come
// next.

#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "app/verbs.hpp"
#include "assay/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {
namespace {

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
      if (!option.is_named(previous) || std::holds_alternative<bool*>(option.value)) continue;
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
    out.add("--version", "say which program this is");
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
