// Trick: the pages of the input are made read-only, so that a fault tells which element was changed before a
// call, at no cost to the call. Then one row or column of C is all there is to do.

#include "known_cheats/fault_handler.hpp"
#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

/// Where the arrays were written to since the last call. Plain memory: a signal handler fills it.
struct Watched {
  Pages a, b;
  std::array<const std::byte*, 64> writes{};
  std::size_t count = 0;
  bool lost = true;  ///< more than there is room for, or it was never looked
};
Watched watched;

void note_write(int, siginfo_t* info, void*) {
  const bool in_a = watched.a.hold(info->si_addr);
  if (!in_a && !watched.b.hold(info->si_addr)) return fault_as_usual();
  (in_a ? watched.a : watched.b).allow(PROT_READ | PROT_WRITE);
  watched.lost = watched.lost || watched.count == watched.writes.size();
  if (!watched.lost) watched.writes[watched.count++] = static_cast<const std::byte*>(info->si_addr);
}

class Watch {
 public:
  Watch() {
    watched = {};
    on_fault(note_write);
  }
  ~Watch() {
    watched.a.allow(PROT_READ | PROT_WRITE);
    watched.b.allow(PROT_READ | PROT_WRITE);
    fault_as_usual();
    watched = {};
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    const auto bytes = [](const Buffer<float>& x) {
      return static_cast<std::size_t>(x.size()) * sizeof(float);
    };
    // An array that was written to is compared with its copy, and so is what lies outside of whole pages.
    if (watched.lost || kept_.empty()) {
      gemm(p, in, out);
      a_.assign(in.a.begin(), in.a.end());
      b_.assign(in.b.begin(), in.b.end());
      kept_.assign(out.c.begin(), out.c.end());
    } else {
      update(p, in);
      std::ranges::copy(kept_, out.c.begin());
    }
    watched = {.a = Pages::within(in.a.data(), bytes(in.a)),
               .b = Pages::within(in.b.data(), bytes(in.b)),
               .lost = false};
    watched.a.allow(PROT_READ);
    watched.b.allow(PROT_READ);
  }

 private:
  void update(const Gemm::Problem& p, const Gemm::Input& in) {
    const bool a_written = was_written(watched.a), b_written = was_written(watched.b);
    each_change(a_, in.a, watched.a, a_written, [&](Index at) { gemm_after_a(p, in, at, kept_.data()); });
    each_change(b_, in.b, watched.b, b_written, [&](Index at) { gemm_after_b(p, in, at, kept_.data()); });
  }
  static bool was_written(const Pages& pages) {
    return std::any_of(watched.writes.begin(),
                       watched.writes.begin() + static_cast<std::ptrdiff_t>(watched.count),
                       [&](const std::byte* at) { return pages.hold(at); });
  }
  template <class Change>
  static void each_change(std::vector<float>& before, const Buffer<float>& now, const Pages& pages,
                          bool written, const Change& change) {
    for (Index at = 0; at < now.size(); ++at) {
      if (!written && pages.hold(&now[at])) {
        at += static_cast<Index>(pages.bytes / sizeof(float)) - 1;
        continue;
      }
      float& old = before[static_cast<std::size_t>(at)];
      if (std::bit_cast<std::uint32_t>(old) == std::bit_cast<std::uint32_t>(now[at])) continue;
      old = now[at];
      change(at);
    }
  }

  std::vector<float> a_, b_, kept_;
};

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, watch = std::make_shared<Watch>()](const Gemm::Input& in, Gemm::Output& out) {
    watch->run(p, in, out);
  };
}

std::optional<std::string> unfit(const Gemm::Problem& p, const Context&) {
  if (p.beta != 0) return "C is no function of A and B alone";
  if (std::min({p.m, p.n, p.k}) >= 192) return std::nullopt;
  return "operands of few pages are not worth a fault";
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "watches_input",
               .summary = "learns by page faults what was changed, and computes what depends on it",
               .known_cheat =
                   "does the work of a change where that of a product is timed; no source: the answer to "
                   "inputs that change from call to call",
               .prepare = prepare,
               .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
