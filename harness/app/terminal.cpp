#include "app/terminal.hpp"

#include "assay/outcome.hpp"
#include "bench/compare/words.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace assay {
namespace {

enum class Tint { bad, good, open, quiet };

std::string_view code_of(Tint tint) {
  switch (tint) {
    case Tint::bad: return "\033[31m";
    case Tint::good: return "\033[32m";
    case Tint::open: return "\033[33m";
    case Tint::quiet: return "\033[2m";
  }
  return "";
}

Tint tint_of(Standing standing) {
  switch (standing) {
    case Standing::wrong:
    case Standing::impossible:
    case Standing::crashed:
    case Standing::timed_out:
    case Standing::slower: return Tint::bad;
    case Standing::faster: return Tint::good;
    case Standing::accepted:
    case Standing::probably_slower:
    case Standing::undecided:
    case Standing::gone:
    case Standing::not_comparable: return Tint::open;
    case Standing::same:
    case Standing::added:
    case Standing::skipped: return Tint::quiet;
  }
  return Tint::quiet;
}

Tint tint_of(Word word) {
  if (fails(word)) return Tint::bad;
  switch (Outcome{word, ""}.exit_code()) {
    case exit_code::passed: return word == Word::nothing_to_do ? Tint::quiet : Tint::good;
    case exit_code::all_skipped: return Tint::quiet;
    default: return Tint::open;
  }
}

std::optional<Tint> tint_of_outcome(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(Word::interrupted); ++i) {
    if (to_string(static_cast<Word>(i)) == word) return tint_of(static_cast<Word>(i));
  }
  return std::nullopt;
}

/// The words in capitals that a line begins with.
std::string_view capitals_of(std::string_view line) {
  std::size_t end = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const bool over = i == line.size() || line[i] == ' ' || line[i] == ':' || line[i] == '\n';
    if (over && i > end) end = i;
    if (over && i < line.size() && line[i] == ' ') continue;
    if (over || line[i] < 'A' || line[i] > 'Z') break;
  }
  return line.substr(0, end);
}

std::optional<std::pair<std::string_view, Tint>> mark_of(std::string_view line) {
  for (const Standing standing : standings_by_weight) {
    const std::string_view one = mark(standing);
    if (line.starts_with(one) && line.substr(one.size()).starts_with(' ')) return {{one, tint_of(standing)}};
  }
  return std::nullopt;
}

std::string in_colour(std::string_view what, Tint tint) {
  return std::string(code_of(tint)) + std::string(what) + "\033[0m";
}

}  // namespace

bool may_rewrite_lines(bool is_terminal, const Environment& environment) {
  const char* terminal = environment("TERM");
  return is_terminal && environment("CI") == nullptr && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

bool may_show_colours(bool is_terminal, const Environment& environment) {
  const char* unwanted = environment("NO_COLOR");
  return may_rewrite_lines(is_terminal, environment) && (unwanted == nullptr || *unwanted == '\0');
}

bool may_rewrite_lines(int descriptor) { return may_rewrite_lines(isatty(descriptor) != 0, std::getenv); }
bool may_show_colours(int descriptor) { return may_show_colours(isatty(descriptor) != 0, std::getenv); }

std::string painted(const std::string& text) {
  // The last line may be wrapped; what follows it is indented then.
  std::size_t last = text.size();
  do {
    last = last < 2 ? std::string::npos : text.rfind('\n', last - 2);
    last = last == std::string::npos ? 0 : last + 1;
  } while (last > 0 && (text[last] == ' ' || text[last] == '\n'));
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    std::optional<std::pair<std::string_view, Tint>> found = mark_of(line);
    if (begin == last && !found) {
      const std::string_view word = capitals_of(line);
      if (const auto tint = tint_of_outcome(word)) found = {word, *tint};
    }
    const std::size_t length = found ? found->first.size() : 0;
    if (found) out += in_colour(found->first, found->second);
    out += line.substr(length);
    begin = end;
  }
  return out;
}

}  // namespace assay
