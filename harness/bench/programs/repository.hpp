/// A git repository: commits of revisions, and scratch checkouts.
#pragma once

#include "assay/hooks.hpp"

#include "core/files/child_process.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace assay {

/// The root of the work tree that holds `folder`. Throws Error when there is none, or no git.
std::filesystem::path repository_root(const std::filesystem::path& folder, const Hooks& hooks);

/// The commit that `revision` stands for, in full; empty when it stands for none.
std::string commit_of(const std::filesystem::path& root, const std::string& revision, const Hooks& hooks);

/// The last commit that two have in common; empty when they have none.
std::string merge_base(const std::filesystem::path& root, const std::string& one, const std::string& other,
                       const Hooks& hooks);

/// Whether `to` follows `from` with no change but of this file, which is named from the root.
bool differ_only_in(const std::filesystem::path& root, const std::string& from, const std::string& to,
                    const std::filesystem::path& file, const Hooks& hooks);

/// Whether history was cut off when it was fetched, as many CI systems do.
bool is_shallow(const std::filesystem::path& root, const Hooks& hooks);

/// The command that checks out the submodules of a scratch checkout, from the repository's own copies if it
/// has them; nothing if there are none.
std::optional<Command> checkout_of_submodules(const std::filesystem::path& root,
                                              const std::filesystem::path& checkout);

/// The files of a commit in a folder of their own, removed with the object. No hook of the user's runs.
class Worktree {
 public:
  /// There must be nothing at `path`. The output of git goes to the end of `log`.
  Worktree(std::filesystem::path root, const std::string& commit, std::filesystem::path path,
           const std::filesystem::path& log, const Hooks& hooks);
  ~Worktree();
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;
  /// Leaves the files, of which git knows no more.
  void keep_files();

 private:
  void remove() const;
  std::filesystem::path root_, path_;
  bool kept_ = false;
};

}  // namespace assay
