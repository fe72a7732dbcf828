/// Reads from a CMake build folder how it was configured, and the settings that decide its machine code.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Entries of the text of a CMakeCache.txt by name.
std::map<std::string, std::string> cache_entries(std::string_view text);

/// Returns the entries of a build folder; empty when it is none.
std::map<std::string, std::string> cache_entries_of(const std::filesystem::path& build);

/// "GNU 12.2.0", in the words of build_info(), of a configured build folder; empty when it does not say.
std::string compiler_of(const std::filesystem::path& build);

/// Returns the build folder in which a program lies, at whatever depth; empty when it lies in none.
std::filesystem::path build_folder_of(const std::filesystem::path& program);

/// The same of the running program.
std::filesystem::path own_build_folder();

/// The settings to configure a build like another one.
struct BuildSettings {
  std::vector<std::string> arguments;  ///< for cmake, beside the preset
  std::string build_type;              ///< as CMake calls it; empty when it is not known
  std::string compiler;                ///< "GNU 12.2.0"
  std::string identity;                ///< a text that differs when the machine code may
};

/// Returns the settings of the running program, if it lies in its build folder; otherwise the compiler that
/// CXX names. The versions of the compiler and of the libraries whose code is compiled in are part of the
/// identity.
BuildSettings settings_of_this_build();

}  // namespace assay
