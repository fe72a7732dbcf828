#include "compare/kept_programs.hpp"

#include "assay/error.hpp"
#include "assay/results.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* list_name = "links.json";

}  // namespace

std::optional<Links> kept_links(const fs::path& folder, int count) {
  const fs::path list = folder / list_name;
  if (!fs::exists(list)) return std::nullopt;
  // A list that somebody damaged is as good as none: what it names can be made again.
  const Json json = Json::parse(read_file(list), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.value("files", Json()).is_array()) return std::nullopt;
  Links links;
  for (const Json& name : json.at("files")) {
    if (!name.is_string() || !fs::is_regular_file(folder / name.get<std::string>())) return std::nullopt;
    links.files.push_back(folder / name.get<std::string>());
  }
  const std::size_t wanted = static_cast<std::size_t>(std::max(count, 1));
  const Json remark = json.value("remark", Json());
  if (links.files.empty() || !remark.is_string()) return std::nullopt;
  const bool fewer = links.files.size() < wanted;
  const Json lasting = json.value("lasting", Json());
  // What failed once may be linked the next time: a disk is full for an hour, a list is kept for ever.
  if (fewer && (remark.get<std::string>().empty() || lasting != true)) return std::nullopt;
  links.files.resize(std::min(links.files.size(), wanted));
  if (fewer) links.remark = remark.get<std::string>();
  return links;
}

Links keep_links(const Links& links, const fs::path& folder) {
  fs::create_directories(folder);
  fs::remove(folder / list_name);
  Links kept{.files = {}, .remark = links.remark, .lasting = links.lasting};
  Json json{{"files", Json::array()}, {"remark", links.remark}, {"lasting", links.lasting}};
  for (const fs::path& file : links.files) {
    kept.files.push_back(folder / file.filename());
    fs::rename(file, kept.files.back());
    json["files"].push_back(file.filename().string());
  }
  write_file(folder / list_name, json.dump(2) + "\n");
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
