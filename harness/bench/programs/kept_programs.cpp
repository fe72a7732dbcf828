#include "bench/programs/kept_programs.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/json/fields.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr const char* list_name = "links.json";

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

}  // namespace assay
