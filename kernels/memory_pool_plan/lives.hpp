// Requests in the form for searches: in order of start, in multiples of the alignment, and with time divided
// into sections. A section is a largest set of blocks that live together: no other set contains it.
#pragma once

#include "memory_pool/events.hpp"

#include "assay/ops/memory_pool.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::memory_pool {

/// A block that lives in the sections [first, last).
struct Life {
  Index units = 0;
  std::int32_t first = 0, last = 0;
};

/// Blocks in order of start, and the units alive in each of their sections.
struct Lives {
  std::span<const Life> blocks;
  std::span<const Index> live;
};

/// A list of requests divided into parts. No two parts share a step, so each can be planned by itself.
class Parts {
 public:
  /// For lists of at most `most` requests.
  explicit Parts(Index most);

  void read(std::span<const Request> requests);

  std::size_t count() const { return parts_.size(); }
  Lives lives(std::size_t part) const;
  /// The lower bound: no plan of the part takes fewer units.
  Index least(std::size_t part) const { return parts_[part].least; }
  /// The requests of the part's blocks, by their place in the list.
  std::span<const Index> requests(std::size_t part) const;

 private:
  struct Part {
    std::size_t block = 0, section = 0;  ///< the first block and section
    std::size_t blocks = 0, sections = 0;
    Index least = 0;
  };
  void close(Part& part);

  Events events_;
  std::vector<Life> blocks_;
  std::vector<Index> requests_;
  std::vector<std::size_t> position_;  ///< position of each request among the blocks
  std::vector<Index> live_;
  std::vector<Part> parts_;
};

}  // namespace assay::memory_pool
