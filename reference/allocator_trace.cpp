#include "assay/ops/allocator_trace.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

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
  std::string text() const { return file + ":" + std::to_string(line); }
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw Error(text(), what, remedy);
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

Index count_requests(const std::filesystem::path& file) {
  return for_each_request(file, [](const Request&) {});
}

}  // namespace assay::allocator_trace
