/// The table of code identities that a program carries, as a source file to compile into it.
#pragma once

#include "core/code/identity.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// Facts about a static library that is compiled elsewhere and linked into a program with its kernels.
struct CodeLibrary {
  std::string hash;                  ///< of the whole archive
  std::vector<std::string> sources;  ///< of its members, from the folder that the archive is called after
};

/// Reads a static library of this project: libassay_reference_archive.a, whose member layernorm.cpp.o comes
/// from reference/layernorm.cpp. When it cannot be read, `unknown` says why and there is no hash.
CodeLibrary library_of(const std::filesystem::path& archive, std::string& unknown);

/// The source of an object that CMake placed: <build>/kernels/CMakeFiles/<target>.dir/gemm/packed.cpp.o comes
/// from kernels/gemm/packed.cpp.
std::string source_of(const std::filesystem::path& object, const std::filesystem::path& build);

/// Returns a source file with a CodeTable. It lacks the calls of the library's variants.
std::string table_text(const std::vector<CodeIdentity>& identities, const CodeLibrary& library = {});

/// Reads the objects, and the archive where one is named, and returns their table. An unreadable file leaves
/// all codes unknown, since any variant may call it: then the table is empty, and `unknown` says why.
std::string table_of(const std::vector<std::filesystem::path>& objects, const std::filesystem::path& build,
                     std::string& unknown, const std::filesystem::path& archive = {});

}  // namespace assay
