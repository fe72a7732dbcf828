// Names the functions that differ between two programs, to look at when one became slower; and code that a
// process has changed in its memory: a judge that agrees, a clock that is slow.
// The length of an x86-64 instruction, and the place of the relative distance in it, are what it compares by.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A distance counts from the end of its instruction. All other bytes of an instruction are equal in another
// link, since the code is position-independent.
struct Instruction {
  std::size_t length = 0;         // 0 where the bytes begin no instruction that is known
  std::size_t distance = 0;       // offset of its distance; 0 where it has none
  std::size_t distance_size = 0;  // 1 or 4
  bool branches = false;          // the distance leads to code: a call or a jump
};

// Decodes the instruction that `bytes` begins with: Intel 64 manual, volume 2, chapter 2 and appendix A, with
// VEX and EVEX. Knows no XOP and no 3DNow.
Instruction decoded(std::string_view bytes);

struct DifferingFunction {
  std::string name;               // as written in the source
  std::string source;             // its file, without folders where it registers no variant; empty: not known
  std::uint64_t size_before = 0;  // in bytes; 0 where the program does not have it
  std::uint64_t size_after = 0;
  std::uint64_t changed = 0;  // bytes that differ or, where sizes do, how many more or fewer
};

struct FunctionDifferences {
  std::vector<DifferingFunction> functions;  // largest change first
  std::string unknown;                       // why they are not known; empty when they are
  bool reached = false;                      // they are those that the registration of the source reaches
};

// Compares functions of the same name, and of the same file where they are local. Compares instructions one
// by one, and distances to other functions, objects, imports and constants by their targets. So another link,
// another neighbour or a function that moved makes no difference. Absolute addresses in the instructions of a
// program that is not position-independent count as changed.
//
// With a `source`, such as kernels/gemm/packed.cpp, compares the functions that the registration of its
// variants reaches; where a program registers none of that name, the local functions of files of that name.
// DifferingFunction::source names one of `sources`.
FunctionDifferences differing_functions(const std::filesystem::path& before,
                                        const std::filesystem::path& after, const std::string& source = {},
                                        std::vector<std::string> sources = {});

/// Returns the functions with one parameter, such as `benchmark::State&`, from which both programs reach the
/// same code and data, by names without namespaces: through calls, addresses and tables and, where a variable
/// is reached that can be written to, through all that refers to it. What main() reaches has to be the same,
/// too, and all functions of the namespace `border`, at which the way ends. Names that a program has twice
/// are left out. Returns none where a program was stripped, has variables of threads, or looks for libraries
/// in places of its own.
std::set<std::string> unchanged_functions(const std::filesystem::path& before,
                                          const std::filesystem::path& after, std::string_view parameter,
                                          std::string_view border);

/// Looks at the code of a program of assay that runs, of the C library and of the run-time library of C++,
/// and returns in which of their files it differs from the file, such as "libc.so.6"; empty where it does
/// not. Breakpoints of debuggers and tracers are no difference. The system tells what the process has in
/// memory: it cannot hide it, except by leave of its own to be looked at, and then that is the answer.
std::string changed_code(pid_t process);

}  // namespace assay
