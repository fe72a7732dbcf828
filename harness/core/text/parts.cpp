#include "core/text/parts.hpp"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

/// Levenshtein (1966), one row of the table at a time.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char c : from) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t replaced = diagonal + (to[j - 1] == c ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string spelled(std::string_view text, Spellings spellings) {
  std::string out;
  for (const char& c : text) {
    const auto found = std::ranges::find(spellings, c, &std::pair<char, std::string_view>::first);
    out += found == spellings.end() ? std::string_view(&c, 1) : found->second;
  }
  return out;
}

std::vector<std::string> near_names(std::string_view text, std::span<const std::string> names,
                                    std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) ranked.emplace_back(edits(text, name), name);
  std::ranges::sort(ranked);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) out.push_back(ranked[i].second);
  return out;
}

}  // namespace assay
