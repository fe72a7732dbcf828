#include "bench/programs/link_recipe.hpp"

#include "assay/random.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace assay {
namespace {

/// `ar qc libx.a a.o b.o`, under whatever name the archiver goes.
bool makes_archive(const Words& words) {
  if (words.size() < 3) return false;
  const std::string tool = std::filesystem::path(words[0]).filename().string();
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
      if (out.back() == "-Xlinker") out.pop_back();
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

}  // namespace assay
