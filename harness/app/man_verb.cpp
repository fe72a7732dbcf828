// The manual page, from the table of verbs, in roff.

#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "core/machine/build_info.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace

Outcome man_verb(const ManOptions&) {
  print_visible(stdout, "{}", manual());
  return {};
}

}  // namespace assay
