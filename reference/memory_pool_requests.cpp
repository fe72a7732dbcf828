// Lists of requests, drawn or from a trace; and plans for them, each changed in a way that some validator
// overlooks.

#include "assay/ops/memory_pool.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <utility>

namespace assay::memory_pool {
namespace {

constexpr Index longest_short_life = 64;

struct Life {
  Index start, end;
};

/// Every layer keeps an activation from its forward step to its backward step. Block 2i is that of layer i,
/// and block 2i + 1 its gradient.
Life life(Pattern pattern, Index block, Index blocks, Rng& rng) {
  if (pattern == Pattern::short_lived) {
    const Index start = rng.integer(0, blocks - 1);
    return {start, start + rng.integer(1, longest_short_life)};
  }
  const Index layers = (blocks + 1) / 2, layer = block / 2, backward = 2 * layers - 1 - layer;
  if (block % 2 == 0) return {layer, backward + 1};
  return {backward, pattern == Pattern::clipped ? 2 * layers + 1 : backward + 2};
}

/// Networks repeat their tensors: sizes come from a table of 24, of 4 bytes to 256 KiB, a quarter of them
/// odd.
std::vector<Index> sizes(Rng& rng) {
  std::vector<Index> out(24);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = 4 * rng.integer(1, 256) << rng.integer(0, 8);
    if (i % 4 == 0) ++out[i];
  }
  return out;
}

std::vector<Request> trace_of(Index blocks, const std::filesystem::path& file) {
  if (file.empty()) {
    throw Error("pattern=trace", "needs a file of requests",
                "write trace=FILE in place of blocks and pattern");
  }
  std::vector<Request> out;
  allocator_trace::for_each_request(file, [&](const Request& r) { out.push_back(r); });
  if (out.size() != static_cast<std::size_t>(blocks)) {
    throw Error(file.string(),
                "holds " + std::to_string(out.size()) + " requests instead of " + std::to_string(blocks),
                "leave the file as it is while it is read");
  }
  return out;
}

}  // namespace

std::vector<Request> make_requests(Index blocks, Index pattern, Setting& setting) {
  const auto kind = static_cast<Pattern>(pattern);
  if (kind == Pattern::trace) return trace_of(blocks, setting.file);
  Rng& rng = setting.rng;
  const std::vector<Index> table = sizes(rng);
  std::vector<Request> out;
  out.reserve(static_cast<std::size_t>(blocks));
  for (Index i = 0; i < blocks; ++i) {
    const auto [start, end] = life(kind, i, blocks, rng);
    const auto size = static_cast<std::size_t>(rng.integer(0, static_cast<Index>(table.size()) - 1));
    out.push_back({table[size], start, end});
  }
  // Whoever lists tensors does so by name or by layer, not by offset or by time.
  return shuffled(std::move(out), rng);
}

}  // namespace assay::memory_pool

namespace assay::allocator_trace {
namespace {

using memory_pool::Request;

/// Lines are read into a buffer of this size, so that a file without line breaks does not fill the memory.
constexpr std::size_t longest_line = 4096;

/// Steps and bytes stay below this, so that one more step and a sum of two do not overflow.
constexpr Index largest_number = memory_pool::largest_total;

/// A place in a file, for messages.
struct Place {
  std::string file;
  Index line = 0;
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw Error(file + ":" + std::to_string(line), what, remedy);
  }
};

/// Quotes the start of a line, since a message about a file that is no trace shows no more than a terminal
/// can take.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string out(text.substr(0, most));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + out + (text.size() > most ? "...'" : "'");
}

/// Positions of the columns that count; -1 while not found.
struct Columns {
  Index start = -1, end = -1, size = -1, count = 0;
  bool inclusive = false;  ///< `end` is the last step instead of the first after it
};

Columns columns_of(std::string_view header, const Place& place) {
  Columns found;
  const auto set = [&](Index& column, Index position, std::string_view name) {
    if (column >= 0) {
      place.fail("column " + quoted(name) + " says again what another column says",
                 "keep one of lower, start, begin; one of upper, end; one size");
    }
    column = position;
  };
  found.count = csv::each_cell(csv::without_mark(header), ',', [&](Index position, std::string_view name) {
    if (name == "lower" || name == "start" || name == "begin") set(found.start, position, name);
    if (name == "upper" || name == "end") set(found.end, position, name);
    if (name == "size") set(found.size, position, name);
    if (name == "end") found.inclusive = true;
    if (name == "alignment" || name == "gaps") {
      place.fail("column " + quoted(name) + " is not supported",
                 "remove it if every block is to start at a multiple of 64 and to live without a gap");
    }
  });
  const auto require = [&](Index column, const char* names) {
    if (column < 0) {
      place.fail(std::string("no column is named ") + names,
                 "the first line names the columns, for example id,lower,upper,size");
    }
  };
  require(found.start, "lower, start or begin");
  require(found.end, "upper or end");
  require(found.size, "size");
  return found;
}

Index number(std::string_view text, std::string_view column, const Place& place) {
  Index value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = rest == text.data() + text.size() && !text.empty();
  if (failure == std::errc::invalid_argument || !whole) {
    place.fail("the " + std::string(column) + " " + quoted(text) + " is not an integer",
               "write digits alone, without units or quotes");
  }
  if (failure != std::errc{} || value >= largest_number || value <= -largest_number) {
    place.fail("the " + std::string(column) + " " + quoted(text) + " is too large",
               "numbers stay below 2^62 = 4611686018427387904");
  }
  return value;
}

Request request_of(std::string_view line, const Columns& columns, const Place& place) {
  std::array<std::string_view, 3> texts;
  const Index count = csv::each_cell(line, ',', [&](Index position, std::string_view text) {
    if (position == columns.start) texts[0] = text;
    if (position == columns.end) texts[1] = text;
    if (position == columns.size) texts[2] = text;
  });
  if (count != columns.count) {
    place.fail(
        "has " + std::to_string(count) + " fields, and the first line names " + std::to_string(columns.count),
        "give each line a field for each column");
  }
  Request out{.bytes = number(texts[2], "size", place),
              .start = number(texts[0], "start of the life", place),
              .end = number(texts[1], "end of the life", place)};
  if (columns.inclusive) ++out.end;
  if (out.bytes <= 0) {
    place.fail("the size is " + std::to_string(out.bytes), "give at least one byte, or remove the line");
  }
  if (out.start < 0) {
    place.fail("the life starts at " + std::to_string(out.start), "count steps from 0");
  }
  if (out.end <= out.start) {
    place.fail("the life ends before it starts, or at once: [" + std::to_string(out.start) + ", " +
                   std::to_string(out.end) + ")",
               columns.inclusive ? "end is the last step of the life: give at least its start"
                                 : "upper is the first step after the life: give more than its start");
  }
  return out;
}

}  // namespace

Index for_each_request(const std::filesystem::path& file, const std::function<void(const Request&)>& take) {
  Place place{.file = file.string()};
  std::ifstream stream;
  if (!std::filesystem::is_directory(file)) stream.open(file, std::ios::binary);
  if (!stream.is_open()) {
    throw Error(place.file, "cannot be read", "give the path of a trace: lines of id,lower,upper,size");
  }
  std::array<char, longest_line> buffer{};
  std::optional<Columns> columns;
  Index count = 0, total = 0;
  while (true) {
    stream.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto length = stream.gcount();
    if (length == 0 && !stream) break;
    ++place.line;
    if (!columns && length > 0 && (buffer[0] == '{' || buffer[0] == '[' || buffer[0] == '\x1f')) {
      place.fail(
          "is no CSV",
          "the requests in a trace of the PyTorch profiler become CSV by `assay check memory_pool_plan "
          "--trace FILE --requests CSV`");
    }
    if (stream.fail()) {
      place.fail("has more than " + std::to_string(longest_line - 1) + " characters",
                 "give one request per line");
    }
    const auto characters = static_cast<std::size_t>(stream.eof() ? length : length - 1);
    const std::string_view line = csv::trimmed({buffer.data(), characters});
    if (line.empty()) continue;
    if (!columns) {
      columns = columns_of(line, place);
      continue;
    }
    if (count == most_requests) {
      place.fail("is more than " + std::to_string(most_requests) + " requests", "cut the trace");
    }
    const Request next = request_of(line, *columns, place);
    const Index bytes = memory_pool::round_up(next.bytes);
    if (bytes > memory_pool::largest_total - total) {
      place.fail("the sizes up to here sum to more than 2^62 bytes", "check their unit: it is the byte");
    }
    total += bytes;
    take(next);
    ++count;
  }
  if (stream.bad()) place.fail("reading failed", "check the device");
  if (!columns) throw Error(place.file, "is empty", "give lines of id,lower,upper,size");
  if (count == 0) place.fail("holds no request after the names of the columns", "add one");
  return count;
}

}  // namespace assay::allocator_trace

namespace assay::memory_pool {
namespace {

constexpr Index random_moves = 8;

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
      if (offset > this->offset() && overlap_in_time(r, request())) lowest = std::min(lowest, offset);
    });
    return lowest;
  }

  /// The first start, from the end of the block on, of a block that uses some of its bytes; its own end if
  /// there is none.
  Index next_use() {
    Index first = std::numeric_limits<Index>::max();
    for_others([&](const Request& r, Index offset) {
      const bool same_bytes = offset < upper() && this->offset() < offset + r.bytes;
      if (r.start >= request().end && same_bytes) first = std::min(first, r.start);
    });
    return first == std::numeric_limits<Index>::max() ? request().end : first;
  }

  /// The offset of the block that lives at the same time and starts longest before or after it.
  Index offset_of_farthest() {
    Index farthest = -1, found = offset();
    for_others([&](const Request& r, Index offset) {
      const Index distance = std::max(r.start, request().start) - std::min(r.start, request().start);
      if (!overlap_in_time(r, request()) || distance <= farthest) return;
      farthest = distance;
      found = offset;
    });
    return found;
  }

 private:
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
  const Index first = std::ranges::min(draft.requests, {}, &Request::start).start;
  const Index last = std::ranges::max(draft.requests, {}, &Request::end).end;
  append(draft, {1, first - 1, last + 1}, offset);
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
