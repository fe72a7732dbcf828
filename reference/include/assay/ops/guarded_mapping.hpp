/// A file mapped for reading. Losing the file under the mapping is an error that can be asked for, and never
/// ends the program.
#pragma once

#include "assay/problem.hpp"

#include <cstddef>

namespace assay {

/// Read-only bytes of an open file.
///
/// A page of a mapping cannot be read once the file was truncated before it, or when the disk fails: the
/// kernel sends SIGBUS to the thread that reads. A look at the size beforehand does not help, since the file
/// may shrink right after it; and jumping out of the handler would leave a kernel in the middle of its loop,
/// with its destructors not run. So the handler puts zero pages over the rest of the mapping, from the page
/// that was lost, and lets the read go on; lost() says so afterwards. Kernels read with plain loads, on any
/// thread, and pay nothing. What they read from a lost page is zeros: ask lost() before using it.
///
/// The first mapping of a process installs the handler. A SIGBUS anywhere else goes to whoever handled it
/// before.
class GuardedMapping {
 public:
  enum class Pages {
    on_demand,  ///< read when they are touched, with what the kernel thinks should be read around them
    at_random,  ///< read when they are touched, nothing around them (MADV_RANDOM)
    populated   ///< read and mapped now
  };

  GuardedMapping() = default;
  /// Maps `bytes` > 0 of the file. On failure data() is nullptr and errno is set.
  GuardedMapping(int descriptor, Index bytes, Pages pages);
  GuardedMapping(GuardedMapping&& other) noexcept { swap(other); }
  GuardedMapping& operator=(GuardedMapping&& other) noexcept {
    GuardedMapping(static_cast<GuardedMapping&&>(other)).swap(*this);
    return *this;
  }
  ~GuardedMapping();

  const std::byte* data() const { return data_; }
  Index size() const { return bytes_; }
  /// Whether a read met a page that is no longer there. Stays so: map anew.
  bool lost() const;
  /// Pages that are in memory, as a share of all. 0 where the kernel does not say.
  double resident() const;
  /// Reads a byte of each page, so that all are in memory and mapped: later reads find them as they would
  /// after a pass over the file.
  void map_pages() const;
  /// Takes the pages out of the page table, so that the file's own may be dropped.
  void unmap_pages() const;

 private:
  void swap(GuardedMapping& other) noexcept;

  std::byte* data_ = nullptr;
  Index bytes_ = 0;
  int place_ = -1;  ///< in the table that the handler reads
};

}  // namespace assay
