/// Roofs that trials beat: they are measured again. Who still beats one is suspect first, and is measured
/// again alone, with every slice judged, before the roof is doubted; the roof is not believed where others
/// come near, too. A trial that is faster than any kernel can be is impossible instead, and says nothing
/// about a roof.
#pragma once

#include "assay/interval.hpp"
#include "assay/measure.hpp"
#include "assay/results.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

/// A trial whose whole interval lies above a figure of a roof, by more than roofs of one run differ.
struct AboveRoof {
  std::string key;
  int threads = 1;
  std::string by;    ///< the figure, as in RoofLimit
  double times = 1;  ///< it was so many times as fast as the roof allows
};

/// A figure of a roof that trials are above, where another variant comes near it: the one that beat it most.
struct BeatenRoof : AboveRoof {
  std::size_t trials = 0;  ///< that beat it
};

/// A roof is measured so often at most.
inline constexpr int most_roof_measurements = 4;

/// Says why no kernel can do the work of a call in that time with that many threads: the whole interval lies
/// below floor_of(). Empty if one can, or if no roof is known.
std::string why_impossible(const Interval& seconds, const Cost& cost, int threads,
                           const std::vector<Roof>& roofs);

/// Sets TrialResult::impossible of all trials, by the roofs of these results. Changes nothing if machines
/// were mixed, since each had a roof of its own.
void find_impossible(Results& results);

/// Without those that are impossible. Empty if machines were mixed, since no share is shown then.
std::vector<AboveRoof> trials_above_roof(const Results& results);

/// Sorted by threads and figure. Empty if machines were mixed.
std::vector<BeatenRoof> beaten_roofs(const Results& results);

/// Measures every roof that a trial is above again, by `measure`, until none is beaten or each was measured
/// `most_roof_measurements` times, and keeps the larger of each figure.
void measure_beaten_roofs_again(Results& results, const std::function<Roof(int threads)>& measure);

/// The reason why shares of a roof are not shown, for each of them: how far it was beaten by which trial, how
/// often it was measured, and what else the machine did.
std::vector<std::string> why_not_believed(const std::vector<BeatenRoof>& beaten,
                                          const std::vector<Roof>& roofs);

/// They keep the samples that they have alone, and their remarks say how far above they were.
void measure_suspects_alone(Results& results, const MeasurePolicy& policy, const Sample& sample,
                            const Hooks& hooks);

}  // namespace assay
