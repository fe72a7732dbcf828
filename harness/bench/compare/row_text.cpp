#include "bench/compare/row_text.hpp"

#include "core/text/figures.hpp"

#include <utility>

namespace assay {

std::string_view mark(Standing standing) {
  switch (standing) {
    case Standing::wrong:
    case Standing::impossible:
    case Standing::crashed:
    case Standing::timed_out: return "‼";
    case Standing::slower: return "✗";
    case Standing::accepted: return "~";
    case Standing::undecided: return "?";
    case Standing::faster: return "▲";
    case Standing::same: return "=";
    case Standing::added: return "+";
    case Standing::gone: return "−";
    case Standing::not_comparable: return "≠";
    case Standing::skipped: return "·";
  }
  return " ";
}

std::string printable(std::string_view text, std::size_t width) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (out.size() > width) out.replace(width - 3, std::string::npos, "...");
  return out;
}

std::map<std::string, std::string> times_in_words(const Results& results,
                                                  const std::vector<TrialResult>& trials) {
  std::map<std::string, std::string> out;
  if (!results.mixed_machines.empty()) return out;
  for (const TrialResult& trial : trials) {
    const double seconds = time_of(trial).middle;
    if (seconds > 0) out[trial.key] = seconds_text(seconds);
  }
  return out;
}

std::vector<SharedFinding> shared_findings(const std::vector<const ComparedRow*>& rows) {
  std::vector<SharedFinding> out;
  std::map<std::pair<Standing, std::string>, std::size_t> places;
  for (const ComparedRow* row : rows) {
    if (row->why.empty()) continue;
    std::string why = row->why.substr(0, row->why.find(": time after"));
    const auto [known, is_new] = places.try_emplace({row->standing, why}, out.size());
    if (is_new) out.push_back({.finding = {row->standing, std::move(why), row->key}});
    ++out[known->second].trials;
  }
  return out;
}

}  // namespace assay
