#include "bench/programs/layouts.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/programs/link_recipe.hpp"
#include "bench/programs/project.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/json/fields.hpp"
#include "core/plugin/library.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr const char* list_name = "links.json";

/// Why no more layouts are made. It never leaves this file.
struct NoMore {
  std::string why;
  bool lasting = true;
};

std::string output_of(const Words& words, const fs::path& folder, const Hooks& hooks) {
  Answer answer = ask_child({.words = words, .folder = folder}, hooks);
  if (answer.exit_code != 0) {
    throw NoMore{fmt::format("`{}` ended with status {}: {}", fmt::join(words, " "), answer.exit_code,
                             answer.errors.substr(0, answer.errors.find('\n'))),
                 false};
  }
  return std::move(answer.output);
}

bool same_content(const fs::path& one, const fs::path& other) {
  return fs::file_size(one) == fs::file_size(other) && read_file(one) == read_file(other);
}

/// The functions of a program in the order of their addresses.
std::string order_of_functions(const std::string& nm, const fs::path& program, const Hooks& hooks) {
  const std::string table = output_of({nm, "--numeric-sort", program.string()}, program.parent_path(), hooks);
  std::string order;
  for (const std::string_view line : parts_of(table, '\n')) {
    // "0000000000001040 T main"; undefined symbols have no address.
    const std::size_t kind = line.find(' ') + 1;
    if (kind + 2 < line.size() && line[kind + 1] == ' ' &&
        std::string_view("TtWw").find(line[kind]) != std::string_view::npos) {
      order.append(line.substr(kind + 2)).append("\n");
    }
  }
  if (order.empty()) throw NoMore{"the program has no symbols by which orders could be told apart"};
  return order;
}

/// Makes and judges the links of one request.
class Layouts {
 public:
  Layouts(const LayoutRequest& request, const Hooks& hooks)
      : request_(request), hooks_(hooks), scratch_(request.folder / "scratch") {}

  fs::path make_first() const {
    const fs::path first = link_name(0);
    fs::copy_file(request_.build / request_.program, first);
    return first;
  }

  /// Appends each to `files` as soon as it is made, so that a later failure keeps the earlier links.
  void make_others(std::vector<fs::path>& files) {
    const auto cache = cache_entries_of(request_.build);
    const LinkRecipe recipe = recipe_of(cache);
    require_same_objects(recipe);
    const auto nm = cache.find("CMAKE_NM");
    const std::string nm_program = nm != cache.end() ? nm->second : "nm";
    const std::string listing = listing_of(link_name(0));
    std::set<std::string> orders{order_of_functions(nm_program, link_name(0), hooks_)};
    for (int i = 1; i < request_.count; ++i) {
      hooks_.say(fmt::format("linking layout {} of {}", i + 1, request_.count));
      const fs::path link = link_name(i);
      fs::remove_all(scratch_);
      fs::create_directories(scratch_);
      const auto seed = static_cast<std::uint64_t>(i);
      for (const Words& words : reordered(recipe, seed, scratch_.string(), link.string())) run(words);
      if (listing_of(link) != listing) {
        throw NoMore{fmt::format("linked in another order (seed {}) it lists other operations", i)};
      }
      if (!orders.insert(order_of_functions(nm_program, link, hooks_)).second) {
        throw NoMore{fmt::format("another order of objects (seed {}) leaves its functions as they were", i)};
      }
      files.push_back(link);
    }
    fs::remove_all(scratch_);
  }

 private:
  fs::path link_name(int index) const {
    return request_.folder / fmt::format("{}-{}", fs::path(request_.program).filename().string(), index);
  }

  LinkRecipe recipe_of(const std::map<std::string, std::string>& cache) const {
    const auto generator = cache.find("CMAKE_GENERATOR");
    if (generator == cache.end()) {
      throw NoMore{fmt::format("{} has no CMakeCache.txt that names a generator", request_.build.string())};
    }
    if (generator->second != "Ninja") {
      throw NoMore{fmt::format("it was built by {}; other orders are made from what Ninja knows of the link",
                               generator->second)};
    }
    const auto ninja = cache.find("CMAKE_MAKE_PROGRAM");
    const std::string program = ninja != cache.end() ? ninja->second : "ninja";
    LinkRecipe recipe = link_recipe(
        output_of({program, "-t", "commands", request_.program}, request_.build, hooks_), request_.program);
    if (!recipe.unfit.empty()) throw NoMore{recipe.unfit};
    return recipe;
  }

  /// The program must be, bit for bit, the result of linking its archives again, and no object may be newer
  /// than its archive.
  void require_same_objects(const LinkRecipe& recipe) {
    for (const auto& [name, archive] : recipe.archives) {
      for (const std::string& object : archive.members) {
        if (fs::last_write_time(request_.build / object) > fs::last_write_time(request_.build / name)) {
          throw NoMore{fmt::format("{} is newer than the program; build it to the end", object)};
        }
      }
    }
    fs::create_directories(scratch_);
    const fs::path again = scratch_ / "again";
    run(linked_to(recipe, again.string()));
    if (!same_content(again, link_name(0))) {
      throw NoMore{"linking its objects again gives another program; build it to the end"};
    }
  }

  void run(const Words& words) const {
    const int exit_code = run_child({.words = words, .folder = request_.build}, request_.log, hooks_);
    if (exit_code != 0) {
      throw NoMore{fmt::format("linking ended with status {}; {} says why", exit_code, request_.log.string()),
                   false};
    }
  }

  /// Lists the trials of a program. This program lists those of a plug-in, and is given its path.
  std::string listing_of(const fs::path& program) const {
    const std::string path = program.string();
    if (!is_shared_library(program)) return output_of({path, "list", "--json", "-"}, request_.folder, hooks_);
    std::string out = output_of({this_program().string(), "--plugin", path, "list", "--json", "-"},
                                request_.folder, hooks_);
    for (std::size_t at = 0; (at = out.find(path, at)) != std::string::npos;) out.erase(at, path.size());
    return out;
  }

  const LayoutRequest& request_;
  const Hooks& hooks_;
  fs::path scratch_;
};

}  // namespace

/// As the list of a folder has it: with names in the folder.
void describe(Fields& f, Links& links) {
  std::vector<std::string> names;
  for (const fs::path& file : links.files) names.push_back(file.filename().string());
  f("files", names);
  f("remark", links.remark);
  if (f.reads()) links.lasting = false;
  f("lasting", links.lasting, {.optional = true});
  f("differences", links.differences, {.terse = true});
  if (f.reads()) links.files.assign(names.begin(), names.end());
}

std::optional<Links> kept_links(const fs::path& folder, int count) {
  const fs::path list = folder / list_name;
  if (!fs::exists(list)) return std::nullopt;
  // A damaged list counts as none: its programs can be made again.
  Links links;
  try {
    links = value_from<Links>(read_file(list), list.string(), "");
  } catch (const Error&) {
    return std::nullopt;
  }
  for (fs::path& file : links.files) {
    file = folder / file;
    if (!fs::is_regular_file(file)) return std::nullopt;
  }
  const std::size_t wanted = static_cast<std::size_t>(std::max(count, 1));
  if (links.files.empty()) return std::nullopt;
  const bool fewer = links.files.size() < wanted;
  // A link that failed once may succeed the next time: a disk is full for an hour, a list is kept for ever.
  if (fewer && (links.remark.empty() || !links.lasting)) return std::nullopt;
  links.files.resize(std::min(links.files.size(), wanted));
  if (!fewer) links.remark.clear();
  return links;
}

Links keep_links(Links links, const fs::path& folder) {
  fs::create_directories(folder);
  fs::remove(folder / list_name);
  for (fs::path& file : links.files) {
    fs::path kept = folder / file.filename();
    fs::rename(file, kept);
    file = std::move(kept);
  }
  write_file(folder / list_name, json_text(to_value(links)) + "\n");
  return links;
}

UnfinishedFolder::UnfinishedFolder(fs::path path) : path_(std::move(path)) {
  fs::remove_all(path_);
  fs::create_directories(path_);
}

UnfinishedFolder::~UnfinishedFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

double bytes_in(const fs::path& folder) {
  double bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  }
  return bytes;
}

Links make_layouts(const LayoutRequest& request, const Hooks& hooks) {
  Layouts layouts(request, hooks);
  const fs::path first = layouts.make_first();
  Links out{.files = {first}, .remark = ""};
  if (request.count < 2) return out;
  try {
    layouts.make_others(out.files);
  } catch (const NoMore& reason) {
    out.remark = reason.why;
    out.lasting = reason.lasting;
  } catch (const std::runtime_error& failure) {
    out.remark = failure.what();  // a tool that cannot be started, a file that is gone
    out.lasting = false;
  }
  return out;
}

Links layouts_beside(const fs::path& program, int count, const Hooks& hooks) {
  const fs::path build = build_folder_of(program);
  if (build.empty() || !fs::exists(build / "build.ninja")) {
    return {{program}, fmt::format("there is no build.ninja beside {}", program.string())};
  }
  const fs::path name = fs::relative(program, build), folder = build / "layouts" / name;
  const auto usable = [&] {
    auto links = kept_links(folder, count);
    const bool kept = links && links->remark.empty() && same_content(links->files.front(), program);
    return kept ? links : std::nullopt;
  };
  if (const auto links = usable()) return *links;
  const FileLock lock(build / "layouts.lock", fmt::format("layouts of {}", program.string()), hooks);
  if (const auto links = usable()) return *links;
  const UnfinishedFolder unfinished(build / "layouts.part");
  const fs::path log = build / "layouts.log";
  fs::remove(log);
  const Links made = make_layouts({.build = build,
                                   .program = name.generic_string(),
                                   .count = count,
                                   .folder = unfinished.path(),
                                   .log = log},
                                  hooks);
  fs::remove_all(folder);
  Links out = keep_links(made, folder);
  hooks.say(fmt::format("layouts of {}: {}, {}, in {}", program.string(), out.files.size(),
                        bytes_text(bytes_in(folder)), folder.string()));
  return out;
}

}  // namespace assay
