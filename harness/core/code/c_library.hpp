/// Functions of the C library that a file of kernels replaces, for itself and for the program that it is
/// linked into: a clock, or the call that writes an answer.
#pragma once

#include "core/code/elf.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Whether the C library or the run-time library of C++ of this process defines a function of this name that
/// programs have no right to replace.
bool is_of_c_library(std::string_view name);

/// Returns the functions that an object defines for other files, or a shared library for other libraries, and
/// that the C library or the run-time library of C++ of this process defines as well, sorted. It leaves out
/// what a program may replace: `operator new` and `operator delete` anywhere, and `malloc` and its like in a
/// shared library, whose allocator is its own. Data is left out too: a table may be called `index`. Returns
/// none on other processors than x86-64.
std::vector<std::string> replaced_functions(const ElfFile& file);

}  // namespace assay
