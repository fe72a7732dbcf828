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

/// The outcome of checking a trial. One that failed does not agree, and its detail is the reason.
struct Checked : Agreement {
  std::optional<Failure> failure;
};

/// Which sizes of a case are checked: its own, or those beside it as well, where a kernel that is right for
/// the sizes in the suite only has no way to be.
enum class Sizes { own, and_beside };

/// Agreement of every trial with the oracle, in order; a skipped trial is left untouched and agrees.
/// Up to 2^30 FLOPs a case is checked with every fill of its contract; larger ones with the first, and once
/// instead of twice. After an interrupt the rest is unchecked: `compared` is 0 there.
std::vector<Checked> check(std::span<const Trial> trials, std::uint64_t seed, const Hooks& hooks,
                           const Containment& containment = {}, Sizes sizes = Sizes::own);

/// The problems whose extents, fields without a fallback, are all one smaller or larger; those that make none
/// are left out.
std::vector<std::string> problems_beside(const Operation& operation, const std::string& problem);

/// One corner case of one variant under one fill, placement and thread count.
struct CornerCheck {
  std::string operation, variant, problem;
  Fill fill = Fill::exact;
  Index skew = 0;
  int threads = 1;
  std::string skipped;
  std::string remark;  ///< of check_file() only
  Checked agreement;
};
/// "m=2,n=2,k=9, exact fill, aligned, threads 1"
std::string in_words(const CornerCheck& check);

/// Every variant of that kin that `filter` (a regular expression on operation/variant) selects, on every
/// corner case of its contract, with every fill, aligned and one element off, threaded variants with 1, 2 and
/// `cores` threads. A variant that failed is checked no further. Throws Error when nothing is selected.
std::vector<CornerCheck> check_corners(const Registry& registry, const std::string& filter, int cores,
                                       std::uint64_t seed, const Hooks& hooks, Kin kin = Kin::sound,
                                       const Containment& containment = {});

/// Every sound variant that `filter` selects on the problem that `file` holds, with one thread, and with what
/// the contract remarks. Throws Error when nothing is selected or an operation of the selection takes no
/// file.
std::vector<CornerCheck> check_file(const Registry& registry, const std::string& filter,
                                    const std::filesystem::path& file, std::uint64_t seed, const Hooks& hooks,
                                    const Containment& containment = {});

}  // namespace assay
