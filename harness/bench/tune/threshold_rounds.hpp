/// The two variants of a threshold at one size: checked, then sampled against each other.
#pragma once

#include "assay/check.hpp"
#include "assay/measure.hpp"
#include "bench/tune/threshold_question.hpp"
#include "bench/tune/threshold_search.hpp"

#include <filesystem>
#include <string>

namespace assay {

struct ThresholdPolicy {
  int rounds = 12;  ///< launches at each size
  std::uint64_t seed = 42;
};

/// Measures sizes one by one. A round is a process start: slices of both variants in one process, shuffled
/// together, on the same inputs and into the same output. Its ratio is one sample.
class ThresholdRounds {
 public:
  /// `passed_corners` is the file of kernels whose corner cases passed; empty: none did.
  ThresholdRounds(const ThresholdQuestion& question, ThresholdPolicy policy, Sample sample, Hooks hooks,
                  std::filesystem::path passed_corners = {});

  /// Checks both variants at this size, then times them. Once ended() is true the answer means nothing.
  /// Throws Error when a call takes so long that there cannot be enough rounds.
  MeasuredSize measured_at(Index size);

  /// Interrupted, or a variant is wrong.
  bool ended() const { return hooks_.stopped() || !wrong_.empty(); }
  /// Says which variant disagrees with the oracle, at which size and how. Empty when none does.
  const std::string& wrong() const { return wrong_; }

 private:
  Trial trial_at(const Contestant& contestant, const std::string& problem) const;

  const ThresholdQuestion& question_;
  ThresholdPolicy policy_;
  Sample sample_;
  Hooks hooks_;
  std::filesystem::path passed_corners_;
  std::string wrong_;
  double measured_ = 0;  ///< sizes
};

}  // namespace assay
