#include "assay/detail/typed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::detail {

void compare_figures(Agreement& outcome, const std::vector<Figure>& later) {
  if (std::ranges::equal(outcome.figures, later, {}, &Figure::value, &Figure::value)) return;
  blame(outcome, fmt::format("has other figures when it is called again on the same input: {}, then {}",
                             in_words(outcome.figures), in_words(later)));
}

void compare_precision(Agreement& outcome, double naive_error) {
  constexpr double limit = 8;
  constexpr Index fewest = 32;  // fewer elements say little about a spread
  if (outcome.rounded < fewest || naive_error <= 0) return;
  const double times = outcome.rms_error() / naive_error;
  if (times <= limit) return;
  blame(outcome,
        fmt::format("computes with fewer digits: its errors (root mean square) are {:.3g} times those of "
                    "naive, and 8 is allowed",
                    times));
}

std::vector<Index> drawn_units(Index count, const std::function<Index()>& touched, Rng& rng) {
  constexpr int most_touched = 8, elsewhere = 8;
  std::vector<Index> out;
  if (count <= most_touched + elsewhere) {
    for (Index unit = 0; unit < count; ++unit) out.push_back(unit);
    return out;
  }
  if (touched) {
    for (int i = 0; i < most_touched; ++i) out.push_back(touched());
  }
  for (int i = 0; i < elsewhere; ++i) out.push_back(rng.integer(0, count - 1));
  return increasing(std::move(out));
}

std::vector<Index> increasing(std::vector<Index> units) {
  std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

template void spoil<float>(std::string_view, Buffer<float>&, Rng&, int, const std::function<bool()>&,
                           std::vector<std::string>&);
template void spoil<double>(std::string_view, Buffer<double>&, Rng&, int, const std::function<bool()>&,
                            std::vector<std::string>&);
template void spoil<Index>(std::string_view, Buffer<Index>&, Rng&, int, const std::function<bool()>&,
                           std::vector<std::string>&);

void compare_units(std::string_view part, Buffer<float>& buffer, Index units, Rng& rng, int tries,
                   const std::function<Agreement()>& whole,
                   const std::function<Agreement(std::vector<Index>)>& in_units,
                   std::vector<std::string>& faults) {
  const auto between = [](Index begin, Index end) {
    std::vector<Index> out;
    for (Index unit = begin; unit < end; ++unit) out.push_back(unit);
    return out;
  };
  // How many elements were compared is said behind the semicolon.
  const auto text = [](const Agreement& found) { return found.detail.substr(0, found.detail.find(';')); };
  const auto compare = [&](const std::string& what, const Agreement& expected, const Agreement& found) {
    const bool same = expected.agrees == found.agrees && expected.worst_error == found.worst_error;
    if (same && text(expected) == text(found)) return;
    faults.push_back(what + ": whole '" + text(expected) + "', in units '" + text(found) + "'");
  };
  compare("a right output", whole(), in_units(between(0, units)));
  for (int attempt = 0; attempt < tries && buffer.size() > 0; ++attempt) {
    const Index at = rng.integer(0, buffer.size() - 1);
    const float before = buffer[at];
    // What a right call does not write is no unit's.
    if (!std::isfinite(before)) continue;
    buffer[at] += 1 + std::abs(before);
    if (const Agreement wrong = whole(); !wrong.agrees) {
      const std::string what = std::string(part) + "[" + std::to_string(at) + "] increased";
      Index low = 0, high = units;
      while (high - low > 1) {
        const Index middle = low + (high - low) / 2;
        (in_units(between(low, middle)).agrees ? low : high) = middle;
      }
      compare(what, wrong, in_units({low}));
      std::vector<Index> some{low};
      for (int i = 0; i < 8; ++i) some.push_back(rng.integer(0, units - 1));
      compare(what, wrong, in_units(increasing(some)));
    }
    buffer[at] = before;
  }
}

VariantList::VariantList() = default;
VariantList::~VariantList() = default;

std::size_t VariantList::add(std::string_view operation, const Words& words, const VariantInfo& origin) {
  const auto stands_before = [](std::string_view a, std::string_view b) {
    if (a == "naive" || b == "naive") return a == "naive" && b != "naive";
    return a < b;
  };
  const auto at = std::ranges::find_if(
      info_, [&](const VariantInfo& other) { return !stands_before(other.name, words.name); });
  if (at != info_.end() && at->name == words.name) {
    throw Error(fmt::format("{}/{}", operation, words.name), "registered twice",
                "rename one of the two variants");
  }
  VariantInfo info = origin;
  info.name = words.name;
  info.summary = words.summary;
  info.after = words.after;
  info.known_bad = words.known_bad;
  info.known_cheat = words.known_cheat;
  info.known_honest = words.known_honest;
  info.libraries.assign(words.libraries.begin(), words.libraries.end());
  info.threaded = words.threaded;
  info.site = words.site;
  const auto place = at - info_.begin();
  info_.insert(at, std::move(info));
  return static_cast<std::size_t>(place);
}

void throw_takes_no_file(std::string_view operation, const std::filesystem::path& file) {
  throw Error(std::string(operation), "takes no file", "leave " + file.string() + " out");
}

}  // namespace assay::detail
