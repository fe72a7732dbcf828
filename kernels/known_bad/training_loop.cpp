// Faults of training loops whose work around the kernels was made cheaper.

#include "assay/ops/training_loop.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/ops/logging.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

// Common when logging is made cheap: lines are gathered, written when there are enough of them, and once more
// after the loop. An exception leaves the loop past that line, and the log ends before the lines about it.
void lost_tail(const Logging::Problem& p, const Logging::Input& in, Logging::Output& out) {
  std::string gathered;
  in.file->clear();
  const auto log = [&](Index batch, float loss) {
    if (batch % p.every != 0 && batch != p.batches) return;
    char line[logging::line_bytes];
    logging::format(batch, loss, line);
    gathered.append(line, sizeof line);
    if (gathered.size() < 16 * sizeof line) return;
    in.file->append(gathered);
    gathered.clear();
  };
  try {
    logging::train(p, in, log);
    in.file->append(gathered);
  } catch (const logging::Stopped&) {
  }
  logging::read_back(p, *in.file, out);
}

// Common when waiting is found to be expensive: the numbers are read from where the queue writes them,
// without asking whether it has. A line is a step late, or two, and the last of an epoch misses a step. Here
// the reads come before the step that they belong to, so that each call does the same.
void read_without_waiting(const LossReadback::Problem& p, const LossReadback::Input& in,
                          LossReadback::Output& out) {
  loss_readback::State state;
  std::uint64_t batch = 0;
  for (Index step = 0; step < p.steps; ++step) {
    out.loss[step / p.every] = state.loss;
    out.correct[step / p.every] = state.correct;
    state = loss_readback::after(state, in.seed[step], p.grain);
    batch = loss_readback::prepared(batch, in.seed[step], p.host);
  }
  out.batch[0] = batch;
}

// Common when a thread of its own copies: it copies the next batch once it is done with this one, into the
// staging area that is still being read. Half of the batch is then worked on as the next one. Luck decides
// which half; here the copy comes when the work is half done, so that each call does the same.
void one_stage_for_two(const StagedCopy::Problem& p, const StagedCopy::Input& in, StagedCopy::Output& out) {
  std::vector<float> stage(in.x.begin(), in.x.begin() + p.n);
  const Index half = p.n / 2;
  for (Index b = 0; b < p.batches; ++b) {
    float* const y = out.y.data() + b * p.n;
    staged_copy::consume(p.rounds, stage.data(), half, y);
    if (b + 1 < p.batches) std::copy_n(in.x.data() + (b + 1) * p.n, p.n, stage.begin());
    staged_copy::consume(p.rounds, stage.data() + half, p.n - half, y + half);
  }
}

// Common when the allocation per batch is taken out of a loop: the state is made anew when the size of a
// batch changes and zeroed when it does not, but the short last batch fits into the old state and starts from
// its first rows. Where the batches divide the samples nothing is wrong.
void stale_short_batch(const StateBuffers::Problem& p, const StateBuffers::Input& in,
                       StateBuffers::Output& out) {
  std::vector<float> state(static_cast<std::size_t>(std::min(p.batch, p.samples) * p.hidden), 0.0F);
  for (Index first = 0; first < p.samples; first += p.batch) {
    const Index rows = std::min(p.batch, p.samples - first);
    if (rows == p.batch) std::ranges::fill(state, 0.0F);
    state_buffers::advance(p, in.x.data() + first * p.hidden, rows, state.data(),
                           out.y.data() + first * p.hidden);
  }
}

// Common where a deep copy is replaced by a shallow one: adding a column is harmless, but the derived table
// changes a column that it shares, and the original changes with it.
void aliased_column(const TableCopy::Problem& p, const TableCopy::Input& in, TableCopy::Output& out) {
  std::vector<float> added(static_cast<std::size_t>(p.rows));
  const auto original = [&](Index c) { return in.table.data() + c * p.rows; };
  // A language with references to arrays needs no cast for this.
  float* const first = const_cast<float*>(original(0));
  for (Index row = 0; row < p.rows; ++row) {
    added[static_cast<std::size_t>(row)] = first[row] + original(p.columns - 1)[row];
  }
  for (Index row = 0; row < p.rows; ++row) first[row] *= 2;
  table_copy::read(p, p.columns, original, out.original);
  table_copy::read(
      p, p.columns + 1, [&](Index c) { return c < p.columns ? original(c) : added.data(); }, out.read);
}

// Common when repeated concatenation is replaced: the array is made once, with the type of the first piece. A
// later piece of a wider type is rounded into it, without a word.
void type_of_first_piece(const Concatenate::Problem& p, const Concatenate::Input& in,
                         Concatenate::Output& out) {
  concatenate::for_each_piece(p, in, [&](Index place, const auto* numbers, Index length) {
    for (Index i = 0; i < length; ++i) {
      const auto number = static_cast<float>(numbers[i]);  // the first piece is f32
      if (p.widens()) {
        out.wide[place + i] = number;
      } else {
        out.narrow[place + i] = number;
      }
    }
  });
}

// Common when a loop over samples is turned into one call: the normalization in its body is batched, too, and
// takes its mean over all samples, as batch normalization does. It is right for one sample.
void mean_of_batch(const SmallProducts::Problem& p, const SmallProducts::Input& in,
                   SmallProducts::Output& out) {
  SmallProducts::Problem one = p;
  one.rows *= std::exchange(one.samples, 1);
  SmallProducts::naive(one, in, out);
}

// Common where memory is short: weights are kept in bf16, without a master copy. An update of a thousandth of
// a weight is less than half the distance to the next bf16 and is rounded away: training stands still.
void bf16_weights(const MixedPrecision::Problem& p, const MixedPrecision::Input& in,
                  MixedPrecision::Output& out) {
  const auto x = [&](Index i, Index l) { return bf16::rounded(in.x[i * p.k + l]); };
  const auto x_turned = [&](Index l, Index i) { return x(i, l); };
  const auto w = [&](Index l, Index j) { return bf16::rounded(in.w[l * p.n + j]); };
  const auto dy = [&](Index i, Index j) { return bf16::rounded(in.dy[i * p.n + j]); };
  matrix::multiply(x, w, p.m, p.n, p.k, out.y.data());
  for (Index l = 0; l < p.k; ++l) {
    for (Index j = 0; j < p.n; ++j) {
      const float gradient = matrix::element<float>(x_turned, dy, l, j, p.m);
      out.w_next[l * p.n + j] = bf16::rounded(w(l, j) - static_cast<float>(MixedPrecision::rate) * gradient);
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<Logging>(
      {.name = "lost_tail",
       .summary = "lines gathered, and written when the loop ends well",
       .known_bad = "buffered logs without a flush on the way out: the last lines before a crash are lost",
       .run = lost_tail});
  r.add<LossReadback>({.name = "read_without_waiting",
                       .summary = "the state as it is when a line is printed",
                       .known_bad = "reads of an asynchronous result that do not wait for it: a step late",
                       .run = read_without_waiting});
  r.add<StagedCopy>({.name = "one_stage_for_two",
                     .summary = "the next batch copied over the one in use",
                     .known_bad = "an asynchronous copy with one staging area: a race, here in a fixed order",
                     .run = one_stage_for_two});
  r.add<StateBuffers>(
      {.name = "stale_short_batch",
       .summary = "one state for all batches, zeroed for full ones",
       .known_bad = "PyTorch LSTM task analysis: the short last batch starts from the state before",
       .run = stale_short_batch});
  r.add<TableCopy>({.name = "aliased_column",
                    .summary = "all columns shared, one of them changed",
                    .known_bad = "PyTorch LSTM task analysis: a shallow copy of a table that is written to",
                    .run = aliased_column});
  r.add<Concatenate>(
      {.name = "type_of_first_piece",
       .summary = "one array of the first piece's type",
       .known_bad = "VoxCeleb trainer guide: a preallocated array rounds pieces of a wider type",
       .run = type_of_first_piece});
  r.add<SmallProducts>(
      {.name = "mean_of_batch",
       .summary = "one product, and one mean over the rows of all samples",
       .known_bad = "VoxCeleb trainer guide: batching a loop whose layers are not all per sample",
       .run = mean_of_batch});
  r.add<MixedPrecision>(
      {.name = "bf16_weights",
       .summary = "weights kept in bf16 as well",
       .known_bad = "pure bf16 training: updates below half a unit of bf16 are rounded away",
       .precision = "weights of bf16",
       .run = bf16_weights});
}};

}  // namespace
}  // namespace assay
