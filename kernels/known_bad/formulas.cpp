// Formulas that overflow, lose digits or a NaN, or are another formula: of attention, optimizers, GELU,
// products, normalization, LSTM and softmax.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/lstm.hpp"
#include "assay/ops/pointwise.hpp"

#include <numbers>

namespace assay {
namespace {

// Common in libraries: -10,000 is added to hidden scores, so that their exponential vanishes beside the
// others. A row in which all are hidden has no others: the constant cancels, and the row becomes a mean of
// padding. Where scores are large, hidden ones come back.
void large_negative_mask(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
  const float scale = 1 / std::sqrt(static_cast<float>(p.d));
  std::vector<float> score(static_cast<std::size_t>(p.tokens));
  for (Index row = 0; row < p.heads * p.tokens; ++row) {
    const Index head = row / p.tokens * p.tokens;
    for (Index j = 0; j < p.tokens; ++j) {
      float sum = 0;
      for (Index c = 0; c < p.d; ++c) sum += in.q[row * p.d + c] * in.k[(head + j) * p.d + c];
      const bool seen = j >= p.first_key() && j < p.keys_end(row % p.tokens);
      score[static_cast<std::size_t>(j)] = scale * sum + (seen ? 0 : -10000.0F);
    }
    const float largest = *std::ranges::max_element(score);
    float sum = 0;
    for (float& s : score) sum += s = std::exp(s - largest);
    for (Index c = 0; c < p.d; ++c) {
      float y = 0;
      for (Index j = 0; j < p.tokens; ++j) {
        y += score[static_cast<std::size_t>(j)] / sum * in.v[(head + j) * p.d + c];
      }
      out.y[row * p.d + c] = y;
    }
  }
}

// Common in first versions of fused attention: powers of the scores are summed as they come, without the
// largest of the row subtracted and corrected for. It is right for the small scores of a test, and NaN once a
// score is above 88.
void no_maximum_of_scores(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
  const float scale = 1 / std::sqrt(static_cast<float>(p.d));
  for (Index row = 0; row < p.heads * p.tokens; ++row) {
    const Index head = row / p.tokens * p.tokens;
    float* const y = out.y.data() + row * p.d;
    std::fill(y, y + p.d, 0.0F);
    float sum = 0;
    for (Index j = p.first_key(); j < p.keys_end(row % p.tokens); ++j) {
      float score = 0;
      for (Index c = 0; c < p.d; ++c) score += in.q[row * p.d + c] * in.k[(head + j) * p.d + c];
      const float power = std::exp(scale * score);
      sum += power;
      for (Index c = 0; c < p.d; ++c) y[c] += power * in.v[(head + j) * p.d + c];
    }
    for (Index c = 0; c < p.d && sum > 0; ++c) y[c] /= sum;
  }
}

// Published as a SIMD AdamW of the paper's form: the root is taken of v_hat + epsilon, which saves an
// addition after a slow instruction. While gradients are small beside sqrt(epsilon) = 1e-4 it is another
// optimiser: its first step is 0.707 times as long for gradients of 1e-4, 0.0101 times for 1e-6.
constexpr auto epsilon_inside_root = &known_cheats::adamw_step<adamw::EpsilonInside>;

using Gelu = Pointwise<pointwise::Gelu>;

// Published: x / 2 (1 + erf(x / sqrt(2))) term by term in single precision, as in many frameworks' kernels.
// On the left 1 + erf cancels: at x = -5 one digit is left, below -5.6 none, and at -infinity it is NaN.
void erf_tail(const Gelu::Problem& p, const Gelu::Input& in, Gelu::Output& out) {
  for (Index i = 0; i < p.n; ++i) {
    const float x = in.in[0][i];
    out.first[i] = 0.5F * x * (1 + std::erf(x * (std::numbers::sqrt2_v<float> / 2)));
  }
}

// Published: the approximation with tanh of Hendrycks and Gimpel (2016), section 2, in place of the erf form,
// as in libraries that have one GELU for both names. It is off by up to 4.7e-4.
void tanh_form(const Gelu::Problem& p, const Gelu::Input& in, Gelu::Output& out) {
  for (Index i = 0; i < p.n; ++i) out.first[i] = pointwise::GeluTanh::apply<float>({in.in[0][i]}, 1)[0];
}

using Sgd = Pointwise<pointwise::Sgd>;

// Published as SGDW (Loshchilov and Hutter 2019, algorithm 1): the decay is taken from p at once, and no
// buffer has it. Put in place of SGD, it is another regularization.
void decay_beside_momentum(const Sgd::Problem& p, const Sgd::Input& in, Sgd::Output& out) {
  for (Index i = 0; i < p.n; ++i) {
    const auto [step, b] = pointwise::Sgd::apply<float>({0, in.in[1][i], in.in[2][i]}, 1);
    const float x = in.in[0][i];
    out.first[i] = x + step - static_cast<float>(pointwise::Sgd::rate * pointwise::Sgd::decay) * x;
    out.second[i] = b;
  }
}

// Published: passes over a column of A whose x is 0, as the reference BLAS did in DGEMV and DGEMM for
// decades. A NaN or an infinity in that column is lost.
void skips_zeros(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  std::ranges::fill(out.y, 0.0F);
  for (Index l = 0; l < p.terms(); ++l) {
    if (in.x[l] == 0) continue;
    for (Index i = 0; i < p.results(); ++i) out.y[i] += a(i, l) * in.x[l];
  }
}

void normalize(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out, Index row,
               float mean, float variance) {
  const float rstd = 1 / std::sqrt(variance + static_cast<float>(layernorm::epsilon));
  known_cheats::layer_norm_row(p, in, out, row, {mean, rstd});
}

// Published: the variance as sum x^2 / n - mean^2, in one pass over the row. Both terms are about mean^2, and
// their cancellation takes the digits of the variance with it.
void sum_of_squares(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const auto cols = static_cast<float>(p.cols);
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float sum = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      sum += x[j];
      squares += x[j] * x[j];
    }
    const float mean = sum / cols;
    // Without the floor of zero the root of a negative variance would be NaN.
    normalize(p, in, out, r, mean, std::max(squares / cols - mean * mean, 0.0F));
  }
}

// The same for channels, as common in fused and in synchronized forms, whose processes add up two sums.
void sums_of_channels(const BatchNorm::Problem& p, const BatchNorm::Input& in, BatchNorm::Output& out) {
  const auto count = static_cast<float>(p.count());
  for (Index c = 0; c < p.c; ++c) {
    float sum = 0, squares = 0;
    batch_norm::each_in_channel(p, c, [&](Index at) {
      sum += in.x[at];
      squares += in.x[at] * in.x[at];
    });
    const float mean = out.mean[c] = sum / count, variance = std::max(squares / count - mean * mean, 0.0F);
    const float rstd = out.rstd[c] = 1 / std::sqrt(variance + static_cast<float>(layernorm::epsilon));
    batch_norm::each_in_channel(
        p, c, [&](Index at) { out.y[at] = (in.x[at] - mean) * rstd * in.gamma[c] + in.beta[c]; });
  }
}

// Published: Welford's one-pass updates in single precision, "for stability". Each update rounds the mean;
// where the mean is large beside the spread, the rounding is as large as the terms of the squares. The plain
// two-pass formula rounds the mean once and is closer.
void welford_in_single(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float mean = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float before = x[j] - mean;
      mean += before / static_cast<float>(j + 1);
      squares += before * (x[j] - mean);
    }
    normalize(p, in, out, r, mean, squares / static_cast<float>(p.cols));
  }
}

// Published: dx = a dy gamma + b x + c with b = (mean sum(w) - sum(w x)) rstd^3 / n and c = -b mean - sum(w)
// rstd / n, which saves the subtraction x - mean in both walks (w = dy gamma, a = rstd). Where the mean is
// large beside the spread, the two products in b, and then b x and c, are nearly equal: their difference is
// rounding.
void line_in_x(const LayerNormBackward::Problem& p, const LayerNormBackward::Input& in,
               LayerNormBackward::Output& out) {
  std::ranges::fill(out.dgamma, 0.0F);
  std::ranges::fill(out.dbeta, 0.0F);
  for (Index r = 0; r < p.rows; ++r) {
    const float* dy = in.dy.data() + r * p.cols;
    const float* x = in.x.data() + r * p.cols;
    const float mean = in.mean[r], a = in.rstd[r], share = 1 / static_cast<float>(p.cols);
    float of_w = 0, of_w_x = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float w = dy[j] * in.gamma[j];
      of_w += w;
      of_w_x += w * x[j];
      out.dgamma[j] += dy[j] * ((x[j] - mean) * a);
      out.dbeta[j] += dy[j];
    }
    const float b = (of_w * mean - of_w_x) * a * a * a * share;
    const float c = -b * mean - of_w * a * share;
    for (Index j = 0; j < p.cols; ++j) out.dx[r * p.cols + j] = a * dy[j] * in.gamma[j] + b * x[j] + c;
  }
}

// Common in converted models: ONNX has the gates in the order i, o, f, g, and its weights have the same
// shape.
void gates_of_onnx(const Lstm::Problem& p, const Lstm::Input& in, Lstm::Output& out) {
  lstm::forward(p, in, out, [](const std::array<float, 4>& z, float c_before) {
    return lstm::cell<float>({z[0], z[2], z[3], z[1]}, c_before);
  });
}

// Common in backward passes by hand: one variable for the cell state, which is already that of the step
// before when the slope of tanh is taken at it.
void tanh_of_step_before(const LstmBackward::Problem& p, const LstmBackward::Input& in,
                         LstmBackward::Output& out) {
  lstm::backward(p, in, out, [](float dh, float arrived, const std::array<float, 4>& gates, float, float c) {
    return lstm::cell_gradient<float>(dh, arrived, gates, c, c);
  });
}

// Common in first versions: softmax by its formula, without the largest number of the row subtracted. From 89
// on exp is infinite in single precision, and the quotient is NaN.
void shares_without_maximum(const float* x, Index cols, float* y) {
  float sum = 0;
  for (Index j = 0; j < cols; ++j) sum += y[j] = std::exp(x[j]);
  for (Index j = 0; j < cols; ++j) y[j] /= sum;
}

void no_maximum(const Softmax::Problem& p, const Softmax::Input& in, Softmax::Output& out) {
  for (Index i = 0; i < p.rows; ++i) {
    shares_without_maximum(in.x.data() + i * p.cols, p.cols, out.y.data() + i * p.cols);
  }
}

void no_maximum_of_logits(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
                          SoftmaxCrossEntropy::Output& out) {
  const auto everywhere = static_cast<float>(p.everywhere()), at_label = static_cast<float>(p.at_label());
  for (Index i = 0; i < p.rows; ++i) {
    float* const dx = out.dx.data() + i * p.cols;
    shares_without_maximum(in.x.data() + i * p.cols, p.cols, dx);
    float loss = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float target = everywhere + (j == in.label[i] ? at_label : 0);
      if (target > 0) loss -= target * std::log(dx[j]);
      dx[j] = (dx[j] - target) / static_cast<float>(p.rows);
    }
    out.loss[i] = loss;
  }
}

// Common in fused kernels: they replace softmax, loss and gradient for hard labels, and take the place of a
// loss with label smoothing all the same. The gradient of every class is then off by e / cols, and nothing
// fails.
void smoothing_left_out(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
                        SoftmaxCrossEntropy::Output& out) {
  SoftmaxCrossEntropy::Problem hard = p;
  hard.smoothing = 0;
  known_cheats::softmax_cross_entropy(hard, in, out, [](double x) { return std::exp(x); });
}

const Register registered{[](Registry& r) {
  r.add<Attention>(
      {.name = "large_negative_mask",
       .summary = "masks by adding -10,000 to scores",
       .known_bad = "Transformers' early models: a row that is masked whole attends to its padding",
       .run = large_negative_mask});
  r.add<Attention>({.name = "no_maximum_of_scores",
                    .summary = "one pass over the keys, powers summed as they are",
                    .known_bad = "the formula as it is printed: overflows where a score is above 88",
                    .run = no_maximum_of_scores});
  r.add<AdamWPaper>(
      {.name = "epsilon_inside_root",
       .summary = "one addition fewer: sqrt(v_hat + eps)",
       .known_bad = "SmallMind SIMD report: epsilon under the root, offered as the paper's form",
       .run = epsilon_inside_root});
  r.add<Gelu>({.name = "erf_tail",
               .summary = "x / 2 (1 + erf), which cancels on the left",
               .known_bad = "common in frameworks: no digit is left below x = -5.6, and NaN at -infinity",
               .run = erf_tail});
  r.add<Gelu>({.name = "tanh_form",
               .summary = "GELU by tanh for GELU by erf",
               .known_bad = "arXiv:1606.08415, section 2: an approximation taken for the function",
               .run = tanh_form});
  r.add<Sgd>({.name = "decay_beside_momentum",
              .summary = "weight decay taken from the parameters at once",
              .known_bad = "arXiv:1711.05101, algorithm 1: SGDW in place of SGD",
              .run = decay_beside_momentum});
  r.add<Gemv>({.name = "skips_zeros",
               .summary = "passes over columns that a zero multiplies",
               .known_bad = "Reference-LAPACK/lapack issue 179: 0 NaN and 0 inf are left out",
               .run = skips_zeros});
  constexpr auto squares = "sum_of_squares", one_pass = "one pass for sum and sum of squares",
                 cancels = "common in fused kernels: cancels where the mean is large beside the spread";
  r.add<LayerNorm>({.name = squares, .summary = one_pass, .known_bad = cancels, .run = sum_of_squares});
  r.add<BatchNorm>({.name = squares, .summary = one_pass, .known_bad = cancels, .run = sums_of_channels});
  r.add<LayerNorm>({.name = "welford_in_single",
                    .summary = "Welford's updates in single precision",
                    .known_bad = "the LayerNorm of several frameworks: the mean is rounded at every update",
                    .run = welford_in_single});
  r.add<LayerNormBackward>(
      {.name = "line_in_x",
       .summary = "dx as one line in x for each row",
       .known_bad = "PyTorch's CPU kernel: cancels where the mean is large beside the spread",
       .run = line_in_x});
  r.add<Lstm>({.name = "gates_of_onnx",
               .summary = "weights of another framework as they are",
               .known_bad = "models converted from ONNX: its gates are in the order i, o, f, g",
               .run = gates_of_onnx});
  r.add<LstmBackward>({.name = "tanh_of_step_before",
                       .summary = "one variable for the cell state",
                       .known_bad = "passes by hand: c[t - 1] where the slope of tanh is that at c[t]",
                       .run = tanh_of_step_before});
  constexpr auto without = "softmax without the largest logit subtracted",
                 as_printed = "the formula as textbooks print it: overflows where a logit is above 88";
  r.add<Softmax>({.name = "no_maximum", .summary = without, .known_bad = as_printed, .run = no_maximum});
  r.add<SoftmaxCrossEntropy>({.name = "no_maximum_of_logits",
                              .summary = without,
                              .known_bad = as_printed,
                              .run = no_maximum_of_logits});
  r.add<SoftmaxCrossEntropy>(
      {.name = "smoothing_left_out",
       .summary = "fused for hard labels only",
       .known_bad = "fused cross-entropy kernels put in place of a loss with label smoothing",
       .run = smoothing_left_out});
}};

}  // namespace
}  // namespace assay
