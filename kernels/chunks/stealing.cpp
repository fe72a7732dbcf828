// The idea: shares of equal counts at first. The owner takes tasks from the front of its share; a thread
// without tasks takes the rear half of another share. Both ends of a share are one word, so each task is
// taken once. No thread waits for a thread that does not come: its share is taken as well.

#include "task_graph/crew.hpp"

#include "assay/ops/training_loop.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace assay::chunks {
namespace {

struct alignas(task_graph::apart) Share {
  std::atomic<std::uint64_t> ends{0};
};

constexpr std::uint64_t joined(std::uint64_t begin, std::uint64_t end) { return begin << 32 | end; }
constexpr std::uint64_t begin_of(std::uint64_t ends) { return ends >> 32; }
constexpr std::uint64_t end_of(std::uint64_t ends) { return ends & 0xffffffffU; }

/// Takes the first task; -1 when there is none.
Index take(Share& share) {
  std::uint64_t ends = share.ends.load();
  while (begin_of(ends) < end_of(ends)) {
    if (share.ends.compare_exchange_weak(ends, joined(begin_of(ends) + 1, end_of(ends)))) {
      return static_cast<Index>(begin_of(ends));
    }
  }
  return -1;
}

/// Moves the rear half of a share, at least one task, to an empty share. No other thread sees a task while it
/// moves; it runs on the thread that moves it.
bool steal(Share& from, Share& to) {
  std::uint64_t ends = from.ends.load();
  while (begin_of(ends) < end_of(ends)) {
    const std::uint64_t middle = begin_of(ends) + (end_of(ends) - begin_of(ends)) / 2;
    if (from.ends.compare_exchange_weak(ends, joined(begin_of(ends), middle))) {
      to.ends.store(joined(middle, end_of(ends)));
      return true;
    }
  }
  return false;
}

const Register registered{[](Registry& r) {
  const auto prepare = [](const Chunks::Problem& p, const auto&, const Context& context) {
    const int threads = context.threads;
    const auto crew = std::make_shared<task_graph::Crew>(threads);
    return
        [=, all = std::vector<Share>(static_cast<std::size_t>(threads))](const auto& in, auto& out) mutable {
          for (int part = 0; part < threads; ++part) {
            all[static_cast<std::size_t>(part)].ends =
                joined(static_cast<std::uint64_t>(p.n * part / threads),
                       static_cast<std::uint64_t>(p.n * (part + 1) / threads));
          }
          crew->run([&](int part) {
            Share& own = all[static_cast<std::size_t>(part)];
            for (bool found = true; found;) {
              for (Index i = take(own); i >= 0; i = take(own)) work(p, in, i, i + 1, out);
              found = false;
              for (int other = 1; other < threads && !found; ++other) {
                found = steal(all[static_cast<std::size_t>((part + other) % threads)], own);
              }
            }
          });
        };
  };
  r.add<Chunks>({.name = "stealing",
                 .summary = "equal counts at first; who is done takes half of what another one has left",
                 .threaded = true,
                 .prepare = prepare});
}};

}  // namespace
}  // namespace assay::chunks
