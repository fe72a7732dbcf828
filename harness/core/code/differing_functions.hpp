// Names the functions that differ between two programs, to look at when one became slower.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

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

}  // namespace assay
