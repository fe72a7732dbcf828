#include "assay/ops/adamw_multi_tensor.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay {
namespace {

using Problem = AdamWMultiTensor::Problem;
using Span = AdamWMultiTensor::Span;

/// One tensor, as one call of an optimiser: its constants are computed anew.
void step_one(Index t, const Span& span, const AdamWMultiTensor::Input& in, AdamWMultiTensor::Output& out) {
  const adamw::Constants<float> k(t);
  for (Index i = span.begin; i < span.begin + span.count; ++i) {
    const auto after = adamw::step<adamw::Paper, float>(in.g[i], {out.p[i], out.m[i], out.v[i]}, k);
    out.p[i] = after.p;
    out.m[i] = after.m;
    out.v[i] = after.v;
  }
}

const Register registered{[](Registry& r) {
  const auto prepare = [](const Problem& problem, const auto&, const Context&) {
    return [t = problem.t, spans = AdamWMultiTensor::spans(problem)](const AdamWMultiTensor::Input& in,
                                                                     AdamWMultiTensor::Output& out) {
      for (const Span& span : spans) step_one(t, span, in, out);
    };
  };
  r.add<AdamWMultiTensor>({.name = "naive", .summary = "one call per tensor", .prepare = prepare});
}};

}  // namespace

AdamWMultiTensor::Problem::operator AdamWPaper::Problem() const {
  const Span last = spans(*this).back();
  return {.n = last.begin + last.count, .t = t};
}

std::vector<AdamWMultiTensor::Span> AdamWMultiTensor::spans(const Problem& problem) {
  std::vector<Span> out;
  Index begin = 0;
  for (Index k = 0; k < problem.tensors; ++k) {
    const bool small = problem.sizes == 1 && k % 3 != 0;
    const Index count = small ? std::max<Index>(1, problem.n / 256) : problem.n;
    out.push_back({begin, count});
    begin += count + 1 + (7 * k + count) % 31;  // gaps of 1 to 31, so that starts have every alignment
  }
  return out;
}

Index AdamWMultiTensor::parameters(const Problem& problem) {
  Index sum = 0;
  for (const Span& span : spans(problem)) sum += span.count;
  return sum;
}

std::vector<Problem> AdamWMultiTensor::corner_cases() {
  std::vector<Problem> out;
  for (const Index n : {1, 2, 5, 15, 16, 17, 33, 257}) {
    out.push_back({.tensors = 1, .n = n, .t = 2});
    out.push_back({.tensors = 7, .n = n, .t = 10});
  }
  out.push_back({.tensors = 3, .n = 101, .t = 1000});
  out.push_back({.tensors = 10, .n = 700, .sizes = 1, .t = 3});
  out.push_back({.tensors = 150, .n = 300, .sizes = 1, .t = 3});
  // Beyond the size below which a threaded variant stays on one thread: one large tensor, and many.
  out.push_back({.tensors = 2, .n = 40009, .t = 3});
  out.push_back({.tensors = 90, .n = 1021, .t = 3});
  return out;
}

AdamWMultiTensor::Expected AdamWMultiTensor::expect(const Problem& problem, const Input& in,
                                                    Setting& setting) {
  Expected want = AdamWPaper::expect(problem, in, setting);
  const auto keep = [](Expectation& array, Index next, float before) {
    array.value[static_cast<std::size_t>(next)] = before;
    array.bound[static_cast<std::size_t>(next)] = 0;
  };
  const std::vector<Span> tensors = spans(problem);
  auto tensor = tensors.begin();
  for (Index next = 0; next < want.p.size(); ++next) {
    const Index i = want.p[next];
    while (i >= tensor->begin + tensor->count) ++tensor;
    if (i >= tensor->begin) continue;
    keep(want.p, next, in.p[i]);
    keep(want.m, next, in.m[i]);
    keep(want.v, next, in.v[i]);
  }
  return want;
}

Cost AdamWMultiTensor::cost(const Problem& problem) {
  return AdamWPaper::cost({.n = parameters(problem), .t = problem.t});
}

template class detail::TypedOperation<AdamWMultiTensor>;

}  // namespace assay
