/// An estimate and the interval around it: what every figure that is shown consists of.
#pragma once

namespace assay {

/// The samples that an interval was computed from. Slices of one launch share its luck, so an interval over
/// them says nothing about the next launch.
enum class Basis { launches, slices };

/// An estimate with its interval, and how often such an interval holds the true value.
struct Interval {
  double low = 0, middle = 0, high = 0;
  double coverage = 0;  ///< 0.95 for 95 %; smaller where there are too few samples for that
  Basis basis = Basis::launches;
};

}  // namespace assay
