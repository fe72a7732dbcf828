/// The break-even size of two variants. A question is checked against the registry: one operation, one field
/// that grows, two variants. Then a search that decides on intervals finds the smallest size from which the
/// second is faster than the first, as bench/README.md tells ("Break-even sizes").
#pragma once

#include "assay/check.hpp"
#include "assay/interval.hpp"
#include "assay/machine.hpp"
#include "assay/measure.hpp"
#include "assay/problem.hpp"
#include "assay/registry.hpp"
#include "core/tune/turns.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The way that takes less time beyond doubt, of two.
enum class Faster { first, second, neither };

struct MeasuredSize {
  Index size = 0;
  Interval ratio;          ///< time of the first by the second, round by round
  bool again = false;      ///< measured twice, since it contradicted others
  Interval first, second;  ///< seconds per call, for readers alone
};
Faster faster_at(const MeasuredSize& measured);

enum class ThresholdOutcome {
  found,         ///< from some size on the second is faster, and below that it is not
  everywhere,    ///< the second is faster at the smallest size already
  nowhere,       ///< the second is surely faster at no size, the first at some
  reversed,      ///< the second is faster at small sizes and the first at large ones
  not_monotone,  ///< they take turns more than once
  undecided,     ///< every size is a tie
  stopped        ///< before the search was at its end
};
std::string_view to_string(ThresholdOutcome outcome);  ///< `NOT MONOTONE`

struct Threshold {
  ThresholdOutcome outcome = ThresholdOutcome::stopped;
  /// The break-even lies between: the largest size at which the first is surely faster, nothing where there
  /// is none, and the smallest at which the second is.
  std::optional<Index> low, high;
  std::vector<MeasuredSize> sizes;  ///< all that were measured, by size

  /// Returns the size from which a program should take the second way: `high`, below which nothing was shown
  /// for it. Nothing unless `outcome` is found.
  std::optional<Index> constant() const;
  /// Ties beyond `low` and `high`, where one way is faster on both sides of them or up to an end.
  std::vector<Index> outer_ties() const;
};

/// Returns whole numbers from `from` to `to`, both included, each once, about `step` times its predecessor.
std::vector<Index> geometric_sizes(Index from, Index to, double step);

/// `sizes` grow, and are two at least. `measure` is asked at most twice for each. Once `stopped` is true, the
/// last answer does not count and nothing more is asked.
Threshold find_threshold(std::span<const Index> sizes, const std::function<MeasuredSize(Index)>& measure,
                         const std::function<bool()>& stopped);

/// The request as somebody typed it.
struct ThresholdRequest {
  std::string subject;  ///< an operation with the fields that stay: `layernorm/cols=768`
  std::string vary;     ///< the field that grows: `rows`
  Index from = 0, to = 0;
  double step = 1.1;         ///< from one size to the next, about
  std::string between;       ///< two variants: `naive,simd@avx2` or `threaded#1,threaded#2`
  std::vector<int> threads;  ///< of those two where they do not say; one number stands for both
};

/// One of the two variants.
struct Contestant {
  std::size_t variant = 0;
  int threads = 1;
  std::string name;  ///< `simd@avx2`, `threaded#2`
};

/// Sizes that cannot be measured, with the reason at the first of them.
struct RefusedSizes {
  std::string by;  ///< the operation, a variant, or memory
  std::string why;
  std::vector<Index> sizes;
};

struct ThresholdQuestion {
  const Operation* operation = nullptr;
  std::string subject;  ///< as typed
  std::string fixed;    ///< its fields alone; may be empty
  std::string vary;
  Contestant first, second;
  std::vector<Index> sizes;  ///< both variants can be measured at these; growing
  std::vector<RefusedSizes> refused;

  /// Canonical text.
  std::string problem_at(Index size) const;
};

/// Throws Error naming the option at fault, with similar names where a name is unknown: of the operation, the
/// field or a variant; a range or thread counts that cannot be; when the contract refuses all sizes, or one
/// alone is left. When variants refuse all, `sizes` is empty: they do not run here.
ThresholdQuestion question_of(const ThresholdRequest& request, const Registry& registry,
                              const Machine& machine);

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

/// The answer, all sizes measured, and all that were not.
struct ThresholdRecord {
  ThresholdQuestion question;
  Circumstances made;
  ThresholdPolicy policy;
  Threshold threshold;
  std::string wrong;  ///< the variant that disagreed with the oracle, and how; the search ended there
};

/// The answer in a sentence, the outcome first: `FOUND: simd@avx2 is faster than naive from rows = 8 on. ...`
std::string threshold_sentence(const ThresholdRecord& record);

doc::Document record_document(const ThresholdRecord& record);

/// Throws Error unless `name` may name a constant: an identifier that is no keyword and is not reserved.
void require_identifier(const std::string& name);

/// A whole header with the constant as `std::ptrdiff_t`, and a comment on the measurement. Only for a
/// threshold that has a constant.
std::string header_text(const ThresholdRecord& record, const std::string& name);

}  // namespace assay
