#include "core/machine/text_fields.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

namespace assay {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> try_read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  return content;
}

std::string first_line(const std::string& path) {
  const std::string text = try_read(path).value_or("");
  return trimmed(std::string_view(text).substr(0, text.find('\n')));
}

std::string trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return "";
  return std::string(text.substr(from, text.find_last_not_of(blanks) - from + 1));
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (auto from = text.find_first_not_of(blanks); from != std::string_view::npos;) {
    const auto to = text.find_first_of(blanks, from);
    out.emplace_back(text.substr(from, to - from));
    from = to == std::string_view::npos ? to : text.find_first_not_of(blanks, to);
  }
  return out;
}

std::string field_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.starts_with(name)) continue;
    std::string_view rest = line.substr(name.size());
    // `isa` must not find `isa-ext`: after the name come blanks, then perhaps a colon.
    if (!rest.empty() && rest.front() != ':' && blanks.find(rest.front()) == std::string_view::npos) continue;
    std::string value = trimmed(rest);
    if (value.starts_with(':')) value = trimmed(std::string_view(value).substr(1));
    return value;
  }
  return "";
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> size_in_bytes(std::string_view text) {
  std::string word = trimmed(text);
  if (word.ends_with("iB")) word.resize(word.size() - 2);
  if (word.empty()) return std::nullopt;
  double unit = 1;
  switch (word.back()) {
    case 'k':
    case 'K': unit = 1024.0; break;
    case 'M': unit = 1024.0 * 1024; break;
    case 'G': unit = 1024.0 * 1024 * 1024; break;
    default: break;
  }
  if (unit > 1) word.pop_back();
  const auto value = number(trimmed(word));
  if (!value || *value < 0) return std::nullopt;
  return *value * unit;
}

int count_in_list(std::string_view text) {
  int count = 0;
  std::string list = trimmed(text);
  for (std::string_view rest = list; !rest.empty();) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto dash = item.find('-');
    const auto from = whole(item.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : whole(item.substr(dash + 1));
    if (!from || !to || *to < *from) return 0;
    count += *to - *from + 1;
  }
  return count;
}

}  // namespace assay
