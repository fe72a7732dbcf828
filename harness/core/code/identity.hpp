// Identities of machine code. Two builds compare them to leave out variants that cannot have changed. An
// identity is a hash of all code and constants that the static initialization of a file that registers
// variants can reach through relocations; core/README.md tells where that walk ends, and what does not count.
// Versions of libraries are in the machine's fingerprint. An object's own copy of an inline function counts,
// whichever copy the linker keeps.
#pragma once

#include "assay/operation.hpp"
#include "core/code/elf.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// A compiled file: the path of its source from the project's folder, and its object.
struct CodeObject {
  std::string source;
  ElfFile elf;
};

/// `code` is empty when it is not known, which counts as changed. `calls` are the names that the walk ended
/// at (core/code/calls.hpp).
struct CodeIdentity {
  std::string source;
  std::string code;
  std::vector<Calls> calls;
};

/// Returns a row for each object that registers variants, by source. All objects must hold machine code.
/// `library` is a hash of the library that is linked beside them and holds the loops of its operations; empty
/// where there is none.
std::vector<CodeIdentity> code_identities(const std::vector<CodeObject>& objects,
                                          const std::string& library = "");

// The table of code identities that a program carries, as a source file to compile into it.

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
