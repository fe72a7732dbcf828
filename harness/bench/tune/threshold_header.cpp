// A break-even size as a header of C++.
#include "bench/tune/threshold_record.hpp"

#include "assay/error.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string_view>

namespace assay {
namespace {

constexpr std::size_t comment_width = 96;

/// The keywords of C++20 and the other spellings of operators: ISO/IEC 14882:2020, 5.11 and 5.5. Each between
/// spaces.
constexpr std::string_view keywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using virtual void volatile wchar_t while xor xor_eq ";

bool is_keyword(const std::string& name) { return keywords.find(" " + name + " ") != std::string_view::npos; }

/// Letters as in ASCII: readers of the header may have another locale.
bool is_spelled_as_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, follows);
}

/// Names that begin with _ or hold __ belong to the implementation, somewhere at least.
bool is_reserved(const std::string& name) {
  return name.starts_with('_') || name.find("__") != std::string::npos;
}

/// Replaces characters that end the line, and backslashes, which would make a comment of the next one.
std::string commented(std::string text, const std::string& indent) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') c = '?';
  }
  std::string out = "// " + indent;
  for (const char c : wrapped(std::move(text), comment_width)) {
    out += c;
    if (c == '\n') out += "// " + indent;
  }
  return out + "\n";
}

}  // namespace

void require_identifier(const std::string& name) {
  const std::string where = "--constant " + name;
  if (!is_spelled_as_identifier(name)) {
    throw Error(where, "is no identifier of C++", "use letters, digits and _, a letter first");
  }
  if (is_keyword(name)) throw Error(where, "is a keyword of C++", "give another name");
  if (is_reserved(name)) {
    throw Error(where, "is reserved", "begin with a letter, and have no two _ in a row");
  }
}

std::string header_text(const ThresholdRecord& record, const std::string& name) {
  assert(record.threshold.constant());
  const ThresholdQuestion& q = record.question;
  std::string out = commented("Written by assay: measure again instead of editing.", "") + "//\n";
  out += commented(fmt::format("{}, {} growing: {}", q.subject, q.vary, threshold_sentence(record)), "");
  out += commented(fmt::format("Measured {} on {}, commit {}:", record.made.date, record.made.machine.key,
                               record.made.commit),
                   "");
  out += commented(record.made.command, "  ");
  return out + fmt::format("#pragma once\n\n#include <cstddef>\n\ninline constexpr std::ptrdiff_t {} = {};\n",
                           name, *record.threshold.constant());
}

}  // namespace assay
