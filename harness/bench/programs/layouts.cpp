#include "bench/programs/layouts.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
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
#include <iterator>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr const char* list_name = "links.json";

/// `ar qc libx.a a.o b.o`, under whatever name the archiver goes.
bool makes_archive(const Words& words) {
  if (words.size() < 3) return false;
  const std::string tool = fs::path(words[0]).filename().string();
  const std::string& operation = words[1];
  return (tool == "ar" || tool.ends_with("-ar") || tool.find("-ar-") != std::string::npos) &&
         operation.find_first_of("qr") != std::string::npos;
}

bool links(const Words& words, const std::string& program) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i - 1] == "-o" && words[i] == program) return true;
  }
  return false;
}

/// Whether the archives that come next are linked whole.
class WholeArchives {
 public:
  void see(const std::string& word) {
    constexpr std::string_view passed_on = "-Wl,";
    if (!word.starts_with(passed_on)) return act(word);  // after -Xlinker
    const std::string_view flags = std::string_view(word).substr(passed_on.size());
    for (const std::string_view flag : parts_of(flags, ',')) act(flag);
  }
  bool now() const { return states_.back(); }

 private:
  void act(std::string_view flag) {
    if (flag == "--whole-archive") states_.back() = true;
    if (flag == "--no-whole-archive") states_.back() = false;
    if (flag == "--push-state") states_.push_back(states_.back());
    if (flag == "--pop-state" && states_.size() > 1) states_.pop_back();
  }
  std::vector<bool> states_{false};
};

bool is_object(const std::string& word) { return word.ends_with(".o") && !word.starts_with('-'); }

/// A file whose text stands for further words.
std::string response_file(const Words& words) {
  const auto found =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('@'); });
  return found == words.end() ? "" : found->substr(1);
}

void read_link(LinkRecipe& recipe, const std::map<std::string, Words>& archivers) {
  if (const std::string file = response_file(recipe.link); !file.empty()) {
    recipe.unfit = fmt::format("the link takes its files from the response file {}", file);
    return;
  }
  WholeArchives whole;
  for (const std::string& word : recipe.link) {
    whole.see(word);
    const auto made = archivers.find(word);
    if (made == archivers.end()) continue;
    if (const std::string file = response_file(made->second); !file.empty()) {
      recipe.unfit = fmt::format("{} takes its members from the response file {}", word, file);
      return;
    }
    OwnArchive& archive = recipe.archives[word];
    archive.archiver = made->second.front();
    archive.members.assign(made->second.begin() + 3, made->second.end());
    archive.whole = archive.whole || whole.now();
  }
  std::ranges::copy_if(recipe.link, std::back_inserter(recipe.objects), is_object);
  std::size_t others = 0;
  for (const auto& [name, archive] : recipe.archives) {
    if (archive.whole) {
      recipe.objects.insert(recipe.objects.end(), archive.members.begin(), archive.members.end());
    } else {
      others = std::max(others, archive.members.size());
    }
  }
  if (recipe.objects.size() < 2 && others < 2) {
    recipe.unfit =
        "the link names no two objects, nor archives of this build, that could stand in another order";
  }
}

std::vector<std::string> in_drawn_order(std::vector<std::string> names, std::uint64_t seed) {
  std::ranges::sort(names, {}, [seed](const std::string& name) {
    return std::pair(Rng(fnv1a(fmt::format("{}:{}", seed, name))).next(), name);
  });
  return names;
}

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
    const std::string nm = cache.contains("CMAKE_NM") ? cache.at("CMAKE_NM") : "nm";
    const std::string listing = listing_of(link_name(0));
    std::set<std::string> orders{order_of_functions(nm, link_name(0), hooks_)};
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
      if (!orders.insert(order_of_functions(nm, link, hooks_)).second) {
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
    const std::string ninja = cache.contains("CMAKE_MAKE_PROGRAM") ? cache.at("CMAKE_MAKE_PROGRAM") : "ninja";
    LinkRecipe recipe = link_recipe(
        output_of({ninja, "-t", "commands", request_.program}, request_.build, hooks_), request_.program);
    if (!recipe.unfit.empty()) throw NoMore{recipe.unfit};
    return recipe;
  }

  /// Linking its archives again must give the program bit for bit, and no object be newer than its archive.
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

// Splits the line into words as sh does, as far as build commands need it.
std::optional<std::vector<Words>> commands_of_line(std::string_view line) {
  const auto is_in = [](std::string_view set, char c) { return set.find(c) != std::string_view::npos; };
  std::vector<Words> out(1);
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && is_in(" \t", c)) {
      if (word) out.back().push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (quote == 0 && !word && line.substr(i).starts_with("&&")) {
      out.emplace_back();
      ++i;
      continue;
    }
    if (!word) word.emplace();
    if (c == quote || (quote == 0 && is_in("'\"", c))) {
      quote = quote == 0 ? c : 0;
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == line.size()) return std::nullopt;
      const bool escapes = quote == 0 || is_in("\\\"$`", line[i + 1]);
      *word += escapes ? line[++i] : c;
    } else if (quote != '\'' && is_in(quote == 0 ? "|&;<>()$`*?[#~" : "$`", c)) {
      return std::nullopt;
    } else {
      *word += c;
    }
  }
  if (quote != 0) return std::nullopt;
  if (word) out.back().push_back(*word);
  std::erase_if(out, [](const Words& words) { return words.empty() || words == Words{":"}; });
  return out;
}

LinkRecipe link_recipe(std::string_view commands, const std::string& program) {
  LinkRecipe recipe;
  std::map<std::string, Words> archivers;
  for (const std::string_view text : parts_of(commands, '\n')) {
    const auto line = commands_of_line(text);
    if (!line) continue;
    for (const Words& words : *line) {
      if (words.front() == "cd") break;  // what follows names files of another folder
      if (makes_archive(words)) archivers[words[2]] = words;
      if (links(words, program)) recipe.link = words;
    }
  }
  if (recipe.link.empty()) {
    recipe.unfit = fmt::format("no command of the build that works without a shell links {}", program);
  } else {
    read_link(recipe, archivers);
  }
  return recipe;
}

Words linked_to(const LinkRecipe& recipe, const std::string& output) {
  Words out;
  for (const std::string& word : recipe.link) {
    if (word.find("--dependency-file=") != std::string::npos) {
      if (!out.empty() && out.back() == "-Xlinker") out.pop_back();
    } else {
      out.push_back(out.empty() || out.back() != "-o" ? word : output);
    }
  }
  return out;
}

std::vector<Words> reordered(const LinkRecipe& recipe, std::uint64_t seed, const std::string& scratch,
                             const std::string& output) {
  std::vector<Words> out;
  std::map<std::string, std::string> made_anew;
  for (const auto& [name, archive] : recipe.archives) {
    if (archive.whole) continue;
    const std::string copy = fmt::format("{}/{}.a", scratch, made_anew.size());
    Words create{archive.archiver, "qcs", copy};
    const auto members = in_drawn_order(archive.members, seed);
    create.insert(create.end(), members.begin(), members.end());
    out.push_back(std::move(create));
    made_anew[name] = copy;
  }

  // All objects go to the place of the first one, so that archives follow the objects that refer to them, as
  // before.
  Words link;
  bool placed = false;
  for (const std::string& word : linked_to(recipe, output)) {
    const auto own = recipe.archives.find(word);
    if (is_object(word) || (own != recipe.archives.end() && own->second.whole)) {
      if (std::exchange(placed, true)) continue;
      const auto objects = in_drawn_order(recipe.objects, seed);
      link.insert(link.end(), objects.begin(), objects.end());
    } else {
      link.push_back(own == recipe.archives.end() ? word : made_anew.at(word));
    }
  }
  out.push_back(std::move(link));
  return out;
}

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
    std::error_code no_name;
    if (!fs::is_regular_file(file, no_name)) return std::nullopt;
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
