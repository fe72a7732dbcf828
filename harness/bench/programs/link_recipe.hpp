/// Reads from Ninja's commands how a program is linked, and writes commands that link the same objects in
/// another order. Text in, text out; layouts.hpp runs the commands.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

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

/// The link as the build runs it, with another name of the output. Options that write dependency files are
/// left out.
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
