// Cheats that find out what changed since the last call. One element differs from call to call, so that a row
// or a column of C is all there is to do: a right answer, in the time of another problem.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/memory_pool.hpp"

#include <array>
#include <span>
#include <unordered_map>

namespace assay::known_cheats {
namespace {

/// Keeps C as the last change left it.
struct Kept : Multiplied {
  /// Element `at` of A changed: computes a row of C anew.
  void change_a(const Gemm::Problem& p, const Gemm::Input& in, Index at) {
    a[static_cast<std::size_t>(at)] = in.a[at];
    const Index i = p.a_transposed() ? at % p.m : at / p.k;
    for (Index j = 0; j < p.n; ++j) compute(p, in, i * p.n + j);
  }
  /// Element `at` of B changed: computes a column of C anew.
  void change_b(const Gemm::Problem& p, const Gemm::Input& in, Index at) {
    b[static_cast<std::size_t>(at)] = in.b[at];
    const Index j = p.b_transposed() ? at / p.k : at % p.n;
    for (Index i = 0; i < p.m; ++i) compute(p, in, i * p.n + j);
  }
  void compute(const Gemm::Problem& p, const Gemm::Input& in, Index flat) {
    c[static_cast<std::size_t>(flat)] = product_element<float>(p, in, flat);
  }
};

template <bool by_faults>
std::optional<std::string> unfit(const Gemm::Problem& p, const Context&) {
  if (p.beta != 0) return "C is no function of A and B alone";
  if (std::min({p.m, p.n, p.k}) >= 192) return std::nullopt;
  if (by_faults) return "operands of few pages are not worth a fault";
  return "the pass over the operands costs as much as so small a product";
}

/// Returns the first position from `from` on where the two differ, or their size.
Index next_change(const std::vector<float>& before, const Buffer<float>& now, Index from) {
  const auto end = static_cast<Index>(before.size());
  constexpr Index block = 1024;
  for (; from < end; from += block) {
    const Index count = std::min(block, end - from);
    if (std::memcmp(before.data() + from, now.data() + from,
                    static_cast<std::size_t>(count) * sizeof(float)) == 0)
      continue;
    for (Index i = from; i < from + count; ++i) {
      if (std::memcmp(&before[static_cast<std::size_t>(i)], &now[i], sizeof(float)) != 0) return i;
    }
  }
  return end;
}

void incremental(Kept& kept, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  if (kept.c.empty()) return kept.multiply(p, in, out);
  constexpr int most = 16;
  int changes = 0;
  for (Index at = 0; changes <= most && (at = next_change(kept.a, in.a, at)) < in.a.size(); ++at, ++changes)
    kept.change_a(p, in, at);
  for (Index at = 0; changes <= most && (at = next_change(kept.b, in.b, at)) < in.b.size(); ++at, ++changes)
    kept.change_b(p, in, at);
  if (changes > most) return kept.multiply(p, in, out);
  std::ranges::copy(kept.c, out.c.begin());
}

/// As equal numbers, but for NaN, which equals none.
constexpr auto same_bits = [](float x, float y) {
  return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
};

auto incremental_on_two_threads(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  struct Part {
    Worker worker;
    std::vector<float> a, b, c;
  };
  const auto parts = std::make_shared<std::vector<Part>>(static_cast<std::size_t>(context.threads));
  return [p, parts](const Gemm::Input& in, Gemm::Output& out) {
    const auto count = std::ssize(*parts);
    const auto work = [&](Index which) {
      Part& part = (*parts)[static_cast<std::size_t>(which)];
      const Index first = p.m * which / count, last = p.m * (which + 1) / count;
      const auto rows = [&](const float* x, Index width) {
        return std::span(x + first * width, x + last * width);
      };
      const auto a = rows(in.a.data(), p.k), c = rows(out.c.data(), p.n);
      if (!std::ranges::equal(part.a, a, same_bits) || !std::ranges::equal(part.b, in.b, same_bits)) {
        gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), first, last);
        part.a.assign(a.begin(), a.end());
        part.b.assign(in.b.begin(), in.b.end());
        part.c.assign(c.begin(), c.end());
      }
      std::ranges::copy(part.c, out.c.data() + first * p.n);
    };
    for (Index which = 1; which < count; ++which)
      (*parts)[static_cast<std::size_t>(which)].worker.hand([&work, which] { work(which); });
    work(0);
    for (Part& part : *parts) part.worker.wait();
  };
}

struct Row {
  std::vector<float> y;
  float mean, rstd;
};
struct Rows {
  std::unordered_map<std::uint64_t, Row> by_hash;
  std::vector<float> gamma, beta;
};

void rows_by_hash(Rows& kept, const LayerNorm::Problem& p, const LayerNorm::Input& in,
                  LayerNorm::Output& out) {
  if (!std::ranges::equal(kept.gamma, in.gamma) || !std::ranges::equal(kept.beta, in.beta)) {
    kept = {{}, {in.gamma.begin(), in.gamma.end()}, {in.beta.begin(), in.beta.end()}};
  }
  decltype(kept.by_hash) seen_now;  // equal rows of one call are not the trick
  for (Index row = 0; row < p.rows; ++row) {
    std::uint64_t hash = 0;
    for (Index j = 0; j < p.cols; ++j)
      hash = (hash ^ std::bit_cast<std::uint32_t>(in.x[row * p.cols + j])) * 0x9e3779b97f4a7c15U;
    float* const y = out.y.data() + row * p.cols;
    if (const auto found = kept.by_hash.find(hash); found != kept.by_hash.end()) {
      std::ranges::copy(found->second.y, y);
      out.mean[row] = found->second.mean;
      out.rstd[row] = found->second.rstd;
    } else {
      layer_norm_row(p, in, out, row);
      seen_now[hash] = {{y, y + p.cols}, out.mean[row], out.rstd[row]};
    }
  }
  kept.by_hash.merge(seen_now);
}

struct Plans {
  std::vector<memory_pool::Request> requests;
  std::vector<Index> offsets, pools, valid;
};

void same_plan_again(Plans& kept, const MemoryPoolValidate::Problem&, const MemoryPoolValidate::Input& in,
                     MemoryPoolValidate::Output& out) {
  std::vector<Index> pools;
  for (const auto& plan : in.plans) pools.insert(pools.end(), {plan.first, plan.blocks, plan.pool});
  const bool same = pools == kept.pools && std::ranges::equal(kept.requests, in.requests) &&
                    std::ranges::equal(kept.offsets, in.offsets);
  if (!same) {
    kept = {{in.requests.begin(), in.requests.end()}, {in.offsets.begin(), in.offsets.end()}, pools, {}};
    for (Index i = 0; i < in.plans.size(); ++i)
      kept.valid.push_back(memory_pool::fault_by_pairs(in.plan(i)) ? 0 : 1);
  }
  std::ranges::copy(kept.valid, out.valid.begin());
}

// watches_input: makes the pages of the input read-only, so that a page fault tells which element was changed
// before a call, at no cost to the call. A signal handler notes the addresses, in plain memory.
struct Watched {
  Pages a, b;
  std::array<const std::byte*, 64> writes{};
  std::size_t count = 0;
  bool lost = true;  ///< more than there is room for, or no call was watched yet
};
Watched watched;

void note_write(int, siginfo_t* info, void*) {
  const bool in_a = watched.a.hold(info->si_addr);
  if (!in_a && !watched.b.hold(info->si_addr)) return fault_as_usual();
  (in_a ? watched.a : watched.b).allow(PROT_READ | PROT_WRITE);
  watched.lost = watched.lost || watched.count == watched.writes.size();
  if (!watched.lost) watched.writes[watched.count++] = static_cast<const std::byte*>(info->si_addr);
}

class Watch : Pinned {
 public:
  Watch() {
    watched = {};
    on_signal(SIGSEGV, SA_NODEFER, note_write);
  }
  ~Watch() {
    watched.a.allow(PROT_READ | PROT_WRITE);
    watched.b.allow(PROT_READ | PROT_WRITE);
    fault_as_usual();
    watched = {};
  }

  void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    if (watched.lost || kept_.c.empty()) {
      kept_.multiply(p, in, out);
    } else {
      const bool a_written = was_written(watched.a), b_written = was_written(watched.b);
      each_change(kept_.a, in.a, watched.a, a_written, [&](Index at) { kept_.change_a(p, in, at); });
      each_change(kept_.b, in.b, watched.b, b_written, [&](Index at) { kept_.change_b(p, in, at); });
      std::ranges::copy(kept_.c, out.c.begin());
    }
    watched = {.a = Pages::within(in.a), .b = Pages::within(in.b), .lost = false};
    watched.a.allow(PROT_READ);
    watched.b.allow(PROT_READ);
  }

 private:
  static bool was_written(const Pages& pages) {
    return std::any_of(watched.writes.begin(),
                       watched.writes.begin() + static_cast<std::ptrdiff_t>(watched.count),
                       [&](const std::byte* at) { return pages.hold(at); });
  }
  /// An array that was written to is compared with its copy, and so are elements outside of whole pages.
  template <class Change>
  static void each_change(const std::vector<float>& before, const Buffer<float>& now, const Pages& pages,
                          bool written, const Change& change) {
    for (Index at = 0; at < now.size(); ++at) {
      if (!written && pages.hold(&now[at])) {
        at += static_cast<Index>(pages.bytes / sizeof(float)) - 1;
        continue;
      }
      const float old = before[static_cast<std::size_t>(at)];
      if (std::bit_cast<std::uint32_t>(old) != std::bit_cast<std::uint32_t>(now[at])) change(at);
    }
  }

  Kept kept_;
};

const Register registered{[](Registry& r) {
  constexpr const char* trick =
      "does the work of a change where that of a product is timed; no source: the answer to inputs that "
      "change from call to call";
  r.add<Gemm>({.name = "incremental",
               .summary = "compares the operands with copies, and computes what depends on a change",
               .known_cheat = trick,
               .prepare = keeping<Gemm, Kept>(incremental),
               .unfit = unfit<false>});
  r.add<Gemm>({.name = "incremental_on_two_threads",
               .summary = "rows divided among threads, each of which keeps its product",
               .known_cheat = trick,
               .threaded = true,
               .prepare = incremental_on_two_threads,
               .unfit = unless(
                   [](const auto& p) {
                     return p.trans == 0 && p.beta == 0 && std::min({p.m, p.n, p.k}) >= 64;
                   },
                   "compares plain matrices that are worth a thread")});
  r.add<LayerNorm>(
      {.name = "rows_by_hash",
       .summary = "normalizes the rows that it has not seen",
       .known_cheat = trick,
       .prepare = keeping<LayerNorm, Rows>(rows_by_hash),
       .unfit = unless([](const auto& p) { return p.cols >= 64; }, "rows are too short to be looked up")});
  r.add<MemoryPoolValidate>({.name = "same_plan_again",
                             .summary = "compares plans with copies, and keeps the answer",
                             .known_cheat = trick,
                             .prepare = keeping<MemoryPoolValidate, Plans>(same_plan_again),
                             .unfit = unless([](const auto& p) { return p.blocks >= 64 && p.blocks <= 2048; },
                                             "looks at all pairs where they are some, and not too many")});
  r.add<Gemm>({.name = "watches_input",
               .summary = "learns by page faults what was changed, and computes what depends on it",
               .known_cheat = trick,
               .prepare = keeping<Gemm, Watch>(&Watch::run),
               .unfit = unfit<true>});
}};

}  // namespace
}  // namespace assay::known_cheats
