#include "assay/ops/batch_retrieval.hpp"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;
using Input = BatchRetrieval::Input;
using Output = BatchRetrieval::Output;

void naive(const Problem& p, const Input& in, Output& out) {
  const RecordFile& file = in.records.file;
  std::byte* to = out.batch.data();
  for (const Index i : in.window()) {
    std::memcpy(to, file.record(i), static_cast<std::size_t>(p.bytes));
    to += p.bytes;
  }
  in.records.end_call();
}

/// Indices of all windows: 8 MiB where the file has that many records, so that windows repeat late; at least
/// two windows, so that a kernel that keeps the first is caught.
Index windows_of(const Problem& p) {
  constexpr Index most_indices = Index{1} << 20;
  return std::max<Index>(2, std::min(most_indices, 4 * p.records) / p.batch);
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>(
      {.name = "naive",
       .summary = "one copy per index, in their order",
       .run = naive,
       .unfit = [](const Problem& p, const Context&) { return no_such_file_state(p.state()); }});
}};

}  // namespace

std::vector<Problem> BatchRetrieval::corner_cases() {
  return {
      {.records = 1, .bytes = 1, .batch = 1},
      {.records = 1, .bytes = 7, .batch = 5},
      {.records = 2, .bytes = 64, .batch = 3, .repeats = 50},
      {.records = 31, .bytes = 63, .batch = 17},
      {.records = 100, .bytes = 64, .batch = 33},
      {.records = 97, .bytes = 65, .batch = 64, .repeats = 25},
      {.records = 64, .bytes = 1, .batch = 64},
      {.records = 50, .bytes = 257, .batch = 31, .repeats = 100},
      {.records = 200, .bytes = 1024, .batch = 129, .repeats = 10},
      // Records that cross pages, and take several.
      {.records = 23, .bytes = 4097, .batch = 11, .repeats = 20},
      {.records = 9, .bytes = 10000, .batch = 8},
      // Beyond the size below which a threaded variant stays on one thread.
      {.records = 300, .bytes = 512, .batch = 2100},
      {.records = 40, .bytes = 1024, .batch = 13, .cache = 1, .repeats = 20},
      {.records = 7, .bytes = 5000, .batch = 9, .cache = 1},
      {.records = 500, .bytes = 64, .batch = 300, .cache = 1},
      // A file of which it is seen whether its pages stay.
      {.records = 400, .bytes = 1024, .batch = 150, .cache = 1},
  };
}

double BatchRetrieval::footprint(const Problem& p) {
  const double bytes = static_cast<double>(p.bytes), batch = static_cast<double>(p.batch);
  // A cold file takes memory only for what a call touches, at worst all of it.
  return static_cast<double>(p.records) * bytes + batch * bytes +
         8 * batch * static_cast<double>(windows_of(p));
}

auto BatchRetrieval::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{.records = KnownRecords::open({.records = p.records, .bytes = p.bytes}, p.state(), setting),
           .indices = setting.buffer<Index>(windows_of(p) * p.batch),
           .turn = setting.buffer<std::uint64_t>(1),
           .batch = p.batch};
  Rng& rng = setting.rng;
  for (Index at = 0; at < in.indices.size(); ++at) {
    const Index place = at % p.batch;
    const bool repeat = place > 0 && rng.integer(0, 99) < p.repeats;
    in.indices[at] = repeat ? in.indices[at - rng.integer(1, place)] : rng.integer(0, p.records - 1);
  }
  in.turn[0] = rng.next();
  return in;
}

auto BatchRetrieval::expect(const Problem&, const Input&, Setting&) -> Expected { return {}; }

Agreement BatchRetrieval::judge(const Problem& p, const Input& in, const Expected&, const Output& out) {
  Agreement outcome{.compared = out.batch.size(), .total = out.batch.size()};
  outcome.detail = in.records.fault_of_pages();
  outcome.agrees = outcome.detail.empty();
  if (!outcome.agrees) return outcome;
  const auto size = static_cast<std::size_t>(p.bytes);
  std::vector<std::byte> want(size);
  // Says for a message which of the batch's records a wrong one is.
  const auto stands_at = [&](std::span<const std::byte> wrong) -> std::string {
    for (const Index i : in.window()) {
      in.records.expected(i, want);
      if (std::ranges::equal(want, wrong)) return "it is record " + std::to_string(i);
    }
    return "it is no record of this batch";
  };
  const std::byte* row = out.batch.data();
  for (Index b = 0; b < p.batch; ++b, row += size) {
    const Index i = in.window()[static_cast<std::size_t>(b)];
    in.records.expected(i, want);
    if (std::memcmp(row, want.data(), size) == 0) continue;
    const auto differs = std::ranges::mismatch(want, std::span(row, size));
    const Index column = differs.in1 - want.begin();
    outcome.agrees = false;
    outcome.detail = Shape{"batch", {p.batch, p.bytes}}.element(b * p.bytes + column) + " is " +
                     std::to_string(std::to_integer<int>(*differs.in2)) + " instead of " +
                     std::to_string(std::to_integer<int>(*differs.in1)) + " of record " + std::to_string(i) +
                     "; " + stands_at({row, size});
    return outcome;
  }
  return outcome;
}

Cost BatchRetrieval::cost(const Problem& p) {
  const double bytes = static_cast<double>(p.batch) * static_cast<double>(p.bytes);
  // A record that is asked for again need not be read again.
  return {.bytes_read = bytes + 8 * static_cast<double>(p.batch),
          .bytes_written = bytes,
          .avoidable_bytes = bytes - static_cast<double>(p.bytes)};
}

auto BatchRetrieval::problem_of(const std::filesystem::path& file) -> Problem {
  const RecordShape shape = RecordFile(file).shape();
  return {.records = shape.records, .bytes = shape.bytes, .batch = std::min<Index>(256, shape.records)};
}

template class detail::TypedOperation<BatchRetrieval>;

}  // namespace assay
