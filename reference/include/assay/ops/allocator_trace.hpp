/// Reads the requests of a program from a trace in the form of google/minimalloc.
#pragma once

#include "assay/ops/memory_pool.hpp"

#include <filesystem>
#include <functional>
#include <vector>

namespace assay::allocator_trace {

/// Longest list that is taken: reading stops with an Error at the line after it.
inline constexpr Index most_requests = Index{1} << 20;

/// Calls `take` for each request of `file`, in its order, and returns how many there are.
///
/// The file is text with commas. Its first line names the columns, in any order: one of `lower`, `start` and
/// `begin`; one of `upper` and `end`; `size`, in bytes. `upper` is the first step at which the bytes are no
/// longer needed, `end` the last at which they are: there the life is [begin, end + 1). Other columns are
/// ignored, except `alignment` and `gaps`, which would change what a valid plan is and are refused. Lines end
/// with LF or CRLF; blank lines are skipped.
///
/// Throws Error naming file and line for: a file that cannot be read or holds no request; a column that is
/// missing, or given twice; a line with more or fewer fields than the first, or of more than 4,095
/// characters; a number that is no integer below 2^62; a life that starts before 0, or does not end after its
/// start; a size that is not positive; sizes that sum to more than 2^62; more than most_requests. Memory does
/// not grow with the file.
Index for_each_request(const std::filesystem::path& file,
                       const std::function<void(const memory_pool::Request&)>& take);

Index count_requests(const std::filesystem::path& file);

}  // namespace assay::allocator_trace
