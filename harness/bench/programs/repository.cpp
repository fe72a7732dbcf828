#include "bench/programs/repository.hpp"

#include "assay/error.hpp"
#include "core/files/child_process.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> git(std::vector<std::string> arguments) {
  // A hook that runs after checkouts is for the user's own.
  arguments.insert(arguments.begin(),
                   {"git", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"});
  return arguments;
}

/// The one line that git answers; empty when it fails.
std::string line_of(const fs::path& root, std::vector<std::string> arguments, const Hooks& hooks) {
  const Answer answer = ask_child({.words = git(std::move(arguments)), .folder = root}, hooks);
  return answer.exit_code == 0 ? answer.output.substr(0, answer.output.find('\n')) : "";
}

}  // namespace

fs::path repository_root(const fs::path& folder, const Hooks& hooks) {
  const Answer answer = ask_child({.words = git({"rev-parse", "--show-toplevel"}), .folder = folder}, hooks);
  if (answer.exit_code != 0) {
    throw Error(folder.string(), "is in no git repository with a work tree:\n    " + answer.errors,
                "run this in a checkout of the project, or name a program instead of a revision");
  }
  return answer.output.substr(0, answer.output.find('\n'));
}

std::string commit_of(const fs::path& root, const std::string& revision, const Hooks& hooks) {
  if (revision.empty() || revision.starts_with('-')) return "";  // git would take it for an option
  return line_of(root, {"rev-parse", "--verify", "--quiet", revision + "^{commit}"}, hooks);
}

std::string merge_base(const fs::path& root, const std::string& one, const std::string& other,
                       const Hooks& hooks) {
  return line_of(root, {"merge-base", one, other}, hooks);
}

bool differ_only_in(const fs::path& root, const std::string& from, const std::string& to,
                    const fs::path& file, const Hooks& hooks) {
  const std::string start = commit_of(root, from, hooks), end = commit_of(root, to, hooks);
  if (start.empty() || end.empty()) return false;
  const auto answer = [&](std::vector<std::string> arguments) {
    return ask_child({.words = git(std::move(arguments)), .folder = root}, hooks);
  };
  if (answer({"merge-base", "--is-ancestor", start, end}).exit_code != 0) return false;
  const Answer changed = answer({"diff", "--name-only", "-z", "--no-renames", start, end});
  if (changed.exit_code != 0) return false;
  return changed.output.empty() || changed.output == file.generic_string() + '\0';
}

bool is_shallow(const fs::path& root, const Hooks& hooks) {
  return line_of(root, {"rev-parse", "--is-shallow-repository"}, hooks) == "true";
}

std::optional<Command> checkout_of_submodules(const fs::path& root, const fs::path& checkout) {
  if (!fs::exists(checkout / ".gitmodules")) return std::nullopt;
  Command out{.words = git({"-c", "protocol.file.allow=always"}), .folder = checkout};
  // Submodules that the user has checked out need no network.
  const fs::path kept = root / ".git" / "modules";
  std::error_code none;
  for (auto entry = fs::recursive_directory_iterator(kept, none); entry != fs::recursive_directory_iterator();
       ++entry) {
    if (!fs::exists(entry->path() / "HEAD")) continue;
    entry.disable_recursion_pending();  // its own submodules come from where they are kept
    const std::string name = fs::relative(entry->path(), kept).generic_string();
    out.words.insert(out.words.end(),
                     {"-c", fmt::format("submodule.{}.url={}", name, entry->path().string())});
  }
  out.words.insert(out.words.end(), {"submodule", "update", "--init", "--recursive", "--force"});
  return out;
}

Worktree::Worktree(fs::path root, const std::string& commit, fs::path path, const fs::path& log,
                   const Hooks& hooks)
    : root_(std::move(root)), path_(std::move(path)) {
  // Forced, since git may still know of a worktree here that a process left behind when it was killed.
  const auto words = git({"worktree", "add", "--force", "--detach", path_.string(), commit});
  int exit_code = 0;
  try {
    exit_code = run_child({.words = words, .folder = root_}, log, hooks);
  } catch (...) {
    remove();
    throw;
  }
  if (exit_code != 0) {
    remove();
    throw Error(path_.string(), fmt::format("git makes no worktree of {}:\n{}", commit, last_lines(log, 5)),
                "free some space, or mend the repository: git fsck");
  }
}

Worktree::~Worktree() {
  if (!kept_) remove();
}

void Worktree::keep_files() {
  kept_ = true;
  std::filesystem::remove(path_ / ".git");
  ask_child({.words = git({"worktree", "prune"}), .folder = root_}, Hooks{});
}

void Worktree::remove() const {
  try {
    // Removes it even after an interrupt: otherwise `git worktree list` would show the folder.
    ask_child({.words = git({"worktree", "remove", "--force", path_.string()}), .folder = root_}, Hooks{});
  } catch (const std::exception&) {
    // The folder goes all the same; git forgets the worktree when it is next asked to prune.
  }
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace assay
