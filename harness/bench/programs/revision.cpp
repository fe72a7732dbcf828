#include "bench/programs/revision.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/machine.hpp"
#include "assay/random.hpp"
#include "bench/programs/layouts.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/plugin/library.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <optional>
#include <string_view>
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

/// The command that checks out the submodules of a scratch checkout, from the repository's own copies if it
/// has them; nothing if there are none.
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

/// The files of a commit in a folder of their own, removed with the object. No hook of the user's runs.
class Worktree {
 public:
  /// There must be nothing at `path`. The output of git goes to the end of `log`.
  Worktree(fs::path root, const std::string& commit, fs::path path, const fs::path& log, const Hooks& hooks)
      : Worktree(std::move(root), std::move(path)) {  // so that the destructor runs whatever fails below
    // Forced, since git may still know of a worktree here that a process left behind when it was killed.
    const auto words = git({"worktree", "add", "--force", "--detach", path_.string(), commit});
    if (run_child({.words = words, .folder = root_}, log, hooks) == 0) return;
    throw Error(path_.string(), fmt::format("git makes no worktree of {}:\n{}", commit, last_lines(log, 5)),
                "free some space, or mend the repository: git fsck");
  }
  ~Worktree() {
    if (!kept_) remove();
  }
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  /// Leaves the files, of which git knows no more.
  void keep_files() {
    kept_ = true;
    fs::remove(path_ / ".git");
    ask_child({.words = git({"worktree", "prune"}), .folder = root_}, Hooks{});
  }

 private:
  Worktree(fs::path root, fs::path path) : root_(std::move(root)), path_(std::move(path)) {}

  void remove() const {
    try {
      // Removes it even after an interrupt: otherwise `git worktree list` would show the folder.
      ask_child({.words = git({"worktree", "remove", "--force", path_.string()}), .folder = root_}, Hooks{});
    } catch (const std::exception&) {
      // The folder goes all the same; git forgets the worktree when it is next asked to prune.
    }
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path root_, path_;
  bool kept_ = false;
};

/// A revision, and where its programs are kept.
struct Target {
  fs::path root;
  std::string commit;
  std::string name;  // "1f3c9d2 (origin/main)"
  fs::path folder;   // of the finished programs
  Project project;
  BuildSettings settings;
  int layouts = 1;

  /// Names a file beside the folder, such as its log.
  fs::path beside(std::string_view ending) const {
    fs::path out = folder;
    out += ending;
    return out;
  }
};

Programs programs_from(std::string name, std::string commit, Links links) {
  Programs out{std::move(name), std::move(commit), std::move(links.files), ""};
  out.differences = std::move(links.differences);
  const bool one = out.links.size() < 2;
  if (one && links.remark.empty()) links.remark = "no more were asked for";
  if (!links.remark.empty()) {
    out.layout_remark = fmt::format("{}, since {}", one ? "one layout only" : "fewer layouts", links.remark);
  }
  return out;
}

/// The commit of a revision, which is demanded: `hint` says where revisions are found.
std::string demanded_commit(const fs::path& root, const std::string& what, const std::string& hint,
                            const Hooks& hooks) {
  std::string commit = commit_of(root, what, hooks);
  if (!commit.empty()) return commit;
  throw Error(fmt::format("'{}'", what),
              fmt::format("is no program file, and no revision of {}", root.string()),
              "name a branch, a tag or a commit; " + hint);
}

/// A text that differs when another program may come of the same commit.
std::string identity_of(const Project& project) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", project.use.is_foreign() ? "foreign" : "", project.source,
                     project.target, project.program, project.preset, fmt::join(project.configure, "\n"));
}

Target target_of(const ProgramsRequest& request, const Hooks& hooks) {
  const auto& [what, repository, cache, layouts, common_with, like, built] = request;
  Target target{.root = repository_root(repository, hooks)};
  // Many CI systems cut history off when they fetch it.
  const bool shallow = line_of(target.root, {"rev-parse", "--is-shallow-repository"}, hooks) == "true";
  const std::string hint =
      shallow ? "history was cut off here: git fetch --unshallow" : "see `git branch --all` and `git tag`";
  target.commit = demanded_commit(target.root, what, hint, hooks);
  std::string origin = what;
  if (!common_with.empty()) {
    const std::string other = demanded_commit(target.root, common_with, hint, hooks);
    target.commit = line_of(target.root, {"merge-base", target.commit, other}, hooks);
    origin = fmt::format("merge base of {} and {}", what, common_with);
    if (target.commit.empty()) {
      throw Error(fmt::format("'{}'", what), "has no commit in common with " + common_with,
                  "name another revision; " + hint);
    }
  }
  target.name = target.commit.substr(0, 7);
  if (!target.commit.starts_with(origin)) target.name += fmt::format(" ({})", origin);
  target.project = project_in(target.root);
  const bool foreign = target.project.use.is_foreign();
  const fs::path head = !like.empty() ? build_folder_of(like) : foreign ? fs::path() : own_build_folder();
  target.settings = settings_of(head, !foreign);
  if (target.settings.compiler.empty()) {
    target.settings.identity +=
        ask_child({.words = {"sh", "-c", "${CXX:-c++} --version"}, .folder = {}}, hooks).output;
  }
  target.layouts = foreign ? 1 : layouts;
  const fs::path home = cache.empty() ? target.root / ".assay" : fs::absolute(cache);
  target.folder =
      home / "revisions" /
      fmt::format("{}-{:016x}", target.commit, fnv1a(target.settings.identity + identity_of(target.project)));
  return target;
}

/// Runs one step of the build, which names itself when it fails.
void run_step(const Target& target, std::string_view doing, const Command& command, const Hooks& hooks) {
  hooks.say(fmt::format("{}: {}", target.name, doing));
  const fs::path log = target.beside(".log");
  const int exit_code = run_child(command, log, hooks);
  if (exit_code == 0) return;
  throw Error("revision " + target.name,
              fmt::format("cannot {}: {} ended with status {}\n{}", doing, command.words.front(), exit_code,
                          last_lines(log, 20)),
              "mend it, or build it by hand and give its program: --base-build, or --head for a head\n    "
              "all of it: " +
                  log.string());
}

/// Build type, flags and options as the settings have them, unless the project says otherwise. Where they say
/// no build type and there is no preset, only Release is measured.
std::vector<std::string> configuration_of(const Target& target, const fs::path& build) {
  const Project& project = target.project;
  std::vector<std::string> out{"cmake", "-B", build.string()};
  if (project.preset.empty()) {
    out.insert(out.end(), {"-S", ".", "-DCMAKE_BUILD_TYPE=Release"});
  } else {
    out.insert(out.end(), {"--preset", project.preset});
  }
  out.insert(out.end(), target.settings.arguments.begin(), target.settings.arguments.end());
  out.insert(out.end(), project.configure.begin(), project.configure.end());
  return out;
}

void configure(const Target& target, const fs::path& source, const fs::path& build, const Hooks& hooks) {
  if (!fs::exists(source / "CMakeLists.txt")) {
    throw Error("revision " + target.name,
                fmt::format("has no CMakeLists.txt in '{}'", target.project.source),
                "name its folder as \"source\" in assay.json, or two programs with --base and --head");
  }
  run_step(target, "configure", {.words = configuration_of(target, build), .folder = source}, hooks);
  const std::string compiler = compiler_of(build);
  const std::string& wanted = target.settings.compiler;
  if (compiler.empty() || wanted.empty() || compiler == wanted) return;
  throw Error("revision " + target.name,
              fmt::format("would be built by {}, and what it is compared with was by {}", compiler, wanted),
              "set CXX to that compiler");
}

void require_program(const Target& target, const fs::path& build) {
  const fs::path program = target.project.program;
  if (fs::is_regular_file(build / program)) return;
  const fs::path library = program.parent_path() / ("lib" + program.filename().string() + ".so");
  const std::string made = fs::is_regular_file(build / library) ? library.generic_string() : "";
  throw Error(
      "revision " + target.name,
      fmt::format("its target {} makes no program {}{}", target.project.target, program.generic_string(),
                  made.empty() ? "" : fmt::format(", and a library {}", made)),
      made.empty() ? "name the file in the build folder as \"program\" in assay.json"
                   : fmt::format("if that is a plug-in, write \"program\": \"{}\" into assay.json", made));
}

void remove_objects(const fs::path& build) {
  std::vector<fs::path> objects;
  for (const auto& entry : fs::recursive_directory_iterator(build)) {
    const fs::path ending = entry.path().extension();
    if (ending == ".o" || ending == ".a" || ending == ".gch") objects.push_back(entry.path());
  }
  for (const fs::path& object : objects) fs::remove(object);
}

Links build(const Target& target, const Hooks& hooks) {
  const UnfinishedFolder unfinished(target.beside(".part"));
  const Project& project = target.project;
  // Programs of others name the folder of their sources, where it stays.
  const bool foreign = project.use.is_foreign();
  const fs::path checkout = (foreign ? target.folder : unfinished.path()) / "source",
                 build = checkout / project.build;
  const fs::path programs = unfinished.path() / "programs";
  fs::remove(target.beside(".log"));
  if (foreign) fs::remove_all(target.folder);
  Worktree worktree(target.root, target.commit, checkout, target.beside(".log"), hooks);
  if (const auto command = checkout_of_submodules(target.root, checkout)) {
    run_step(target, "check out submodules", *command, hooks);
  }
  configure(target, checkout / project.source, build, hooks);
  run_step(target, "build",
           {.words = {"cmake", "--build", build.string(), "--parallel", std::to_string(this_machine().cores),
                      "--target", project.target},
            .folder = checkout},
           hooks);
  require_program(target, build);
  fs::create_directories(programs);
  Links made = make_layouts({.build = build,
                             .program = project.program,
                             .count = target.layouts,
                             .folder = programs,
                             .log = target.beside(".log")},
                            hooks);
  made.differences = differences(target.settings, build);
  if (foreign) {
    remove_objects(build);
    worktree.keep_files();
  }
  Links links = keep_links(made, target.folder);
  hooks.say(fmt::format("{}: layouts: {}, {}, in {}", target.name, links.files.size(),
                        bytes_text(bytes_in(target.folder)), target.folder.string()));
  return links;
}

Links links_of(const Target& target, const Hooks& hooks) {
  if (auto kept = kept_links(target.folder, target.layouts)) return *kept;
  const fs::path home = target.folder.parent_path();
  fs::create_directories(home);
  // Older revisions, whose .gitignore lacks this folder, are compared as well.
  const fs::path ignored = home / ".gitignore";
  if (!fs::exists(ignored)) write_file(ignored, "*\n");
  const FileLock lock(target.beside(".lock"), "build of " + target.name, hooks);
  if (auto kept = kept_links(target.folder, target.layouts)) return *kept;
  return build(target, hooks);
}

Programs given(const std::string& what, int layouts, const Hooks& hooks) {
  if (access(what.c_str(), X_OK) != 0) {
    throw Error(what, "is a file, but no program that may be executed",
                "name a program or a revision; a branch of this name is meant by heads/" + what);
  }
  Programs out = programs_from(what, "", layouts_beside(fs::canonical(what), layouts, hooks));
  out.foreign = is_shared_library(what);  // this program's commit says nothing of it
  return out;
}

/// Whether the running program is assay itself, and no program of another project that is linked with it.
bool is_of_this_project() {
  const fs::path folder = own_build_folder();
  if (folder.empty()) return true;  // installed
  const auto entries = cache_entries_of(folder);
  const auto name = entries.find("CMAKE_PROJECT_NAME");
  return name != entries.end() && name->second == "assay";
}

/// Returns no programs after Stopped, and turns failures of the file system into Error.
template <typename Make>
Programs or_nothing(const Make& make) {
  try {
    return make();
  } catch (const Stopped&) {
    return {};
  } catch (const fs::filesystem_error& failure) {
    throw Error(failure.path1().string(), failure.code().message(),
                "check permissions and free space, or name another folder for what is kept");
  }
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

Programs programs_of(const ProgramsRequest& request, const Hooks& hooks) {
  const std::string& what = request.what;
  return or_nothing([&] {
    if (is_embedded_side(what)) return programs_from(what, "", {.files = {what}});
    if (fs::is_regular_file(what)) return given(what, request.layouts, hooks);
    const Target target = target_of(request, hooks);
    Programs out;
    if (request.built.empty()) {
      out = programs_from(target.name, target.commit, links_of(target, hooks));
    } else {
      const bool folder = fs::is_directory(request.built);
      out = given((folder ? request.built / target.project.program : request.built).string(), target.layouts,
                  hooks);
      out.name = target.name;
      out.commit = target.commit;
      out.differences = differences(target.settings, build_folder_of(out.links.front()));
    }
    out.arguments = target.project.arguments;
    return out;
  });
}

Programs programs_of_this(int layouts, const Hooks& hooks) {
  return or_nothing([&] {
    const fs::path program = this_program();
    Links links = layouts_beside(program, layouts, hooks);
    if (!is_of_this_project()) {
      Programs out = programs_from("this program", "", std::move(links));
      out.foreign = true;
      return out;
    }
    return programs_from(fmt::format("{} (this program)", build_info().commit), "", std::move(links));
  });
}

}  // namespace assay
