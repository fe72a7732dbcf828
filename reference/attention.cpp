#include "assay/ops/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

void naive_attention(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
  std::vector<float> scores(static_cast<std::size_t>(p.tokens * p.tokens));
  const float scale = 1 / std::sqrt(static_cast<float>(p.d));
  for (Index head = 0; head < p.heads; ++head) {
    const Index from = head * p.tokens * p.d;
    const float *q = in.q.data() + from, *k = in.k.data() + from, *v = in.v.data() + from;
    float* const y = out.y.data() + from;
    const auto row = [&](Index i) { return scores.data() + i * p.tokens; };
    for (Index i = 0; i < p.tokens; ++i) {
      for (Index j = 0; j < p.tokens; ++j) {
        float sum = 0;
        for (Index c = 0; c < p.d; ++c) sum += q[i * p.d + c] * k[j * p.d + c];
        const bool seen = j >= p.first_key() && j < p.keys_end(i);
        row(i)[j] = seen ? scale * sum : -std::numeric_limits<float>::infinity();
      }
    }
    for (Index i = 0; i < p.tokens; ++i) {
      float* const s = row(i);
      const float largest = *std::max_element(s, s + p.tokens);
      float sum = 0;
      for (Index j = 0; j < p.tokens; ++j) {
        s[j] = largest == -std::numeric_limits<float>::infinity() ? 0 : std::exp(s[j] - largest);
        sum += s[j];
      }
      for (Index j = 0; j < p.tokens && sum > 0; ++j) s[j] /= sum;
    }
    for (Index i = 0; i < p.tokens; ++i) {
      for (Index c = 0; c < p.d; ++c) y[i * p.d + c] = 0;
      for (Index j = 0; j < p.tokens; ++j) {
        for (Index c = 0; c < p.d; ++c) y[i * p.d + c] += row(i)[j] * v[j * p.d + c];
      }
    }
  }
}

/// Pairs of a row and a key that it sees, of one head.
double pairs(const Attention::Problem& p) {
  const auto seen = static_cast<double>(p.tokens - p.first_key());
  return p.mask == 0 ? static_cast<double>(p.tokens) * seen : seen * (seen + 1) / 2;
}

void naive_softmax_cross_entropy(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
                                 SoftmaxCrossEntropy::Output& out) {
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

/// Writes the powers exp(x - largest) of a row, and returns their sum.
template <class Real>
Real powers_of(const float* x, Index cols, Real* power) {
  const auto largest = static_cast<Real>(*std::max_element(x, x + cols));
  Real sum = 0;
  for (Index j = 0; j < cols; ++j) sum += power[j] = std::exp(static_cast<Real>(x[j]) - largest);
  return sum;
}

void naive_softmax(const Softmax::Problem& p, const Softmax::Input& in, Softmax::Output& out) {
  for (Index i = 0; i < p.rows; ++i) {
    float* const y = out.y.data() + i * p.cols;
    const float sum = powers_of(in.x.data() + i * p.cols, p.cols, y);
    for (Index j = 0; j < p.cols; ++j) y[j] /= sum;
  }
}

/// A row in double: its powers, their sum, and the relative error of that, rS of the docstrings.
struct Powers {
  std::vector<double> of;
  double largest, sum, error;

  Powers(const float* x, Index cols)
      : of(static_cast<std::size_t>(cols)), largest(*std::max_element(x, x + cols)) {
    sum = powers_of(x, cols, of.data());
    double distances = 0;
    for (Index j = 0; j < cols; ++j) {
      const double e = of[static_cast<std::size_t>(j)];
      if (e > 0) distances += e * (largest - x[j]);
    }
    error = rounding::u * (2 * distances / sum + 8) + rounding::g(static_cast<double>(cols));
  }
};

template <class Problem>
Buffer<float> logits(const Problem& p, Setting& setting) {
  auto out = setting.buffer<float>(p.rows * p.cols);
  for (float& x : out) {
    x = setting.draw();
    const bool chosen = (p.logits == 1 || p.logits == 4) && setting.rng.unit() < 0.5;
    if (chosen) x = p.logits == 1 ? x + 1000 : -std::numeric_limits<float>::infinity();
    if (p.logits == 2) x *= 1e30F;
  }
  if (p.logits == 3) make_some_infinite(out, 1 + p.rows / 2, setting.rng);
  return out;
}

const Register registered{[](Registry& r) {
  r.add<Attention>({.name = "naive",
                    .summary = "the scores of a head in memory, softmax by rows, then their product with v",
                    .run = naive_attention});
  r.add<SoftmaxCrossEntropy>({.name = "naive",
                              .summary = "log softmax, loss and gradient, one after the other over all rows",
                              .run = naive_softmax_cross_entropy});
  r.add<Softmax>({.name = "naive", .summary = "three loops to a row", .run = naive_softmax});
}};

}  // namespace

const Corners Attention::corners = {
    // Around vectors and around tiles of 64 rows and keys.
    "heads=2,tokens=1,d=1,mask=none|causal", "heads=2,tokens=7,d=8,mask=none|causal",
    "heads=1,tokens=32,d=17,mask=none|causal", "heads=2,tokens=65,d=5,mask=none|causal",
    "heads=1,tokens=130,d=16,mask=causal",
    // Rows that see nothing under the causal mask, a whole tile of them, and all rows; keys that nobody sees.
    "heads=1,tokens=70,d=4,mask=causal,padding=5|66", "heads=2,tokens=9,d=3,padding=4|9",
    "heads=1,tokens=67,d=4,mask=none|causal,padding=3,scores=large"};

auto Attention::make_input(const Problem& p, Setting& setting) -> Input {
  Input in = FromParts::make_input(p, setting);
  if (p.scores == 1) {
    // One direction that all keys have in common: the scores of a row are near 200, or -200, and near each
    // other.
    const auto size_of_query = static_cast<float>(200 * std::sqrt(static_cast<double>(p.d)));
    for (Index at = 0; at < in.q.size(); at += p.d) {
      in.q[at] = in.q[at] < 0 ? -size_of_query : size_of_query;
      in.k[at] = 1 + in.k[at] / 64;
    }
  }
  return in;
}

auto Attention::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  using rounding::g, rounding::u;
  const Index count = p.heads * p.tokens;
  const double multiply_adds = 2 * static_cast<double>(p.heads) * pairs(p) * static_cast<double>(p.d);
  const bool sampled = setting.units.empty() && multiply_adds > matrix::full_oracle_limit;
  const Positions rows = sampled ? sample_of(count, 256, {0, p.tokens - 1, count - 1}, setting.rng)
                                 : positions_of(count, setting.units);
  Expected want(elements_of(rows, p.d));
  const double scale = 1 / std::sqrt(static_cast<double>(p.d));
  std::vector<double> share, error;
  for (Index next = 0; next < rows.size(); ++next) {
    const Index head = rows[next] / p.tokens, i = rows[next] % p.tokens, first = p.first_key();
    const auto q = matrix::view(in.q.data() + rows[next] * p.d, 1, p.d),
               k = matrix::view(in.k.data() + head * p.tokens * p.d, p.d, p.tokens, true),
               v = matrix::view(in.v.data() + head * p.tokens * p.d, p.tokens, p.d);
    const Index end = std::max(first, p.keys_end(i));
    const auto n = static_cast<double>(end - first);
    share.clear();
    error.clear();
    for (Index j = first; j < end; ++j) {
      const auto score = matrix::element<matrix::Sized>(q, k, 0, j, p.d);
      share.push_back(scale * score.value);
      error.push_back(g(static_cast<double>(p.d) + 3) * scale * score.magnitude);
    }
    double total = 0, of_total = 0;
    if (!share.empty()) {
      const auto [least, largest] = std::ranges::minmax(share);
      for (std::size_t j = 0; j < share.size(); ++j) {
        error[j] += u * (2 * (largest - share[j]) + 3 * (largest - least) + 16 + n / 2);
        share[j] = std::exp(share[j] - largest);
        total += share[j];
      }
      for (std::size_t j = 0; j < share.size(); ++j) of_total += (share[j] /= total) * error[j];
    }
    for (Index c = 0; c < p.d; ++c) {
      double sum = 0, bound = n * 0x1p-120;
      for (std::size_t j = 0; j < share.size(); ++j) {
        const double term = share[j] * static_cast<double>(v(first + static_cast<Index>(j), c));
        sum += term;
        bound += std::abs(term) * (error[j] + of_total + g(2 * n + 4));
      }
      want.value.push_back(sum);
      want.bound.push_back(bound);
    }
  }
  return want;
}

Cost Attention::cost(const Problem& p) {
  const double elements = product(p.heads, p.tokens, p.d),
               seen = product(p.heads, p.tokens - p.first_key(), p.d);
  return {.flops = 4 * product(p.heads, p.d) * pairs(p),
          .bytes_read = 4 * (elements + 2 * seen),
          .bytes_written = 4 * elements,
          .avoidable_bytes = 4 * (elements - seen)};
}

const Corners SoftmaxCrossEntropy::corners = {
    // Around the lane counts 4, 8, 16 and two vectors to a turn.
    "rows=3,cols=2|8|16",
    "rows=3,cols=1|3|7|15|17|31|33|65|257,smoothing=10",
    "rows=17,cols=2|10,logits=large",
    "rows=17,cols=33,smoothing=5,logits=large",
    "rows=17,cols=7|257,logits=huge|special",
    "rows=17,cols=33,smoothing=5,logits=huge|special",
    "rows=9,cols=33,smoothing=5,logits=masked",
    "rows=1,cols=10",
    "rows=16,cols=1000,smoothing=10"};

auto SoftmaxCrossEntropy::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{logits(p, setting), setting.buffer<Index>(p.rows)};
  for (Index& label : in.label) label = setting.rng.integer(0, p.cols - 1);
  return in;
}

auto SoftmaxCrossEntropy::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  using rounding::g, rounding::u;
  const Positions rows = positions_of(p.rows, setting.units);
  Expected want{rows, elements_of(rows, p.cols)};
  const double scale = 1 / static_cast<double>(p.rows), cols = static_cast<double>(p.cols);
  for (Index next = 0; next < rows.size(); ++next) {
    const Index i = rows[next];
    const float* x = in.x.data() + i * p.cols;
    const Powers power(x, p.cols);
    const auto target = [&](Index j) { return p.everywhere() + (j == in.label[i] ? p.at_label() : 0); };
    const double log_sum = std::log(power.sum);
    double loss = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const double d = x[j] - power.largest, t = target(j);
      const double share = power.of[static_cast<std::size_t>(j)] / power.sum;
      if (t != 0) loss += t * (log_sum - d);
      want.dx.value.push_back(scale * (share - t));
      const double of_share = share > 0 ? share * (u * (4 * -d + 3 * log_sum + 8) + power.error) : 0;
      want.dx.bound.push_back(std::isnan(share) ? 0 : scale * (of_share + 4 * u * (share + t) + 0x1p-126));
    }
    want.loss.value.push_back(loss);
    const double of_loss = power.error + 4 * u * log_sum + g((p.smoothing > 0 ? cols : 1) + 6) * loss;
    want.loss.bound.push_back(std::isfinite(loss) ? of_loss : 0);
  }
  return want;
}

const Corners Softmax::corners = {
    // Around the lane counts and two vectors to a turn, as above.
    "rows=3,cols=2|3|7|8|15|16|17|31|33|65|257", "rows=1,cols=1|10", "rows=16,cols=1000",
    "rows=17,cols=10,logits=large", "rows=17,cols=7|257,logits=huge|special|masked",
    // A row of equal numbers that is masked whole.
    "rows=3,cols=1,logits=masked",
    // Beyond the size below which a threaded variant stays on one thread.
    "rows=67,cols=1031"};

auto Softmax::make_input(const Problem& p, Setting& setting) -> Input { return {logits(p, setting)}; }

auto Softmax::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions rows = positions_of(p.rows, setting.units);
  Expected want(elements_of(rows, p.cols));
  for (Index next = 0; next < rows.size(); ++next) {
    const float* x = in.x.data() + rows[next] * p.cols;
    const Powers power(x, p.cols);
    for (Index j = 0; j < p.cols; ++j) {
      const double share = power.of[static_cast<std::size_t>(j)] / power.sum;
      const double of_power = share > 0 ? rounding::u * (3 * (power.largest - x[j]) + 10) : 0;
      want.value.push_back(share);
      want.bound.push_back(std::isnan(share) ? 0 : share * (of_power + power.error) + 0x1p-126);
    }
  }
  return want;
}

template class detail::TypedOperation<Attention>;
template class detail::TypedOperation<SoftmaxCrossEntropy>;
template class detail::TypedOperation<Softmax>;

}  // namespace assay
