// The ready tasks in the order of their ranks: a bit per rank, and above every 64 bits a bit that says
// whether any is set, up to a single word. Inserting and taking the first cost one word per level, four for a
// million tasks.
#pragma once

#include "assay/ops/task_dag.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace assay::task_graph {

class ReadySet {
 public:
  explicit ReadySet(Index ranks) {
    do {
      ranks = (ranks + 63) / 64;
      storeys_.emplace_back(static_cast<std::size_t>(ranks));
    } while (ranks > 1);
  }

  bool empty() const { return storeys_.back()[0] == 0; }

  void insert(TaskId rank) {
    auto at = static_cast<std::size_t>(rank);
    for (std::vector<std::uint64_t>& storey : storeys_) {
      std::uint64_t& word = storey[at / 64];
      const bool known = word != 0;
      word |= std::uint64_t{1} << (at % 64);
      if (known) return;
      at /= 64;
    }
  }

  /// Removes and returns the lowest rank. The set must not be empty.
  TaskId take_first() {
    std::size_t at = 0;
    for (std::size_t s = storeys_.size(); s-- > 0;) {
      at = at * 64 + static_cast<std::size_t>(std::countr_zero(storeys_[s][at]));
    }
    const auto rank = static_cast<TaskId>(at);
    for (std::vector<std::uint64_t>& storey : storeys_) {
      std::uint64_t& word = storey[at / 64];
      word &= word - 1;  // the first rank is the lowest of its word on every level
      if (word != 0) break;
      at /= 64;
    }
    return rank;
  }

  void clear() {
    while (!empty()) take_first();
  }

 private:
  std::vector<std::vector<std::uint64_t>> storeys_;
};

}  // namespace assay::task_graph
