// A cheat that makes the pages of its output unreadable, and adds when somebody reads them: the judge,
// outside the clock.

#include "known_cheats/fault_handler.hpp"

#include "assay/ops/elementwise.hpp"
#include "assay/registry.hpp"

#include <memory>

namespace assay::known_cheats {
namespace {

/// The call whose answer is due.
struct Due {
  const float *x = nullptr, *y = nullptr;
  float* z = nullptr;
  float alpha = 1;
  Index count = 0;
  Pages pages;
};
Due due;

void add(const Due& what, Index first, Index last) {
  for (Index i = first; i < last; ++i) what.z[i] = what.x[i] + what.alpha * what.y[i];
}

/// Positions of the elements that are put off.
Index first_put_off() { return reinterpret_cast<float*>(due.pages.begin) - due.z; }
Index end_put_off() { return reinterpret_cast<float*>(due.pages.begin + due.pages.bytes) - due.z; }

void deliver(int, siginfo_t* info, void*) {
  if (!due.pages.hold(info->si_addr)) return fault_as_usual();
  due.pages.allow(PROT_READ | PROT_WRITE);
  add(due, first_put_off(), end_put_off());
}

/// Delivers an answer that is due before the arrays go.
struct Promise {
  Promise() { on_fault(deliver); }
  ~Promise() {
    due.pages.allow(PROT_READ | PROT_WRITE);
    fault_as_usual();
    due = {};
  }
};

auto prepare(const ElementwiseAdd::Problem& p, const ElementwiseAdd::Input&, const Context&) {
  return [p, promise = std::make_shared<Promise>()](const ElementwiseAdd::Input& in,
                                                    ElementwiseAdd::Output& out) {
    due = {.x = in.x.data(),
           .y = in.y.data(),
           .z = out.z.data(),
           .alpha = static_cast<float>(p.alpha),
           .count = out.z.size(),
           .pages = Pages::within(out.z)};
    if (due.pages.bytes == 0) return add(due, 0, due.count);
    add(due, 0, first_put_off());
    add(due, end_put_off(), due.count);
    due.pages.allow(PROT_NONE);
  };
}

std::optional<std::string> unfit(const ElementwiseAdd::Problem& p, const Context&) {
  constexpr Index least = 1 << 14;
  if (p.layout == 0 && p.beta == 0 && p.n * p.c * p.h * p.w >= least) return std::nullopt;
  return "it is for dense sums of many pages";
}

const Register registered{[](Registry& r) {
  r.add<ElementwiseAdd>({.name = "lazy_output",
                         .summary = "adds when the output is read, behind a page fault",
                         .known_cheat =
                             "an output that is computed when it is looked at: "
                             "gpu-mode/reference-kernels 161, deep-reinforce.com/defense_kernel_hack.html",
                         .prepare = prepare,
                         .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
