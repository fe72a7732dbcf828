#include "assay/ops/data_loader.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace assay {
namespace {

void fisher_yates(std::span<Index> items, Rng& rng) {
  for (auto left = static_cast<Index>(items.size()); left > 1; --left) {
    std::swap(items[static_cast<std::size_t>(left - 1)],
              items[static_cast<std::size_t>(rng.integer(0, left - 1))]);
  }
}

void shuffle_blocks(std::span<Index> order, Index block, Rng& rng) {
  const auto samples = static_cast<Index>(order.size());
  std::vector<Index> starts;
  for (Index start = 0; start < samples; start += block) starts.push_back(start);
  fisher_yates(starts, rng);
  std::size_t group = 0, end = 0;
  for (std::size_t b = 0; b < starts.size(); ++b) {
    const Index stop = std::min(samples, starts[b] + block);
    for (Index i = starts[b]; i < stop; ++i) order[end++] = i;
    if ((b + 1) % static_cast<std::size_t>(blocks_mixed) != 0 && b + 1 < starts.size()) continue;
    fisher_yates(order.subspan(group, end - group), rng);
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
  if (shuffle == Shuffle::full) fisher_yates(order, rng);
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

void spin(Index nanoseconds) {
  if (nanoseconds == 0) return;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanoseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// Loads in the thread that consumes, one record after the other; the workers of the problem are not used.
auto prepare_naive(const Problem& p, const Input&, const Context&) {
  const auto rows = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(p.batch * p.bytes));
  return [p, rows](const Input& in, Output& out) {
    const EpochShape shape = p.shape();
    Consumer consumer(p, in, out);
    for (Index k = 0; k < shape.batches(); ++k) {
      std::byte* to = rows->data();
      for (const Index i : in.batch(shape, k)) {
        std::memcpy(to, in.records.file.record(i), static_cast<std::size_t>(p.bytes));
        to += p.bytes;
      }
      consumer.take(k, rows->data());
    }
    in.records.end_call();
  };
}

/// Returns the batch that stands at position r of the output, or -1 with the reason.
Index batch_at(const Problem& p, const Expected& want, const Output& out, Index r, std::string& wrong) {
  const Index sample = out.sample[r];
  if (sample < 0 || sample >= p.samples) {
    wrong = "is " + std::to_string(sample) + ", which is no sample";
    return -1;
  }
  const Index place = want.place[static_cast<std::size_t>(sample)];
  if (place % p.batch != 0) {
    wrong = "is " + std::to_string(sample) + ", which starts no batch";
    return -1;
  }
  return place / p.batch;
}

/// Whether every batch is there once, whole, and in its place where the order counts.
std::string fault_of_order(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const EpochShape shape = p.shape();
  std::vector<bool> seen(static_cast<std::size_t>(shape.batches()), false);
  Index r = 0;
  for (Index position = 0; position < shape.batches(); ++position) {
    std::string wrong;
    const std::string where = "sample[" + std::to_string(r) + "] ";
    const Index k = batch_at(p, want, out, r, wrong);
    if (k < 0) return where + wrong;
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

const Register registered{[](Registry& r) {
  r.add<DataLoader>(
      {.name = "naive",
       .summary = "loads each batch when it is asked for, in the consuming thread",
       .prepare = prepare_naive,
       .unfit = [](const Problem& p, const Context&) { return no_such_file_state(p.state()); }});
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
  spin(step_);
}

std::vector<Problem> DataLoader::corner_cases() {
  return {
      {.samples = 1, .bytes = 1, .batch = 1},
      {.samples = 1, .bytes = 8, .batch = 3, .workers = 2},
      {.samples = 12, .bytes = 64, .batch = 4},
      {.samples = 12, .bytes = 64, .batch = 4, .workers = 1, .prefetch = 1},
      {.samples = 13, .bytes = 63, .batch = 4, .workers = 2, .prefetch = 1},
      {.samples = 13, .bytes = 63, .batch = 4, .workers = 2, .last = 1},
      {.samples = 13, .bytes = 65, .batch = 4, .workers = 3, .delivery = 1},
      {.samples = 101, .bytes = 33, .batch = 7, .workers = 2, .prefetch = 3, .delivery = 1, .last = 1},
      {.samples = 101, .bytes = 33, .batch = 7, .workers = 2, .life = 1},
      {.samples = 101, .bytes = 33, .batch = 7, .workers = 2, .delivery = 1, .life = 1, .hold = 1},
      {.samples = 101, .bytes = 33, .batch = 7, .workers = 0, .hold = 1},
      // More workers than batches.
      {.samples = 10, .bytes = 100, .batch = 5, .workers = 7, .prefetch = 1},
      {.samples = 300, .bytes = 1024, .batch = 16, .workers = 2, .step = 2000},
      {.samples = 300, .bytes = 16, .batch = 1, .workers = 2, .prefetch = 4},
      {.samples = 67, .bytes = 4097, .batch = 8, .workers = 2, .hold = 1, .shuffle = 1, .block = 4},
      {.samples = 50, .bytes = 200, .batch = 8, .workers = 2, .cache = 1, .shuffle = 2},
  };
}

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
  Agreement outcome{.compared = 2 * out.sample.size(), .total = 2 * out.sample.size()};
  outcome.detail = in.records.fault_of_pages();
  if (outcome.detail.empty()) outcome.detail = fault_of_order(p, in, want, out);
  if (outcome.detail.empty()) outcome.detail = fault_of_bytes(want, out);
  outcome.agrees = outcome.detail.empty();
  return outcome;
}

Cost DataLoader::cost(const Problem& p) {
  const double delivered = static_cast<double>(p.shape().delivered());
  return {.bytes_read = delivered * static_cast<double>(p.bytes + 8), .bytes_written = 16 * delivered};
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
