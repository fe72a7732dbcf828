#include "bench/ledger/date.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

/// The digits of `text` as a number; nothing when anything else is among them.
std::optional<int> digits(std::string_view text) {
  int out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = 10 * out + (c - '0');
  }
  return out;
}

}  // namespace

std::optional<Date> date_from(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text.substr(0, 4)), month = digits(text.substr(5, 2)),
             day = digits(text.substr(8));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return Date(date);
}

std::string date_text(Date date) {
  const std::chrono::year_month_day parts(date);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(parts.year()),
                     static_cast<unsigned>(parts.month()), static_cast<unsigned>(parts.day()));
}

}  // namespace assay
