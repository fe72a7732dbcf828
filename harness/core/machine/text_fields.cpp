#include "core/machine/text_fields.hpp"

#include "core/text/parts.hpp"

#include <fstream>
#include <sstream>

namespace assay {
namespace {

constexpr std::string_view blanks = " \t\r\n";

}  // namespace

std::optional<std::string> try_read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream content;
  // Reading the files of a process that ends meanwhile fails, and an empty file gives nothing.
  if (file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
  if (file.bad()) return std::nullopt;
  return content.str();
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

double bytes_in(std::string_view text, std::string_view name) {
  const auto value = words(field_of(text, name));
  return value.empty() ? 0 : number(value.front()).value_or(0) * 1024;
}

std::optional<double> number(std::string_view word) { return number_from<double>(word); }

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
  const std::string list = trimmed(text);
  for (const std::string_view item : parts_of(list, ',')) {
    const auto dash = item.find('-');
    const auto from = number_from<unsigned>(item.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : number_from<unsigned>(item.substr(dash + 1));
    if (!from || !to || *to < *from) return 0;
    count += static_cast<int>(*to - *from) + 1;
  }
  return count;
}

}  // namespace assay
