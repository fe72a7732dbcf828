/// Sums of steps, with their uncertainty.
#pragma once

#include "bench/ledger/ledger.hpp"

#include <span>

namespace assay {

/// The chance of a false alarm by any sum of a ledger, if every trial lies exactly at the limit. Each sum has
/// an equal share (Bonferroni). Unchanged code lies far below it (drift_simulation_test).
inline constexpr double drift_level = 0.01;

/// Returns the estimate of a row, over the launches that were taken whatever they showed; nothing without an
/// interval that tells how sure it is.
///
/// Steps come with order-statistic or rank intervals, so the deviation is taken from those: the half width of
/// the logarithms over the Student quantile that belongs to the interval's coverage, 1.96 for 95 % and many
/// launches. The row's own spread between recordings, where there is one, is added to its variance: launches
/// of one recording share its luck. A row without any width, such as identical machine code, is exact.
std::optional<Estimate> estimate_of(const ComparedRow& row);

/// A sum of independent estimates: variances add. Degrees of freedom after Welch and Satterthwaite.
struct DriftSum {
  double log_ratio = 0;
  double variance = 0;
  /// Sum over the terms of variance² / degrees of freedom: half the variance of `variance`.
  double doubt = 0;
  std::size_t terms = 0;

  void add(const Estimate& estimate);
  /// The lower bound of the true sum, which lies below it with chance `tail`.
  double low(double tail) const;
  /// Returns the interval as time ratios.
  Interval interval(double coverage) const;
};

/// The rows of `key` in `steps`; those that lack it are left out, which `terms` shows.
DriftSum sum_of(std::span<const Step> steps, std::string_view key);

}  // namespace assay
