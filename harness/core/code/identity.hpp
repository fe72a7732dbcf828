// Identities of machine code. Two builds compare them to leave out variants that cannot have changed.
//
// The identity of a file that registers variants is a hash of all code and constants that its static
// initialization can reach through relocations: the registration, the kernels it names, what those call. The
// places of sections and symbols, names of local functions and the line of the registration do not count. The
// walk goes on into every object it is given (of kernels/ and reference/), and ends
//   - at code that none of them defines: the harness, and libraries, whose versions are in the machine's
// fingerprint;
//   - at TypedOperation, the harness's view of a contract: an edit of a judge changes no variant.
// The loop that repeats calls while time is taken, TypedTimed<Op>::repeat, is behind that border. It is added
// for each operation that the file registers for: it is compiled anew for each, and a change of it is one of
// all. Whatever the harness does alike for all variants (where buffers lie, how operator new counts) is no
// part of it. An object's own copy of an inline function counts, whichever copy the linker keeps.
#pragma once

#include "assay/operation.hpp"
#include "core/code/elf.hpp"

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

/// Why the code of this object cannot be known; empty when it can. Link-time optimization leaves no machine
/// code in objects.
std::string why_unknown(const ElfFile& elf);

/// One row for each object that registers variants, by source. All objects pass why_unknown(). `library` is a
/// hash of what the program is linked with beside them, where the loops of its operations lie; empty where
/// nothing is.
std::vector<CodeIdentity> code_identities(const std::vector<CodeObject>& objects,
                                          const std::string& library = "");

}  // namespace assay
