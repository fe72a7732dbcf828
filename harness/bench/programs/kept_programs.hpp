/// Programs that were made once and are used again: a folder of them with a list.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Differently ordered links of one program.
struct Links {
  std::vector<std::filesystem::path> files;  ///< the first one in the order of the build itself
  std::string remark;                      ///< why there are fewer than were wanted; empty when there are not
  bool lasting = true;                     ///< the reason stands the next time, too; a full disk does not
  std::vector<std::string> differences{};  ///< of the build from the one that it should be like, in words
};

/// The links in `folder`, if it is finished and has `count` of them or a lasting reason why it has not. Only
/// the first `count` are returned.
std::optional<Links> kept_links(const std::filesystem::path& folder, int count);

/// Moves `links` into `folder`, where those of the same names are replaced. The list by which kept_links()
/// knows that the folder is finished is the last to be written.
Links keep_links(Links links, const std::filesystem::path& folder);

/// A folder for unfinished programs: empty at first, even if a killed process left files there, and removed
/// with the object.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(std::filesystem::path path);
  ~UnfinishedFolder();
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Bytes of the files in a folder.
double bytes_in(const std::filesystem::path& folder);

}  // namespace assay
