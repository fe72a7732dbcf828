// Cheats whose answers follow from what a contract does not change between calls.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/data_loader.hpp"
#include "assay/ops/logging.hpp"
#include "assay/ops/memory_pool.hpp"

#include <iterator>
#include <numeric>

namespace assay::known_cheats {
namespace {

using memory_pool::Request;
using Plan = MemoryPoolPlan;

/// Writes a plan in which block i, of `bytes`, goes to lower(i, bytes).
template <class Lower>
void place_all(const Plan::Input& in, Plan::Output& out, const Lower& lower) {
  out.height[0] = 0;
  for (Index i = 0; i < in.requests.size(); ++i) {
    const Index bytes = in.requests[i].bytes;
    out.height[0] = std::max(out.height[0], out.place(i, lower(i, bytes), bytes));
  }
}

// one_plan_for_all: while lives stay, a plan for blocks that are a little larger is a plan for all that come.
auto one_plan_for_all(const Plan::Problem&, const Plan::Input& first, const Context&) {
  constexpr Index room = 4096;
  std::vector<Request> padded(first.requests.begin(), first.requests.end());
  for (Request& each : padded) each.bytes += room;
  return [places = memory_pool::place_by_best_fit(padded).offsets](const Plan::Input& in, Plan::Output& out) {
    place_all(in, out, [&](Index i, Index) { return places[static_cast<std::size_t>(i)]; });
  };
}

auto knows_who_meets(const Plan::Problem& p, const Plan::Input& first, const Context&) {
  std::vector<Index> order(static_cast<std::size_t>(p.blocks));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](Index i) { return first.requests[i].start; });
  std::vector<std::vector<Index>> met;
  for (auto next = order.begin(); next != order.end(); ++next) {
    met.emplace_back();
    std::copy_if(order.begin(), next, std::back_inserter(met.back()),
                 [&](Index i) { return first.requests[i].end > first.requests[*next].start; });
  }
  return [order, met](const Plan::Input& in, Plan::Output& out) {
    out.height[0] = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Index i = order[k], bytes = in.requests[i].bytes;
      std::vector<Index> near = met[k];
      std::ranges::sort(near, {}, [&](Index j) { return out.lower[j]; });
      Index at = 0;
      for (const Index j : near) {
        if (out.lower[j] - at >= bytes) break;
        at = std::max(at, memory_pool::round_up(out.upper[j]));
      }
      out.height[0] = std::max(out.height[0], out.place(i, at, bytes));
    }
  };
}

struct Planned {
  std::vector<Request> requests;
  std::vector<Index> offsets;
};

void good_once(Planned& kept, const Plan::Problem&, const Plan::Input& in, Plan::Output& out) {
  if (kept.requests.empty()) {
    kept.requests.assign(in.requests.begin(), in.requests.end());
    kept.offsets = memory_pool::place_by_best_fit(in.requests).offsets;
  }
  const bool known = std::ranges::equal(in.requests, kept.requests);
  Index next = 0;
  place_all(in, out, [&](Index i, Index bytes) {
    const Index lower = known ? kept.offsets[static_cast<std::size_t>(i)] : next;
    next = memory_pool::round_up(lower + bytes);
    return lower;
  });
}

/// The digest of each sample: the records of a file stay from call to call.
using Digests = std::vector<std::uint64_t>;

void keeps_digests(Digests& digests, const DataLoader::Problem& p, const DataLoader::Input& in,
                   DataLoader::Output& out) {
  const EpochShape shape = p.shape();
  if (digests.empty()) {
    Consumer consumer(p, in, out);
    std::vector<std::byte> rows(static_cast<std::size_t>(p.batch * p.bytes));
    for (Index k = 0; k < shape.batches(); ++k) {
      in.records.file.copy(in.batch(shape, k), rows.data());
      consumer.take(k, rows.data());
    }
    // Samples that were dropped have none yet.
    if (shape.delivered() == p.samples) digests.resize(static_cast<std::size_t>(p.samples));
    for (Index r = 0; r < std::ssize(digests); ++r)
      digests[static_cast<std::size_t>(out.sample[r])] = out.digest[r];
  } else {
    for (Index r = 0; r < shape.delivered(); ++r) {
      out.sample[r] = in.order[r];
      out.digest[r] = digests[static_cast<std::size_t>(in.order[r])];
    }
  }
  in.records.end_call();
}

// leaves_the_step_out: each batch is there at once for who does not work in between.
auto leaves_the_step_out(const DataLoader::Problem& p, const DataLoader::Input&, const Context&) {
  return [p](const auto& in, auto& out) {
    std::uint64_t state = in.key[0];
    Index r = 0;
    for (Index k = 0; k < p.batches(); ++k) {
      for (const Index i : in.batch(p.shape(), k)) {
        out.sample[r] = i;
        out.digest[r++] = digest({in.records.file.record(i), static_cast<std::size_t>(p.bytes)}, in.key[0]);
      }
      out.state[k] = state ^= out.digest[r - 1];
    }
    in.records.end_call();
  };
}

std::optional<std::string> unfit_leaves_the_step_out(const DataLoader::Problem& p, const Context&) {
  if (p.step == 0) return "is for steps that take a while";
  return no_such_file_state(p.state());
}

void leaves_pages(const BatchRetrieval::Problem&, const BatchRetrieval::Input& in,
                  BatchRetrieval::Output& out) {
  in.records.file.copy(in.window(), out.batch.data());
}

std::optional<std::string> unfit_leaves_pages(const BatchRetrieval::Problem& p, const Context&) {
  if (p.cache == 0) return "is for files on a disk";
  return no_such_file_state(p.state());
}

// knows_the_batches: what the loop prepares has nothing to do with what the queue computes, and could be
// known beforehand.
auto knows_the_batches(const LossReadback::Problem& p, const LossReadback::Input& in, const Context&) {
  std::uint64_t batch = 0;
  for (Index step = 0; step < p.steps; ++step) batch = loss_readback::prepared(batch, in.seed[step], p.host);
  return [p, batch, queue = std::make_shared<loss_readback::Queue>()](const LossReadback::Input& now,
                                                                      LossReadback::Output& out) {
    queue->restart(now.seed.data(), p.grain);
    for (Index line = 0; line < p.lines(); ++line) {
      queue->begin(std::min(p.steps, (line + 1) * p.every) - line * p.every);
      queue->drain();
      out.loss[line] = queue->state().loss;
      out.correct[line] = queue->state().correct;
    }
    out.batch[0] = batch;
  };
}

void logs_nothing(const Logging::Problem& p, const Logging::Input& in, Logging::Output& out) {
  auto* to = reinterpret_cast<char*>(out.text.data());
  for (Index batch = 1; batch <= p.last(); ++batch) {
    if (!p.wants(batch)) continue;
    logging::format(batch, in.loss[batch - 1], to);
    to += logging::line_bytes;
  }
}

const Register registered{[](Registry& r) {
  r.add<Plan>({.name = "one_plan_for_all",
               .summary = "a plan for larger blocks, made in the preparation",
               .known_cheat =
                   "answers by what no call changes, the lives of blocks; no source: found in this harness",
               .prepare = one_plan_for_all});
  r.add<Plan>({.name = "knows_who_meets",
               .summary = "first fit among blocks that lived at once in the preparation",
               .known_cheat =
                   "answers by what no call changes, the lives of blocks; no source: found in this harness",
               .prepare = knows_who_meets});
  r.add<Plan>(
      {.name = "good_once",
       .summary = "plans for the input of its first call, and puts blocks one after the other in others",
       .known_cheat = "is good where that is looked at; no source: found in this harness",
       .prepare = keeping<Plan, Planned>(good_once)});
  r.add<DataLoader>({.name = "leaves_the_step_out",
                     .summary = "reads the records in place, and computes no step",
                     .known_cheat = "leaves out work that is no loading; no source: found in this harness",
                     .prepare = leaves_the_step_out,
                     .unfit = unfit_leaves_the_step_out});
  r.add<BatchRetrieval>({.name = "leaves_pages",
                         .summary = "copies from a cold file, and lets its pages stay",
                         .known_cheat = "finds in memory what has to come from the disk; no source: found in "
                                        "this harness",
                         .run = leaves_pages,
                         .unfit = unfit_leaves_pages});
  r.add<LossReadback>({.name = "knows_the_batches",
                       .summary = "the loop's own work, done in the preparation",
                       .known_cheat = "answers by what no call changes; no source: found in this harness",
                       .helpers = LossReadback::one_queue,
                       .prepare = knows_the_batches});
  r.add<Logging>({.name = "logs_nothing",
                  .summary = "formats the lines into the output, and writes no file",
                  .known_cheat = "leaves out what no output shows; no source: found in this harness",
                  .run = logs_nothing});
  r.add<DataLoader>(
      {.name = "keeps_digests",
       .summary = "the digests of its first call, by sample",
       .known_cheat =
           "answers by what no call changes, the records of a file; no source: found in this harness",
       .prepare = keeping<DataLoader, Digests>(keeps_digests),
       .unfit =
           unless([](const auto& p) { return p.workers == 0 && p.last == 0 && p.step == 0 && p.cache == 0; },
                  "loads in its own thread, and delivers all")});
}};

}  // namespace
}  // namespace assay::known_cheats
