#include "bench/report/prediction_text.hpp"

#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t widest = 80;
constexpr std::size_t most_contributions = 8;

}  // namespace

std::string prediction_text(const std::string& suite, const std::vector<Prediction>& predictions) {
  std::string out = wrapped(fmt::format("suite {}", suite), widest, "  ") + "\n", outcome;
  std::vector<std::string> left_out;
  for (const Prediction& one : predictions) {
    if (!one.impossible.empty()) {
      out += wrapped(fmt::format("{}: no prediction: {}", one.label, one.impossible), widest, "  ") + "\n";
      continue;
    }
    out += wrapped(fmt::format("{}: {} per epoch, {} interval from {}", one.label, seconds_text(one.seconds),
                               percent_text(one.seconds.coverage), to_string(one.source)),
                   widest, "  ") +
           "\n";
    for (std::size_t i = 0; i < std::min(most_contributions, one.contributions.size()); ++i) {
      const Contribution& part = one.contributions[i];
      out += wrapped(fmt::format("  {} % {}, {} x {}", figure(part.share), part.key,
                                 count_text(part.per_step), seconds_text(part.seconds.middle)),
                     widest, "      ") +
             "\n";
    }
    if (one.contributions.size() > most_contributions) {
      double share = 0;
      for (std::size_t i = most_contributions; i < one.contributions.size(); ++i)
        share += one.contributions[i].share;
      out += fmt::format("  {} % {} more\n", figure(share), one.contributions.size() - most_contributions);
    }
    for (const std::string& line : one.left_out) {
      if (std::ranges::find(left_out, line) == left_out.end()) left_out.push_back(line);
    }
    outcome = fmt::format("PREDICTED: {} per epoch, {}\n", seconds_text(one.seconds), one.label);
  }
  for (const std::string& line : left_out) out += wrapped("left out: " + line, widest, "  ") + "\n";
  return out + (outcome.empty() ? "NO PREDICTION\n" : outcome);
}

}  // namespace assay
