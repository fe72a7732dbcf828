#include "assay/ops/data_loader.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

namespace assay {

void generate_record(std::uint64_t key, Index i, std::span<std::byte> into) {
  std::uint64_t counter = key + static_cast<std::uint64_t>(i) * 0xd1342543de82ef95U;
  while (!into.empty()) {
    const std::uint64_t z = splitmix64(counter);
    const std::size_t count = std::min(into.size(), sizeof z);
    std::memcpy(into.data(), &z, count);
    into = into.subspan(count);
  }
}

KnownRecords KnownRecords::open(RecordShape shape, FileState state, Setting& setting) {
  if (!setting.file.empty()) {
    KnownRecords own(RecordFile(setting.file), state, 0, true);
    // Through a mapping of its own, so that no page of the one that is timed is there before its first call.
    own.file.again(RecordFile::Pages::on_demand).verify();
    return own;
  }
  const std::uint64_t key = setting.rng.next();
  const auto size = static_cast<std::size_t>(shape.bytes);
  const auto where = state == FileState::cold ? RecordFile::Scratch::disk : RecordFile::Scratch::memory;
  KnownRecords out(RecordFile::scratch(where, shape,
                                       [&](Index first, std::span<std::byte> block) {
                                         for (; !block.empty(); block = block.subspan(size), ++first) {
                                           generate_record(key, first, block.first(size));
                                         }
                                       }),
                   state, key, false);
  if (state == FileState::cold) {
    out.file.drop_pages();
  } else {
    out.file.map_pages();
  }
  return out;
}

void KnownRecords::expected(Index i, std::span<std::byte> into) const {
  if (from_user_) {
    file.read(i, into);
  } else {
    generate_record(key_, i, into);
  }
}

std::string KnownRecords::fault_of_pages() const {
  if (state == FileState::hot) return "";
  // What was read ahead may arrive when its pages were dropped.
  constexpr Index small = 1 << 18;
  constexpr double little = 0.125;
  if (file.mapping().size() < small || file.mapping().resident() <= little) return "";
  return "calls left pages of the file in memory, which is cold before each of them: see end_call()";
}

void KnownRecords::end_call(const RecordFile& used) const {
  used.require_unchanged();
  if (state == FileState::cold) used.drop_pages();
}

std::optional<std::string> no_such_file_state(FileState state) {
  if (state == FileState::hot || scratch_disk_is_a_disk()) return std::nullopt;
  return "nothing can be cold here: $TMPDIR lies in memory; set it to a folder on a disk";
}

namespace {

void naive(const BatchRetrieval::Problem&, const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
  in.records.file.copy(in.window(), out.batch.data());
  in.records.end_call();
}

/// Indices of all windows: 8 MiB where the file has that many records, so that windows repeat late; at least
/// two windows, so that a kernel that keeps the first is caught.
Index windows_of(const BatchRetrieval::Problem& p) {
  constexpr Index most_indices = Index{1} << 20;
  return std::max<Index>(2, std::min(most_indices, 4 * p.records) / p.batch);
}

}  // namespace

const Corners BatchRetrieval::corners = {
    "records=1,bytes=1,batch=1", "records=1,bytes=7,batch=5", "records=2,bytes=64,batch=3,repeats=50",
    "records=31,bytes=63,batch=17", "records=100,bytes=64,batch=33",
    "records=97,bytes=65,batch=64,repeats=25", "records=64,bytes=1,batch=64",
    "records=50,bytes=257,batch=31,repeats=100", "records=200,bytes=1024,batch=129,repeats=10",
    // Records that cross pages, and take several.
    "records=23,bytes=4097,batch=11,repeats=20", "records=9,bytes=10000,batch=8",
    // Beyond the size below which a threaded variant stays on one thread.
    "records=300,bytes=512,batch=2100", "records=40,bytes=1024,batch=13,cache=cold,repeats=20",
    "records=7,bytes=5000,batch=9,cache=cold", "records=500,bytes=64,batch=300,cache=cold",
    // A file of which it is seen whether its pages stay.
    "records=400,bytes=1024,batch=150,cache=cold"};

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

auto BatchRetrieval::problem_of(const std::filesystem::path& file) -> Problem {
  const RecordShape shape = RecordFile(file).shape();
  return {.records = shape.records, .bytes = shape.bytes, .batch = std::min<Index>(256, shape.records)};
}

template class detail::TypedOperation<BatchRetrieval>;

namespace {

void shuffle_blocks(std::span<Index> order, Index block, Rng& rng) {
  const auto samples = static_cast<Index>(order.size());
  std::vector<Index> starts;
  for (Index start = 0; start < samples; start += block) starts.push_back(start);
  starts = shuffled(std::move(starts), rng);
  std::size_t group = 0, end = 0;
  for (std::size_t b = 0; b < starts.size(); ++b) {
    const Index stop = std::min(samples, starts[b] + block);
    for (Index i = starts[b]; i < stop; ++i) order[end++] = i;
    if ((b + 1) % static_cast<std::size_t>(blocks_mixed) != 0 && b + 1 < starts.size()) continue;
    shuffle(order.subspan(group, end - group), rng);
    group = end;
  }
}

/// Probability that m of n samples drawn without replacement miss a piece of n / m samples: hypergeometric.
double missed_by_a_batch(double n, double m) {
  const double rest = n - n / m;
  if (rest < m) return 0;
  return std::exp(std::lgamma(rest + 1) - std::lgamma(rest - m + 1) - std::lgamma(n + 1) +
                  std::lgamma(n - m + 1));
}

}  // namespace

void shuffle_into(std::span<Index> order, Shuffle shuffle, Index block, Rng& rng) {
  std::iota(order.begin(), order.end(), Index{0});
  if (shuffle == Shuffle::full) assay::shuffle(order, rng);
  if (shuffle == Shuffle::blocks) shuffle_blocks(order, block, rng);
}

double mixing(std::span<const Index> order, Index batch) {
  const auto samples = static_cast<Index>(order.size());
  const Index pieces = std::min(batch, samples);
  const Index batches = samples / pieces;
  std::vector<Index> seen_in(static_cast<std::size_t>(pieces), -1);
  double different = 0;
  for (Index k = 0; k < batches; ++k) {
    for (Index b = 0; b < pieces; ++b) {
      const auto sample = static_cast<double>(order[static_cast<std::size_t>(k * pieces + b)]);
      const double piece = sample * static_cast<double>(pieces) / static_cast<double>(samples);
      Index& seen = seen_in[static_cast<std::size_t>(std::min(piece, static_cast<double>(pieces - 1)))];
      different += seen != k ? 1 : 0;
      seen = k;
    }
  }
  return different / static_cast<double>(batches) /
         (static_cast<double>(pieces) *
          (1 - missed_by_a_batch(static_cast<double>(samples), static_cast<double>(pieces))));
}

namespace {

using Problem = DataLoader::Problem;
using Input = DataLoader::Input;
using Output = DataLoader::Output;
using Expected = DataLoader::Expected;

/// Loads in the thread that consumes, one record after the other; the workers of the problem are not used.
auto prepare_naive(const Problem& p, const Input&, const Context&) {
  const auto rows = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(p.batch * p.bytes));
  return [p, rows](const Input& in, Output& out) {
    const EpochShape shape = p.shape();
    Consumer consumer(p, in, out);
    for (Index k = 0; k < shape.batches(); ++k) {
      in.records.file.copy(in.batch(shape, k), rows->data());
      consumer.take(k, rows->data());
    }
    in.records.end_call();
  };
}

/// Whether every batch is there once, whole, and in its place where the order counts.
std::string fault_of_order(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const EpochShape shape = p.shape();
  std::vector<bool> seen(static_cast<std::size_t>(shape.batches()), false);
  Index r = 0;
  for (Index position = 0; position < shape.batches(); ++position) {
    const Index sample = out.sample[r];
    const std::string where = "sample[" + std::to_string(r) + "] ", is = "is " + std::to_string(sample);
    if (sample < 0 || sample >= p.samples) return where + is + ", which is no sample";
    const Index place = want.place[static_cast<std::size_t>(sample)], k = place / p.batch;
    if (place % p.batch != 0) return where + is + ", which starts no batch";
    const std::string batch = where + "starts batch " + std::to_string(k);
    if (p.in_order() && k != position) return batch + " where batch " + std::to_string(position) + " is due";
    if (k >= shape.batches()) return batch + ", which is to be dropped";
    if (seen[static_cast<std::size_t>(k)]) return batch + " a second time";
    seen[static_cast<std::size_t>(k)] = true;
    for (const Index i : in.batch(shape, k)) {
      if (r >= out.sample.size()) return batch + ", which runs past the end";
      if (out.sample[r] != i) {
        return "sample[" + std::to_string(r) + "] is " + std::to_string(out.sample[r]) + " instead of " +
               std::to_string(i) + " of batch " + std::to_string(k);
      }
      ++r;
    }
  }
  return {};
}

std::string fault_of_bytes(const Expected& want, const Output& out) {
  for (Index r = 0; r < out.digest.size(); ++r) {
    const Index i = out.sample[r];
    if (out.digest[r] == want.digest[static_cast<std::size_t>(i)]) continue;
    const auto other = std::ranges::find(want.digest, out.digest[r]);
    return "digest[" + std::to_string(r) + "] is not that of sample " + std::to_string(i) +
           (other == want.digest.end()
                ? ", nor of any other"
                : ", but that of sample " + std::to_string(other - want.digest.begin()));
  }
  return {};
}

/// Returns the first step whose state is wrong, of rows that are right; empty where there is none.
std::string fault_of_steps(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const std::uint32_t rounds = TaskGraph::rounds_of(static_cast<double>(p.step));
  std::uint64_t state = in.key[0];
  Index r = 0;
  for (Index j = 0; j < out.state.size(); ++j) {
    r += p.shape().size(want.place[static_cast<std::size_t>(out.sample[r])] / p.batch);
    state = TaskGraph::work(state ^ out.digest[r - 1], rounds);
    if (out.state[j] != state)
      return "state[" + std::to_string(j) + "] is not that of a step after its batch";
  }
  return {};
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "naive",
                         .summary = "one copy per index, in their order",
                         .run = naive,
                         .unfit = without_such_file});
  r.add<DataLoader>({.name = "naive",
                     .summary = "loads each batch when it is asked for, in the consuming thread",
                     .prepare = prepare_naive,
                     .unfit = without_such_file});
}};

}  // namespace

void Consumer::take(Index k, const std::byte* rows) {
  const auto size = static_cast<std::size_t>(shape_.bytes);
  for (const Index i : input_.batch(shape_, k)) {
    output_.sample[next_] = i;
    output_.digest[next_] = digest({rows, size}, input_.key[0]);
    ++next_;
    rows += size;
  }
  output_.state[batches_++] = state_ = TaskGraph::work(state_ ^ output_.digest[next_ - 1], rounds_);
}

const Corners DataLoader::corners = {
    "samples=1,bytes=1,batch=1", "samples=1,bytes=8,batch=3,workers=2", "samples=12,bytes=64,batch=4",
    "samples=12,bytes=64,batch=4,workers=1,prefetch=1", "samples=13,bytes=63,batch=4,workers=2,prefetch=1",
    "samples=13,bytes=63,batch=4,workers=2,last=drop", "samples=13,bytes=65,batch=4,workers=3,delivery=out",
    "samples=101,bytes=33,batch=7,workers=2,prefetch=3,delivery=out,last=drop",
    "samples=101,bytes=33,batch=7,workers=2,life=respawned",
    "samples=101,bytes=33,batch=7,workers=2,delivery=out,life=respawned,hold=memory",
    "samples=101,bytes=33,batch=7,workers=0,hold=memory",
    // More workers than batches.
    "samples=10,bytes=100,batch=5,workers=7,prefetch=1",
    "samples=300,bytes=1024,batch=16,workers=2,step=2000",
    "samples=300,bytes=16,batch=1,workers=2,prefetch=4",
    "samples=67,bytes=4097,batch=8,workers=2,hold=memory,shuffle=blocks,block=4",
    "samples=50,bytes=200,batch=8,workers=2,cache=cold,shuffle=none"};

double DataLoader::footprint(const Problem& p) {
  const double samples = static_cast<double>(p.samples), bytes = static_cast<double>(p.bytes);
  const double slots = static_cast<double>(std::max<Index>(1, p.workers * p.prefetch));
  return samples * bytes * (p.holds_memory() ? 2 : 1) + slots * static_cast<double>(p.batch) * bytes +
         48 * samples;
}

auto DataLoader::make_input(const Problem& p, Setting& setting) -> Input {
  if (p.shape().batches() == 0) {
    throw Error(std::string(name),
                "has no batch: last=drop drops the only one, so that nothing could be compared",
                "give more samples, a smaller batch, or last=keep");
  }
  Input in{.records = KnownRecords::open({.records = p.samples, .bytes = p.bytes}, p.state(), setting),
           .order = setting.buffer<Index>(p.samples),
           .key = setting.buffer<std::uint64_t>(1)};
  shuffle_into(in.order, static_cast<Shuffle>(p.shuffle), p.block, setting.rng);
  in.key[0] = setting.rng.next();
  return in;
}

auto DataLoader::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  const auto samples = static_cast<std::size_t>(p.samples);
  Expected want{std::vector<std::uint64_t>(samples), std::vector<Index>(samples)};
  std::vector<std::byte> record(static_cast<std::size_t>(p.bytes));
  for (Index i = 0; i < p.samples; ++i) {
    in.records.expected(i, record);
    want.digest[static_cast<std::size_t>(i)] = digest(record, in.key[0]);
    want.place[static_cast<std::size_t>(in.order[i])] = i;
  }
  return want;
}

Agreement DataLoader::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const Index numbers = 2 * out.sample.size() + out.state.size();
  Agreement outcome{.compared = numbers, .total = numbers};
  outcome.detail = in.records.fault_of_pages();
  if (outcome.detail.empty()) outcome.detail = fault_of_order(p, in, want, out);
  if (outcome.detail.empty()) outcome.detail = fault_of_bytes(want, out);
  if (outcome.detail.empty()) outcome.detail = fault_of_steps(p, in, want, out);
  outcome.agrees = outcome.detail.empty();
  return outcome;
}

auto DataLoader::problem_of(const std::filesystem::path& file) -> Problem {
  const RecordShape shape = RecordFile(file).shape();
  return {.samples = shape.records, .bytes = shape.bytes, .batch = std::min<Index>(256, shape.records)};
}

std::vector<Figure> DataLoader::figures(const Problem& p, const Input& in, const Expected&, const Output&) {
  return {{.name = "mixing by that of a full shuffle", .value = mixing(in.order, p.batch)}};
}

template class detail::TypedOperation<DataLoader>;

}  // namespace assay
