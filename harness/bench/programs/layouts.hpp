/// Layouts: the same objects linked in several orders. The place of its code can change the time of a small
/// kernel by more than a regression worth catching, so that two programs are compared over several layouts of
/// each.
#pragma once

#include "assay/hooks.hpp"
#include "bench/programs/kept_programs.hpp"

#include <filesystem>
#include <string>

namespace assay {

/// The program to link, and where it goes.
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

}  // namespace assay
