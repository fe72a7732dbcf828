/// Layouts: the same objects linked in several orders, made once and kept in a folder with a list. The place
/// of its code can change the time of a small kernel by more than a regression worth catching, so that two
/// programs are compared over several layouts of each. Ninja's commands say how a program is linked.
#pragma once

#include "assay/hooks.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

/// A folder for unfinished programs: empty at first, even after a killed process; removed with the object.
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

double bytes_in(const std::filesystem::path& folder);

struct LayoutRequest {
  std::filesystem::path build;   ///< a build folder in which `program` is up to date
  std::string program;           ///< its name there
  int count = 1;                 ///< of links, the program as it was built included
  std::filesystem::path folder;  ///< for the links; empty
  std::filesystem::path log;     ///< gets what the linker says
};

/// Copies the program as it was built, and makes `count` - 1 further links of its objects: the i-th one has
/// the order drawn from i. A link counts if `list --json -` says the same of it as of the program, and if no
/// other link has the same order of functions. Otherwise only the program and the links made before are
/// returned, and the remark says why. Other reasons are a build that Ninja did not make, and objects that are
/// not those of the program.
Links make_layouts(const LayoutRequest& request, const Hooks& hooks);

/// Links a program that lies in its build folder; without a build folder, returns only the program. Links are
/// kept in the folder `layouts` beside it until the program changes. The first link is a copy.
Links layouts_beside(const std::filesystem::path& program, int count, const Hooks& hooks);

/// The words of one command, as a shell would hand them to the program.
using Words = std::vector<std::string>;

/// The commands of one line, joined by `&&`, without those that do nothing (`:`). Nothing if the line needs a
/// shell: for a pipe, a redirection, a variable, a pattern.
std::optional<std::vector<Words>> commands_of_line(std::string_view line);

/// An archive that the build itself makes.
struct OwnArchive {
  std::string archiver;
  std::vector<std::string> members;
  bool whole =
      false;  ///< linked with every member; otherwise the linker takes those that something refers to
};

struct LinkRecipe {
  Words link;                                  ///< as the build runs it
  std::map<std::string, OwnArchive> archives;  ///< by their names in `link`
  std::vector<std::string> objects;  ///< linked in any case: its own, then the members of whole archives
  std::string unfit;                 ///< why no other order can be linked; empty when one can
};

/// Reads the output of `ninja -t commands <program>`.
LinkRecipe link_recipe(std::string_view commands, const std::string& program);

/// The link as the build runs it, with another output, and without options that write dependency files.
Words linked_to(const LinkRecipe& recipe, const std::string& output);

/// Commands that link `output` from the same objects in an order drawn from `seed`, to be run one after the
/// other in the folder of the build. Archives that are not linked whole are made anew in `scratch`, with
/// their members in a drawn order, so that members without a reference stay out as before.
///
/// The place of an object is drawn from its name and the seed alone: objects that two builds have in common
/// stand in the same order in both, also where one of them has more.
std::vector<Words> reordered(const LinkRecipe& recipe, std::uint64_t seed, const std::string& scratch,
                             const std::string& output);

}  // namespace assay
