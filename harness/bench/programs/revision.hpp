/// The programs that a gate compares: built from a revision, given by the user, or the running one.
#pragma once

#include "assay/hooks.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// The programs of one side: differently ordered links of the same objects.
struct Programs {
  std::string name;    ///< "1f3c9d2 (origin/main)", or the path as given
  std::string commit;  ///< in full; empty for a given program and for the running one
  std::vector<std::filesystem::path>
      links;                  ///< the first one as it was built; none when the user interrupted
  std::string layout_remark;  ///< why there are fewer than were asked for; empty when there are not
  bool foreign = false;       ///< of another project: the commit that it reports is that of this library
};

/// `what` is a program file, or else a git revision of the repository that holds `repository`. With
/// `common_with`, another revision, the last commit that both have in common is meant.
///
/// A revision is checked out into a scratch worktree below `cache` (empty: `.assay` in the repository's
/// root), built with its release preset, the compiler and the settings of the running program, and linked in
/// `layouts` orders. Only these programs are kept, in `revisions/<commit>-<hash of compiler and settings>`,
/// and are taken from there the next time; nothing there is removed. The log of the build stays beside the
/// folder. A lock keeps two processes from building the same; one that is killed leaves nothing that looks
/// finished.
///
/// A program that lies in its build folder is linked in several orders there. Throws Error when there is
/// neither such a file nor such a revision, and with the last lines of the log when it cannot be built.
Programs programs_of(const std::string& what, const std::filesystem::path& repository,
                     const std::filesystem::path& cache, int layouts, const Hooks& hooks,
                     const std::string& common_with = "");

/// The running program: this checkout as it was built last, uncommitted changes and all.
Programs programs_of_this(int layouts, const Hooks& hooks);

}  // namespace assay
