// Names the functions that differ between two programs, to look at when one became slower.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct DifferingFunction {
  std::string name;               // as written in the source
  std::uint64_t size_before = 0;  // in bytes; 0 where the program does not have it
  std::uint64_t size_after = 0;
  std::uint64_t changed = 0;  // bytes that differ or, where sizes do, how many more or fewer
};

struct FunctionDifferences {
  std::vector<DifferingFunction> functions;  // largest change first
  std::string unknown;                       // why they are not known; empty when they are
};

// Compares functions of the same name, and of the same file where they are local. Distances to other
// functions, objects, imports and constants are compared by what they lead to, so that another link or
// another neighbour makes no difference. There is no disassembler behind this: it may name a function whose
// constants merely have new neighbours, with few bytes; addresses that a program not made to be moved has in
// its instructions count as changed. With a `source`, such as kernels/gemm/packed.cpp, only local functions
// of files of that name are compared: the symbol table knows no folders, and not where other functions come
// from.
FunctionDifferences differing_functions(const std::filesystem::path& before,
                                        const std::filesystem::path& after,
                                        const std::filesystem::path& source = {});

}  // namespace assay
