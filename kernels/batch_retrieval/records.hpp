// Copies records at random places of a mapping with prefetches of their cache lines, and requests pages of a
// mapped file before they are read, so that the disk serves many at once: cold reads are slow because they
// miss one page at a time.
#pragma once

#include "assay/ops/data_loader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace assay {

namespace detail {

constexpr Index line_bytes = 64;

/// Bytes that are prefetched ahead of the copy. Chosen among powers of two by time on 64 and 1,024 byte
/// records (kernels/README.md, Data loading).
constexpr Index ahead_bytes = 2048;

inline void ask_for(const std::byte* record, Index bytes) {
  for (Index at = 0; at < bytes; at += line_bytes) __builtin_prefetch(record + at);
}

/// A copy of a known size compiles to a few moves, of an unknown size to a call.
template <Index fixed>
void copy_ahead(const std::byte* records, Index size, std::span<const Index> indices, std::byte* to) {
  // Local values, not members: for the compiler, a store through `to` may change any member.
  const Index bytes = fixed > 0 ? fixed : size;
  const Index* const index = indices.data();
  const auto count = static_cast<Index>(indices.size());
  const Index distance = std::clamp<Index>(ahead_bytes / bytes, 1, count);
  for (Index b = 0; b < distance; ++b) ask_for(records + index[b] * bytes, bytes);
  for (Index b = 0; b < count - distance; ++b, to += bytes) {
    ask_for(records + index[b + distance] * bytes, bytes);
    std::memcpy(to, records + index[b] * bytes, static_cast<std::size_t>(bytes));
  }
  for (Index b = count - distance; b < count; ++b, to += bytes) {
    std::memcpy(to, records + index[b] * bytes, static_cast<std::size_t>(bytes));
  }
}

}  // namespace detail

/// Copies the records at `indices`, in this order, to `to`. At least one index.
inline void copy_ahead(const RecordFile& file, std::span<const Index> indices, std::byte* to) {
  const std::byte* const records = file.record(0);
  const Index bytes = file.shape().bytes;
  switch (bytes) {
    case 16: return detail::copy_ahead<16>(records, bytes, indices, to);
    case 32: return detail::copy_ahead<32>(records, bytes, indices, to);
    case 64: return detail::copy_ahead<64>(records, bytes, indices, to);
    case 128: return detail::copy_ahead<128>(records, bytes, indices, to);
    default: return detail::copy_ahead<0>(records, bytes, indices, to);
  }
}

/// Requests for the pages of whole batches. It owns its memory.
class PageRequests {
 public:
  /// For batches of at most `batch` indices.
  explicit PageRequests(Index batch) : pages_(static_cast<std::size_t>(batch)) {}
  /// Calls madvise(MADV_WILLNEED) for all pages of the records at `indices`, once for pages that touch.
  /// Returns when the disk has been asked, not when it has answered.
  void ask(const RecordFile& file, std::span<const Index> indices);

 private:
  std::vector<std::pair<Index, Index>> pages_;  ///< first page of a record, and one past the last
};

void ask_for_pages(const RecordFile& file, Index record);

}  // namespace assay
