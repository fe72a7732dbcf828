// Facts about a static library that is compiled elsewhere and linked into a program with its kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct CodeLibrary {
  std::string hash;                  ///< of the whole archive
  std::vector<std::string> sources;  ///< of its members, from the folder that the archive is called after
};

/// Reads a static library of this project: libassay_reference_archive.a, whose member layernorm.cpp.o comes
/// from reference/layernorm.cpp. When it cannot be read, `unknown` says why and there is no hash.
CodeLibrary library_of(const std::filesystem::path& archive, std::string& unknown);

}  // namespace assay
