/// Comparing results: with a stored baseline of this machine, or with another results file.
#pragma once

#include "assay/results.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// An estimate with its interval, and how often such an interval holds the true value.
struct Interval {
  double low = 0, middle = 0, high = 0;
  double coverage = 0;  ///< 0.95 for 95 %; smaller where there are too few samples for that
};

/// Seconds per call: median with an interval. Over launches when there are several, else over slices.
Interval time_of(const TrialResult& trial);

/// How many times faster `trial` is than `reference` (above 1 is faster), from launches paired by position.
Interval speedup(const TrialResult& reference, const TrialResult& trial);

enum class Standing { same, faster, slower, undecided, not_comparable, wrong, skipped, added, gone };
std::string_view to_string(Standing standing);

struct Verdict {
  std::string key;
  Standing standing = Standing::undecided;
  Interval ratio;    ///< time after / time before
  double limit = 1;  ///< ratio above which it is slower: 1 + tolerance of this case
  std::string why;   ///< a sentence a stranger can read
};

struct Comparison {
  std::vector<Verdict> verdicts;
  std::vector<std::string> differences;  ///< between the fingerprints
  bool comparable = true;                ///< false: the deciding facts differ and every verdict says so
  double machine_moved = 1;  ///< median time ratio of the naive variants: what the machine did by itself
  std::size_t count(Standing standing) const;
};

struct GatePolicy {
  double limit = 1.05;  ///< ratio that is still the same, where a case's own spread is not larger
};

/// Recordings of one suite on one machine, oldest first.
struct Recording {
  std::string reason;
  Results results;
};
struct Baseline {
  std::string suite, machine_key;
  std::vector<Recording> recordings;
};

/// `<folder>/<machine key>/<suite>.json`
std::filesystem::path baseline_path(const std::filesystem::path& folder, std::string_view machine_key,
                                    std::string_view suite);
/// Nothing when there is no such file. Throws Error when it is truncated, of another schema, or otherwise
/// unusable.
std::optional<Baseline> load_baseline(const std::filesystem::path& file);
std::string to_json(const Baseline& baseline);

/// Current results against the recordings. A regression must show in the time and in the time relative to the
/// naive variant of the same case; a case's tolerance is its own spread between recordings where that is
/// larger.
Comparison compare(const Results& current, const Baseline& baseline, const GatePolicy& policy);

/// One results file against another.
Comparison compare(const Results& before, const Results& after, const GatePolicy& policy);

/// "1.11x slower [1.08, 1.14]", "1.09x faster [1.06, 1.12]", "same [0.99, 1.01]".
std::string in_words(const Verdict& verdict);

}  // namespace assay
