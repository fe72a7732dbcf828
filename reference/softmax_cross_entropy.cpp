#include "assay/ops/softmax_cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {
namespace {

using Problem = SoftmaxCrossEntropy::Problem;

void naive(const Problem& p, const SoftmaxCrossEntropy::Input& in, SoftmaxCrossEntropy::Output& out) {
  // log softmax(x), in dx.
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = in.x.data() + i * p.cols;
    float* logarithm = out.dx.data() + i * p.cols;
    const float largest = *std::max_element(x, x + p.cols);
    float sum = 0;
    for (Index j = 0; j < p.cols; ++j) sum += std::exp(x[j] - largest);
    for (Index j = 0; j < p.cols; ++j) logarithm[j] = x[j] - largest - std::log(sum);
  }
  const auto everywhere = static_cast<float>(p.everywhere()), at_label = static_cast<float>(p.at_label());
  for (Index i = 0; i < p.rows; ++i) {
    const float* logarithm = out.dx.data() + i * p.cols;
    float sum = 0;
    if (p.smoothing > 0) {
      for (Index j = 0; j < p.cols; ++j) sum += logarithm[j];
    }
    out.loss[i] = 0 - (at_label * logarithm[in.label[i]] + everywhere * sum);
  }
  const auto rows = static_cast<float>(p.rows);
  for (Index i = 0; i < p.rows; ++i) {
    float* dx = out.dx.data() + i * p.cols;
    for (Index j = 0; j < p.cols; ++j) {
      const float target = everywhere + (j == in.label[i] ? at_label : 0);
      dx[j] = (std::exp(dx[j]) - target) / rows;
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<SoftmaxCrossEntropy>({.name = "naive",
                              .summary = "log softmax, loss and gradient, one after the other over all rows",
                              .run = naive});
}};

}  // namespace

auto SoftmaxCrossEntropy::corner_cases() -> std::vector<Problem> {
  return problems<Problem>({// Around the lane counts 4, 8, 16 and two vectors to a turn.
                            "rows=3,cols=2|8|16", "rows=3,cols=1|3|7|15|17|31|33|65|257,smoothing=10",
                            "rows=17,cols=2|10,logits=large", "rows=17,cols=33,smoothing=5,logits=large",
                            "rows=17,cols=7|257,logits=huge|special",
                            "rows=17,cols=33,smoothing=5,logits=huge|special", "rows=1,cols=10",
                            "rows=16,cols=1000,smoothing=10"});
}

auto SoftmaxCrossEntropy::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.rows * p.cols), setting.buffer<Index>(p.rows)};
  for (float& x : in.x) {
    x = setting.draw();
    if (p.logits == 1 && setting.rng.unit() < 0.5) x += 1000;
    if (p.logits == 2) x *= 1e30F;
  }
  if (p.logits == 3) make_some_infinite(in.x, 1 + p.rows / 2, setting.rng);
  for (Index& label : in.label) label = setting.rng.integer(0, p.cols - 1);
  return in;
}

auto SoftmaxCrossEntropy::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  using rounding::g, rounding::u;
  const Positions rows = positions_of(p.rows, setting.units);
  Expected want{{rows, {}, {}}, {elements_of(rows, p.cols), {}, {}}};
  const double scale = 1 / static_cast<double>(p.rows), cols = static_cast<double>(p.cols);
  std::vector<double> power(static_cast<std::size_t>(p.cols));
  for (Index next = 0; next < rows.size(); ++next) {
    const Index i = rows[next];
    const float* x = in.x.data() + i * p.cols;
    const double largest = *std::max_element(x, x + p.cols);
    const auto target = [&](Index j) { return p.everywhere() + (j == in.label[i] ? p.at_label() : 0); };
    double sum = 0, distances = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const double d = x[j] - largest;
      const double e = power[static_cast<std::size_t>(j)] = std::exp(d);
      sum += e;
      if (e > 0) distances -= e * d;
    }
    const double log_sum = std::log(sum);
    const double of_sum = u * (2 * distances / sum + 8) + g(cols);
    double loss = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const double d = x[j] - largest, share = power[static_cast<std::size_t>(j)] / sum, t = target(j);
      if (t != 0) loss += t * (log_sum - d);
      want.dx.value.push_back(scale * (share - t));
      const double of_share = share > 0 ? share * (u * (4 * -d + 3 * log_sum + 8) + of_sum) : 0;
      want.dx.bound.push_back(std::isnan(share) ? 0 : scale * (of_share + 4 * u * (share + t) + 0x1p-126));
    }
    want.loss.value.push_back(loss);
    const double of_loss = of_sum + 4 * u * log_sum + g((p.smoothing > 0 ? cols : 1) + 6) * loss;
    want.loss.bound.push_back(std::isfinite(loss) ? of_loss : 0);
  }
  return want;
}

template class detail::TypedOperation<SoftmaxCrossEntropy>;

}  // namespace assay
