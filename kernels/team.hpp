// A fork and join over OpenMP's pool of threads, in a form that ThreadSanitizer understands.
//
// ThreadSanitizer sees only instrumented code. libgomp is not instrumented, so its fork and join order
// nothing for ThreadSanitizer, and every parallel region looks like a race with the code around it. The two
// atomics below state the same order again, visibly; suppressions would hide real races too. A few
// compiler-made instructions pass arguments into the region before the atomics; no_sanitize on fork_and_join,
// which GCC applies to the region's body, hides them. Clang's OpenMP run-time informs ThreadSanitizer itself
// if its tool libarcher is loaded.
#pragma once

#include "blocks.hpp"

#include "assay/registry.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <string_view>

#if defined(__SANITIZE_THREAD__)
#define ASSAY_SANITIZES_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ASSAY_SANITIZES_THREADS 1
#endif
#endif
#ifdef ASSAY_SANITIZES_THREADS
#define ASSAY_UNSEEN_BY_THREAD_SANITIZER __attribute__((no_sanitize("thread"), noinline))
#else
#define ASSAY_UNSEEN_BY_THREAD_SANITIZER
#endif

namespace assay {
namespace detail {

struct Team {
  std::atomic<int> forked{0};
  std::atomic<int> joined{0};
};

template <class Body>
void run_member(Team& team, const Body& body, int parts, int member, int members) {
  team.forked.load(std::memory_order_acquire);
  for (int part = member; part < parts; part += members) body(part);
  team.joined.fetch_add(1, std::memory_order_release);
}

template <class Body>
ASSAY_UNSEEN_BY_THREAD_SANITIZER void fork_and_join(Team& team, const Body& body, int parts, int threads) {
#pragma omp parallel num_threads(threads)
  run_member(team, body, parts, omp_get_thread_num(), omp_get_num_threads());
}

}  // namespace detail

/// Calls body(part) once for each part in [0, parts) on at most `threads` threads, and returns when all are
/// done. OpenMP may grant fewer threads; the parts are then shared among those. The body must not throw.
template <class Body>
void on_team(int threads, int parts, const Body& body) {
  if (threads <= 1 || parts <= 1) {
    for (int part = 0; part < parts; ++part) body(part);
    return;
  }
  detail::Team team;
  team.forked.store(1, std::memory_order_release);
  detail::fork_and_join(team, body, parts, threads < parts ? threads : parts);
  team.joined.load(std::memory_order_acquire);
}

/// The beginning of the share of `part` of `parts` of n floats: a cache line of an aligned array, so that no
/// two threads write to one line.
inline Index share_begin(Index n, Index part, Index parts) { return cut(n, 64 / sizeof(float), part, parts); }

/// Calls body(first, last) for each thread's share of n elements.
template <class Body>
void on_shares(int threads, Index n, const Body& body) {
  on_team(threads, threads,
          [&](int part) { body(share_begin(n, part, threads), share_begin(n, part + 1, threads)); });
}
/// The same for n rows, of which any may begin a share.
template <class Body>
void on_rows(int threads, Index n, const Body& body) {
  on_team(threads, threads, [&](int part) { body(n * part / threads, n * (part + 1) / threads); });
}

/// Calls body(part) for each of `parts`, on a thread of its own.
template <class Parts, class Body>
void on_each(Parts& parts, const Body& body) {
  const int count = static_cast<int>(parts.size());
  on_team(count, count, [&](int i) { body(parts[static_cast<std::size_t>(i)]); });
}

/// Starts the threads of a team. The first fork of a process creates them, which must not happen inside a
/// timed call.
inline void start_team(int threads) {
  on_team(threads, threads, [](int) {});
}
/// Starts the threads that a variant divides its calls among, and returns their number: 1 where calls are too
/// short for a fork and join.
inline int started_team(const Context& context, bool too_short,
                        Index most = std::numeric_limits<int>::max()) {
  const int threads = too_short ? 1 : static_cast<int>(std::min<Index>(context.threads, most));
  start_team(threads);
  return threads;
}

template <class Op, class Prepare>
void add_threaded(Registry& r, std::string_view summary, const Prepare& prepare,
                  std::string_view after = {}) {
  r.add<Op>({.name = "threaded", .summary = summary, .after = after, .threaded = true, .prepare = prepare});
}

}  // namespace assay
