// Calls from a variant's code into code that is compiled elsewhere, and whether the variant declares them:
// kernels that are called hand-written but call a library, start threads or open a library while they run.
// core/README.md says which calls stay hidden.
#pragma once

#include "assay/operation.hpp"
#include "core/code/elf.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A symbol as its compiler would print it; the symbol itself where it is no mangled name.
std::string demangled(std::string_view symbol);

/// A symbol as people write it: `tbb::detail::r1::spawn`, without arguments, result and template arguments.
/// For the table of a class, the class.
std::string readable(std::string_view symbol);

/// `threads`, `system` or a library; empty for run-times, which every kernel may use, and for the harness.
std::string callee_of(const std::string& readable_name);

/// The group of functions that a file defines although the C library does: replaced_functions().
inline constexpr std::string_view replaced_of_c_library = "replaced";

/// Groups the symbols by the library called; leaves out run-times and the harness.
std::vector<Calls> calls_of(const std::set<std::string>& symbols);

/// As the rows of a CodeTable hold them: lines of `to name`.
std::string lines_of(const std::vector<Calls>& calls);

/// `openblas (cblas_sgemm, openblas_get_num_threads, 1 more)`.
std::string in_words(const Calls& calls);

/// Disagrees where a variant calls a library that it does not declare, or replaces functions of the C
/// library. Agrees where the calls are not known.
Agreement agreement_of_declaration(const VariantInfo& variant);

/// Returns the libraries that a variant declares and its code does not reach: worth a remark, and no fault,
/// since it hides nothing. Returns none where the calls are not known, or where functions are found by name.
std::vector<std::string> unreached_libraries(const VariantInfo& variant);

// Functions of the C library that a file of kernels replaces, for itself and for the program that it is
// linked into: a clock, or the call that writes an answer.

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
