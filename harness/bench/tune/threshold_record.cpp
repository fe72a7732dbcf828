#include "bench/tune/threshold.hpp"

#include "assay/error.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

namespace assay {
namespace {

std::string sizes_text(const std::vector<Index>& sizes) {
  std::vector<std::string> out;
  for (const Index size : sizes) out.push_back(count_text(size));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string who(const ThresholdQuestion& question, const MeasuredSize& one) {
  const Faster which = faster_at(one);
  if (which == Faster::neither) return "tie";
  return which == Faster::first ? question.first.name : question.second.name;
}

/// Sizes that contradict a single threshold: this variant is faster where the other should be.
std::vector<Index> contradicting(const Threshold& threshold, Faster which) {
  std::vector<Index> out;
  for (const MeasuredSize& one : threshold.sizes) {
    if (faster_at(one) == which && one.size >= *threshold.high && one.size <= *threshold.low)
      out.push_back(one.size);
  }
  return out;
}

std::string found_sentence(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  const Threshold& t = record.threshold;
  std::string out = fmt::format("{} is faster than {} from {} = {} on. ", q.second.name, q.first.name, q.vary,
                                count_text(*t.high));
  out += t.low ? fmt::format("The break-even lies in [{}, {}].", count_text(*t.low), count_text(*t.high))
               : fmt::format("The break-even lies there or below, where {} is surely faster at no size.",
                             q.first.name);
  const std::vector<Index> ties = t.outer_ties();
  if (!ties.empty()) out += fmt::format(" Neither is surely faster at {} = {}.", q.vary, sizes_text(ties));
  return out + fmt::format(" The constant is {}.", *t.constant());
}

std::string outcome_sentence(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  const Threshold& t = record.threshold;
  const std::string &x = q.first.name, &y = q.second.name;
  constexpr const char* none = "no constant follows";
  switch (t.outcome) {
    case ThresholdOutcome::found: return found_sentence(record);
    case ThresholdOutcome::everywhere:
      return fmt::format("{} is faster than {} at {} = {} already. The break-even lies below, and {}.", y, x,
                         q.vary, count_text(*t.high), none);
    case ThresholdOutcome::nowhere:
      return fmt::format("{} is surely faster than {} at none of the sizes measured, up to {} = {}; {}.", y,
                         x, q.vary, count_text(t.sizes.back().size), none);
    case ThresholdOutcome::reversed:
      return fmt::format(
          "{} is faster at small sizes and {} at large ones; {}. Ask for the other order: --between {},{}", y,
          x, none, y, x);
    case ThresholdOutcome::not_monotone:
      return fmt::format("{} is faster at {} = {}, but {} at {}; no size divides them, and {}.", y, q.vary,
                         sizes_text(contradicting(t, Faster::second)), x,
                         sizes_text(contradicting(t, Faster::first)), none);
    case ThresholdOutcome::undecided:
      return fmt::format(
          "neither {} nor {} is surely faster at any of the {} sizes measured; {}. More "
          "--rounds tell smaller differences apart.",
          x, y, t.sizes.size(), none);
    case ThresholdOutcome::stopped:
      return fmt::format("after {} sizes nothing is decided, and {}.", t.sizes.size(), none);
  }
  return "";
}

/// One line for each reason to refuse sizes.
doc::List refusals(const ThresholdQuestion& question) {
  doc::List out{.tag = "not_measured"};
  for (const RefusedSizes& one : question.refused) {
    const Index first = one.sizes.front(), last = one.sizes.back();
    const std::string range = first == last ? count_text(first)
                                            : fmt::format("{} to {}, {} sizes", count_text(first),
                                                          count_text(last), one.sizes.size());
    out.items.emplace_back(
        fmt::format("not measured: {} = {}: {}: {}", question.vary, range, one.by, one.why));
  }
  return out;
}

std::string range_text(const ThresholdQuestion& question) {
  if (question.sizes.empty()) return question.vary;
  return fmt::format("{} from {} to {}", question.vary, count_text(question.sizes.front()),
                     count_text(question.sizes.back()));
}

doc::Table sizes_table(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  doc::Table out{
      .tag = "sizes",
      .columns = {
          {.tag = "size", .name = q.vary},
          {.tag = "first_time", .name = q.first.name, .unit = "s", .folds = false},
          {.tag = "second_time", .name = q.second.name, .unit = "s", .folds = false},
          {.tag = "ratio", .unit = "times", .about = "time of the first by the second", .folds = false},
          {.tag = "faster", .about = "* measured twice, since it contradicted other sizes", .folds = false}}};
  for (const MeasuredSize& one : record.threshold.sizes) {
    out.rows.push_back({doc::count(static_cast<double>(one.size)), doc::seconds(one.first.middle),
                        doc::seconds(one.second.middle), doc::amount(one.ratio, "times"),
                        who(q, one) + (one.again ? " *" : "")});
  }
  return out;
}

constexpr std::size_t comment_width = 96;

/// Keywords of C++20 and other spellings of operators (ISO/IEC 14882:2020, 5.11 and 5.5), between spaces.
constexpr std::string_view keywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename union "
    "unsigned using virtual void volatile wchar_t while xor xor_eq ";

/// Letters as in ASCII: readers of the header may have another locale.
bool is_spelled_as_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, follows);
}

/// Replaces characters that end the line, and backslashes, which would make a comment of the next one.
std::string commented(std::string text, const std::string& indent) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') c = '?';
  }
  const std::string start = "// " + indent;
  return start + spelled(wrapped(text, comment_width), {{'\n', "\n" + start}}) + "\n";
}

}  // namespace

std::string threshold_sentence(const ThresholdRecord& record) {
  if (!record.wrong.empty()) return fmt::format("WRONG: {}", record.wrong);
  return fmt::format("{}: {}", to_string(record.threshold.outcome), outcome_sentence(record));
}

doc::Document record_document(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  const Threshold& t = record.threshold;
  const doc::Text first = doc::code(q.first.name), second = doc::code(q.second.name);
  doc::Text method = range_text(q) + ": from which size is " + second + " faster than " + first +
                     fmt::format(
                         "? {} rounds at each size; a round is a process in which slices of both are "
                         "shuffled together. Both agreed with the oracle at every size first.",
                         record.policy.rounds);
  if (std::ranges::any_of(t.sizes, &MeasuredSize::again))
    method += " * marks sizes that were measured twice, since they contradicted others.";
  doc::Document out = record_document(
      "Break-even of " + first + " and " + second + " in " + doc::code(q.subject), threshold_sentence(record),
      record.made,
      {{.blocks = {doc::Text(
            "Sizes between those of the table were not measured. The break-even belongs to this machine and "
            "build, and to data that were in the caches as this operation leaves them.")}},
       {.tag = "attempts",
        .title = "Sizes",
        .blocks = {std::move(method), sizes_table(record), refusals(q)}}});
  const auto number = [](std::optional<Index> size) {
    return size ? doc::Text(doc::count(static_cast<double>(*size))) : doc::Text();
  };
  const std::string answer(record.wrong.empty() ? to_string(t.outcome) : "WRONG");
  for (const auto& [tag, value] : std::initializer_list<std::pair<const char*, doc::Text>>{
           {"answer", answer},
           {"case", q.subject},
           {"vary", q.vary},
           {"first", q.first.name},
           {"second", q.second.name},
           {"low", number(t.low)},
           {"high", number(t.high)},
           {"constant", number(t.constant())},
           {"rounds", doc::count(record.policy.rounds)},
           {"seed", doc::count(static_cast<double>(record.policy.seed))}})
    out.facts.push_back({tag, value});
  return out;
}

void require_identifier(const std::string& name) {
  const std::string where = "--constant " + name;
  if (!is_spelled_as_identifier(name)) {
    throw Error(where, "is no identifier of C++", "use letters, digits and _, a letter first");
  }
  if (keywords.find(" " + name + " ") != std::string_view::npos)
    throw Error(where, "is a keyword of C++", "give another name");
  // Such names belong to the implementation, somewhere at least.
  if (name.starts_with('_') || name.find("__") != std::string::npos) {
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
