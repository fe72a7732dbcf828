/// Checking: every trial against the oracle, before anything is timed.
#pragma once

#include "assay/failure.hpp"
#include "assay/hooks.hpp"
#include "assay/plan.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Above this a second fill and a second call cost minutes for a naive variant and add little: the corner
/// cases already ran with all fills, and the exact fill is the one that no dropped term escapes.
inline constexpr double large_case_flops = 0x1p30;

/// Seconds in which each of so many kernels is called again and again before it is timed: together they take
/// little beside the time of a measurement. None for large cases, as above.
double rehearsal_before_timing(const Operation& operation, const std::string& problem, std::size_t kernels);

/// The outcome of checking a trial. One that failed does not agree, and its detail is the reason.
struct Checked : Agreement {
  std::optional<Failure> failure;
};

/// Which sizes of a case are checked: its own, or those beside it as well, where a kernel that is right for
/// the sizes in the suite only has no way to be.
enum class Sizes { own, and_beside };

/// The verdict on the kernel of every trial, in order, before anything is timed: it has to agree in every
/// corner case of its contract, with every fill. Of a variant that picks others, that is the one it picks.
/// Kernels whose code passed before are in the file `passed_before`, and are not called; those that pass now
/// are added. No file: all are checked. After an interrupt the verdicts mean nothing.
std::vector<Checked> check_corners(std::span<const Trial> trials, const Machine& machine, std::uint64_t seed,
                                   const std::filesystem::path& passed_before, const Hooks& hooks,
                                   const Containment& containment = {});

/// Agreement of every trial with the oracle, in order; a skipped trial is left untouched and agrees. So is
/// one that failed in `corners`, which has a verdict for each or is empty, and keeps that. Up to 2^30 FLOPs a
/// case is checked with every fill of its contract, and called again and again with the last as if it were
/// timed; larger ones with the first fill, and once. After an interrupt the rest is unchecked: `compared` is
/// 0 there.
std::vector<Checked> check(std::span<const Trial> trials, std::uint64_t seed, const Hooks& hooks,
                           const Containment& containment = {}, Sizes sizes = Sizes::own,
                           std::vector<Checked> corners = {});

/// The problems whose extents, fields without a fallback, are all one smaller or larger; those that make none
/// are left out.
std::vector<std::string> problems_beside(const Operation& operation, const std::string& problem);

/// A problem that is no corner case: extents a little above those of a middling one, by what is drawn, and
/// doubled as often as the variant needs. Empty when it is unfit for all of them.
std::optional<std::string> drawn_problem(const Operation& operation, std::size_t variant, Rng& rng);

/// One corner case of one variant under one fill, placement and thread count.
struct CornerCheck {
  std::string operation, variant, problem;
  Fill fill = Fill::exact;
  bool fenced = false;  ///< as Placement
  int threads = 1;
  std::string skipped;
  std::vector<double> seconds;  ///< of calls on that input; of check_file() only
  Checked agreement;
  std::string remark{};  ///< `it printed: "tile 3\n"`, or how its process ended once, and not again
};
/// "m=2,n=2,k=9, exact fill, aligned, threads 1"
std::string in_words(const CornerCheck& check);

/// Every variant of that kin that `filter` (a regular expression on operation/variant) selects, on every
/// corner case of its contract, with every fill, aligned and before a fence, threaded variants with 1, 2 and
/// `cores` threads; and on a problem above them, where it is called again and again as if it were timed, the
/// longer the fewer variants there are. A variant that failed is checked no further. Throws Error when
/// nothing is selected.
std::vector<CornerCheck> check_corners(const Registry& registry, const std::string& filter, int cores,
                                       std::uint64_t seed, const Hooks& hooks, Kin kin = Kin::sound,
                                       const Containment& containment = {});

/// Every sound variant that `filter` selects on the problem that `file` holds, with one thread, and what its
/// calls take. Throws Error when nothing is selected or an operation of the selection takes no file.
std::vector<CornerCheck> check_file(const Registry& registry, const std::string& filter,
                                    const std::filesystem::path& file, std::uint64_t seed, const Hooks& hooks,
                                    const Containment& containment = {});

}  // namespace assay
