// The idea: threads divide parameters, not tensors, so one large tensor among small ones leaves no thread
// without work. Each thread's share is a list of pieces, made once.

#include "adamw/step.hpp"
#include "team.hpp"

#include <algorithm>

namespace assay::adamw {
namespace {

using Span = AdamWMultiTensor::Span;

/// The parameters [first, last), counted through all tensors without gaps, as pieces of tensors. Borders
/// inside a tensor are multiples of a cache line from its start.
std::vector<Span> pieces(const std::vector<Span>& spans, Index first, Index last) {
  constexpr Index line = 64 / sizeof(float);
  std::vector<Span> out;
  Index before = 0;
  for (const Span& span : spans) {
    const auto inside = [&](Index at) {
      const Index offset = std::clamp<Index>(at - before, 0, span.count);
      return offset == span.count ? offset : offset / line * line;
    };
    const Index begin = inside(first), end = inside(last);
    if (begin < end) out.push_back({span.begin + begin, end - begin});
    before += span.count;
  }
  return out;
}

const Register registered{[](Registry& r) {
  const auto prepare = [](const AdamWMultiTensor::Problem& problem, const auto&, const Context& context) {
    const Index total = AdamWMultiTensor::parameters(problem);
    const int threads = started_team(context, total < break_even);
    const auto spans = AdamWMultiTensor::spans(problem);
    std::vector<std::vector<Span>> shares;
    for (Index part = 0; part < threads; ++part) {
      shares.push_back(pieces(spans, total * part / threads, total * (part + 1) / threads));
    }
    return [=, k = step_constants<Paper>(problem.t), function = best_of(tiers()).function](const auto& in,
                                                                                           auto& out) {
      const Arrays at = arrays(in, out);
      on_team(threads, threads, [&](int part) {
        for (const auto& [begin, count] : shares[static_cast<std::size_t>(part)]) {
          function(k, at, begin, begin + count);
        }
      });
    };
  };
  add_threaded<AdamWMultiTensor>(r, "parameters of all tensors divided among OpenMP threads", prepare);
}};

}  // namespace
}  // namespace assay::adamw
