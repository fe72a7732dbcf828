/// The lives of blocks of memory, from the events of allocators that the PyTorch profiler writes
/// (profile_memory=True).
#pragma once

#include "assay/problem.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// A block that lives in the steps [start, end): step n is the n-th event of its allocator in the trace, from
/// 1 on.
struct BlockLife {
  Index bytes = 0;
  Index start = 0;  ///< 0 for one that was there before the trace
  Index end = 0;    ///< the step after the last one for a block that is never freed
};

/// The actions of one allocator, in one trace.
struct MemoryEvents {
  std::string device;  ///< "the processor", "accelerator 0"
  std::vector<BlockLife> lives;
  Index most_live = 0;  ///< bytes of those blocks that live at once at most
  Index most_allocated =
      0;  ///< as the allocator counted them, with blocks that the trace does not show; 0 unknown
  Index most_reserved = 0;  ///< from the system, to serve these; 0 unknown, as for the processor
  Index from_before = 0, never_freed = 0;  ///< blocks
  std::vector<std::string>
      others;  ///< devices with events that were passed over, since theirs are fewer bytes
};

/// Reads the events `[memory]` of a trace in Chrome's format, packed with gzip or not, of the device whose
/// blocks need most bytes at once. Throws Error naming the file, and the event where there is one, for: no
/// such events; events without addresses, as PyTorch wrote them before 1.10; an address that is given twice
/// without a free between; a free of another size than was given; sizes that are no whole number of bytes, or
/// sum to 2^62 and more.
MemoryEvents read_memory_events(const std::filesystem::path& file);

/// The lives as the lines of google/minimalloc's traces, `id,lower,upper,size`.
std::string requests_csv(const MemoryEvents& events);

}  // namespace assay
