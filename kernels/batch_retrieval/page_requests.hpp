// Pages of a mapped record file that are asked for before they are read, so that the disk has many to serve
// at once: one missing page at a time is what makes cold reads slow.
#pragma once

#include "assay/ops/record_file.hpp"

#include <span>
#include <utility>
#include <vector>

namespace assay {

/// Requests for the pages of whole batches. Holds its own memory.
class PageRequests {
 public:
  /// Batches of at most `batch` indices.
  explicit PageRequests(Index batch);
  /// MADV_WILLNEED for all pages of the records at `indices`, those that touch in one request. Returns when
  /// the disk has been asked, not when it has answered.
  void ask(const RecordFile& file, std::span<const Index> indices);

 private:
  std::vector<std::pair<Index, Index>> pages_;  ///< first and one past the last, of a record
};

/// Asks for the pages of one record.
void ask_for_pages(const RecordFile& file, Index record);

}  // namespace assay
