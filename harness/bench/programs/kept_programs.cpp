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

/// The list that a folder of kept programs holds.
struct LinkList {
  std::vector<std::string> files;  ///< names in the folder
  std::string remark;              ///< why there are fewer than were asked for
  bool lasting = false;            ///< the reason will hold the next time
};

void describe(Fields& f, LinkList& list) {
  f("files", list.files);
  f("remark", list.remark);
  f("lasting", list.lasting, {.optional = true});
}

}  // namespace

std::optional<Links> kept_links(const fs::path& folder, int count) {
  const fs::path list = folder / list_name;
  if (!fs::exists(list)) return std::nullopt;
  // A list that somebody damaged is as good as none: what it names can be made again.
  LinkList kept;
  try {
    const Json json = parse_json(read_file(list), list.string());
    kept = value_from<LinkList>(JsonField(json, list.string(), ""));
  } catch (const Error&) {
    return std::nullopt;
  }
  Links links;
  for (const std::string& name : kept.files) {
    if (!fs::is_regular_file(folder / name)) return std::nullopt;
    links.files.push_back(folder / name);
  }
  const std::size_t wanted = static_cast<std::size_t>(std::max(count, 1));
  if (links.files.empty()) return std::nullopt;
  const bool fewer = links.files.size() < wanted;
  // A link that failed once may succeed the next time: a disk is full for an hour, a list is kept for ever.
  if (fewer && (kept.remark.empty() || !kept.lasting)) return std::nullopt;
  links.files.resize(std::min(links.files.size(), wanted));
  if (fewer) links.remark = kept.remark;
  return links;
}

Links keep_links(const Links& links, const fs::path& folder) {
  fs::create_directories(folder);
  fs::remove(folder / list_name);
  Links kept{.files = {}, .remark = links.remark, .lasting = links.lasting};
  LinkList list{.files = {}, .remark = links.remark, .lasting = links.lasting};
  for (const fs::path& file : links.files) {
    kept.files.push_back(folder / file.filename());
    fs::rename(file, kept.files.back());
    list.files.push_back(file.filename().string());
  }
  write_file(folder / list_name, json_text(to_value(list)) + "\n");
  return kept;
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
