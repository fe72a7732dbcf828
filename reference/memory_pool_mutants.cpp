// Plans made from one valid plan, each changed in a way that some validator overlooks.

#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::memory_pool {
namespace {

constexpr Index random_moves = 8;

bool meet(Index a_low, Index a_high, Index b_low, Index b_high) { return a_low < b_high && b_low < a_high; }

/// One block of a plan, and the places of other blocks that a change of it depends on.
class Block {
 public:
  Block(Draft& draft, std::size_t at) : draft_(draft), at_(at) {}

  Request& request() { return draft_.requests[at_]; }
  Index& offset() { return draft_.offsets[at_]; }
  Index upper() { return offset() + request().bytes; }

  /// The offset of the next block above that lives at the same time; that of the pool's end if there is none.
  Index ceiling() {
    Index lowest = draft_.pool;
    for_others([&](const Request& r, Index offset) {
      if (offset > this->offset() && lives_with(r)) lowest = std::min(lowest, offset);
    });
    return lowest;
  }

  /// The first start, from the end of the block on, of a block that uses some of its bytes; its own end if
  /// there is none.
  Index next_use() {
    Index first = std::numeric_limits<Index>::max();
    for_others([&](const Request& r, Index offset) {
      if (r.start >= request().end && meet(offset, offset + r.bytes, this->offset(), upper())) {
        first = std::min(first, r.start);
      }
    });
    return first == std::numeric_limits<Index>::max() ? request().end : first;
  }

  /// The offset of the block that lives at the same time and starts longest before or after it.
  Index offset_of_farthest() {
    Index farthest = -1, found = offset();
    for_others([&](const Request& r, Index offset) {
      const Index distance = std::max(r.start, request().start) - std::min(r.start, request().start);
      if (!lives_with(r) || distance <= farthest) return;
      farthest = distance;
      found = offset;
    });
    return found;
  }

 private:
  bool lives_with(const Request& r) { return meet(r.start, r.end, request().start, request().end); }
  template <class Look>
  void for_others(const Look& look) {
    for (std::size_t i = 0; i < draft_.requests.size(); ++i) {
      if (i != at_) look(draft_.requests[i], draft_.offsets[i]);
    }
  }

  Draft& draft_;
  std::size_t at_;
};

void append(Draft& draft, const Request& request, Index offset) {
  draft.requests.push_back(request);
  draft.offsets.push_back(offset);
}

void shuffle(Draft& draft, Rng& rng) {
  for (std::size_t i = draft.requests.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(rng.integer(0, static_cast<Index>(i) - 1));
    std::swap(draft.requests[i - 1], draft.requests[j]);
    std::swap(draft.offsets[i - 1], draft.offsets[j]);
  }
}

/// Lives from before the first block to after the last, on a byte of `offset`.
void append_lasting(Draft& draft, Index offset) {
  Request lasting{.bytes = 1, .start = draft.requests[0].start, .end = draft.requests[0].end};
  for (const Request& r : draft.requests) {
    lasting.start = std::min(lasting.start, r.start);
    lasting.end = std::max(lasting.end, r.end);
  }
  append(draft, {1, lasting.start - 1, lasting.end + 1}, offset);
}

}  // namespace

std::vector<Draft> drafts(std::span<const Request> requests, bool mutated, Rng& rng) {
  Placed placed = place_by_best_fit(requests);
  std::vector<Draft> out;
  out.push_back({"as planned", {requests.begin(), requests.end()}, std::move(placed.offsets), placed.pool});
  if (!mutated) return out;
  out.reserve(static_cast<std::size_t>(1 + mutations));
  const auto mutant = [&](std::string_view what, const auto& change) {
    Draft next{what, out[0].requests, out[0].offsets, out[0].pool};
    const Index at = rng.integer(0, static_cast<Index>(next.requests.size()) - 1);
    change(next, Block(next, static_cast<std::size_t>(at)));
    out.push_back(std::move(next));
  };

  // The two plans that refute published shortcuts, in units of 64 bytes: three blocks of which the first
  // and the last clash, with one between them in the order of offsets; and twins with another between.
  out.push_back({"published: [0, 100), [10, 20), [30, 40) in steps [0, 10), [20, 30), [0, 10)",
                 {{6400, 0, 10}, {640, 20, 30}, {640, 0, 10}},
                 {0, 640, 1920},
                 6400});
  out.push_back({"published: twins with another block between them in the list",
                 {{64, 0, 10}, {64, 0, 10}, {64, 0, 10}},
                 {0, 128, 0},
                 192});

  // Valid, by a little.
  mutant("in another order", [&](Draft& d, Block) { shuffle(d, rng); });
  mutant("a block reaches up to the next",
         [](Draft&, Block b) { b.request().bytes = b.ceiling() - b.offset(); });
  mutant("a block lives until its bytes are used again",
         [](Draft&, Block b) { b.request().end = b.next_use(); });
  mutant("an empty list", [](Draft& d, Block) { d = {.what = d.what, .requests = {}, .offsets = {}}; });
  mutant("a pool larger than need be", [](Draft& d, Block) { d.pool += 1; });

  // Each invalid for one reason alone.
  mutant("a block reaches one byte too far",
         [](Draft&, Block b) { b.request().bytes = b.ceiling() - b.offset() + 1; });
  mutant("a block lives one step too long, if its bytes are used again", [](Draft&, Block b) {
    const Index next = b.next_use();
    if (next != b.request().end) b.request().end = next + 1;
  });
  mutant("a pool one byte too small", [](Draft& d, Block) { d.pool -= 1; });
  mutant("a block just past the end of the pool", [](Draft& d, Block b) { b.offset() = round_up(d.pool); });
  mutant("a block so far up that its end overflows",
         [](Draft&, Block b) { b.offset() = std::numeric_limits<Index>::max() / alignment * alignment; });
  mutant("a block below the pool", [](Draft&, Block b) { b.offset() = -alignment; });
  mutant("a block so far down that it wraps around",
         [](Draft&, Block b) { b.offset() = std::numeric_limits<Index>::min(); });
  mutant("a block at the top, one byte off alignment", [](Draft& d, Block b) {
    b.offset() = round_up(d.pool) + 1;
    d.pool = b.upper();
  });
  mutant("a block at the top, off alignment by half", [](Draft& d, Block b) {
    b.offset() = round_up(d.pool) + alignment / 2;
    d.pool = b.upper();
  });
  mutant("a block on the one of its time that starts farthest away",
         [](Draft&, Block b) { b.offset() = b.offset_of_farthest(); });
  mutant("a block twice", [](Draft& d, Block b) { append(d, Request(b.request()), Index{b.offset()}); });
  mutant("a block of one byte and one step inside another", [](Draft& d, Block b) {
    const auto [bytes, start, end] = b.request();
    const Index inside = (bytes - 1) / 2 / alignment * alignment;
    append(d, {1, start + (end - start - 1) / 2, start + (end - start - 1) / 2 + 1}, b.offset() + inside);
  });
  mutant("a block that lasts all the time, on another",
         [](Draft& d, Block b) { append_lasting(d, b.offset()); });
  for (Index i = 0; i < random_moves; ++i) {
    mutant("a block moved anywhere in the pool", [&](Draft& d, Block b) {
      b.offset() = rng.integer(0, (d.pool - b.request().bytes) / alignment) * alignment;
    });
  }
  return out;
}

}  // namespace assay::memory_pool
