// Requests pages of a mapped record file before they are read, so that the disk serves many at once: cold
// reads are slow because they miss one page at a time.
#pragma once

#include "assay/ops/record_file.hpp"

#include <span>
#include <utility>
#include <vector>

namespace assay {

/// Requests for the pages of whole batches. It owns its memory.
class PageRequests {
 public:
  /// For batches of at most `batch` indices.
  explicit PageRequests(Index batch);
  /// Calls madvise(MADV_WILLNEED) for all pages of the records at `indices`, once for pages that touch.
  /// Returns when the disk has been asked, not when it has answered.
  void ask(const RecordFile& file, std::span<const Index> indices);

 private:
  std::vector<std::pair<Index, Index>> pages_;  ///< first page of a record, and one past the last
};

/// Requests the pages of one record.
void ask_for_pages(const RecordFile& file, Index record);

}  // namespace assay
