/// Kernels from shared libraries, among those of a program.
#pragma once

#include "assay/plugin.h"
#include "assay/registry.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// The libraries that the environment names.
std::vector<std::filesystem::path> plugins_here();

/// Adds all operations and kernels of a library. Where `runs_kernels`, it is loaded at once. Throws Error
/// naming the library.
void add_plugin(Registry& registry, const std::filesystem::path& library, bool runs_kernels);
/// The same of an interpreter that embeds this program.
void add_plugin(Registry& registry, const std::string& name, const assay_plugin& given);

}  // namespace assay
