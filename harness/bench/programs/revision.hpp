/// The programs that a gate compares: built from a revision, given by the user, or the running one; bundles,
/// which hold both sides in one folder for the jobs that measure them elsewhere; and commits of revisions of
/// a git repository.
#pragma once

#include "assay/hooks.hpp"
#include "bench/programs/project.hpp"
#include "core/json/fields.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// The root of the work tree that holds `folder`. Throws Error when there is none, or no git.
std::filesystem::path repository_root(const std::filesystem::path& folder, const Hooks& hooks);

/// The commit that `revision` stands for, in full; empty when it stands for none.
std::string commit_of(const std::filesystem::path& root, const std::string& revision, const Hooks& hooks);

/// Whether `to` follows `from` with no change but of this file, which is named from the root.
bool differ_only_in(const std::filesystem::path& root, const std::string& from, const std::string& to,
                    const std::filesystem::path& file, const Hooks& hooks);

/// The programs of one side: differently ordered links of the same objects.
struct Programs {
  std::string name{};    ///< "1f3c9d2 (origin/main)", or the path as given
  std::string commit{};  ///< in full; empty for a given program and for the running one
  std::vector<std::filesystem::path>
      links{};                  ///< the first one as it was built; none when the user interrupted
  std::string layout_remark{};  ///< why there are fewer than were asked for; empty when there are not
  bool foreign = false;         ///< of another project: the commit that it reports is that of this library
  std::vector<std::string> arguments{};    ///< of a program that is not assay's
  std::vector<std::string> differences{};  ///< of its build from the one that it should be like, in words
};

struct ProgramsRequest {
  std::string what;  ///< a program file, or else a git revision of the repository that holds `repository`
  std::filesystem::path repository = ".";
  std::filesystem::path cache{};  ///< empty: `.assay` in the repository's root
  int layouts = 1;
  std::string common_with{};      ///< another revision: the last commit that both have in common is meant
  std::filesystem::path like{};   ///< the program whose build is copied; empty: the running one
  std::filesystem::path built{};  ///< a program of the revision, or its build folder, to use as it is
};

/// A revision is checked out into a scratch worktree below the cache, built with the compiler, build type,
/// flags and options of `like`, and linked in `layouts` orders. Only these programs are kept, in
/// `revisions/<commit>-<hash of compiler and settings>`, and taken from there next time; nothing there is
/// removed. Programs that are not assay's keep their checkout and the build without its objects, since they
/// may look for libraries and data there, and have one layout. The log of the build stays beside the folder.
/// A lock keeps two processes from building the same; a killed one leaves nothing that looks finished.
///
/// A program that lies in its build folder is linked in several orders there. Throws Error when there is
/// neither such a file nor such a revision, and with the last lines of the log when it cannot be built.
Programs programs_of(const ProgramsRequest& request, const Hooks& hooks);

/// The running program: this checkout as it was built last, uncommitted changes and all.
Programs programs_of_this(int layouts, const Hooks& hooks);

/// Both sides of a gate, built once.
struct Bundle {
  Programs base, head;
  ProgramUse use{};
  std::string target{};  ///< that made them, where they are not assay's
};

/// Copies the programs of both sides into `folder`, which may be absent, empty or an older bundle, and writes
/// their list last. Throws Error if it holds anything else.
void write_bundle(const std::filesystem::path& folder, const Bundle& bundle);

/// Throws Error when the folder holds no bundle, or one whose programs are missing, changed or made for a
/// processor that can do more than this one.
Bundle read_bundle(const std::filesystem::path& folder);

// `bundle.json`, as files have it.

/// One program of a side.
struct BundledLink {
  std::string file;  ///< from the bundle's folder
  std::uint64_t hash = 0;
};

struct BundledSide {
  Programs side{};  ///< but for its links
  std::vector<BundledLink> links;
};

struct BundleFile {
  std::string processor;                      ///< on which it was made
  std::vector<std::string> instruction_sets;  ///< that it has
  BundledSide base, head;
  ProgramUse use{};
  std::string target{};
};

void describe(Fields& f, BundledLink& link);
void describe(Fields& f, BundledSide& side);
void describe(Fields& f, BundleFile& bundle);

}  // namespace assay
