#include "assay/ops/attention.hpp"

#include "assay/ops/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

using Problem = Attention::Problem;

void naive(const Problem& p, const Attention::Input& in, Attention::Output& out) {
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
double pairs(const Problem& p) {
  const auto seen = static_cast<double>(p.tokens - p.first_key());
  return p.mask == 0 ? static_cast<double>(p.tokens) * seen : seen * (seen + 1) / 2;
}

const Register registered{[](Registry& r) {
  r.add<Attention>({.name = "naive",
                    .summary = "the scores of a head in memory, softmax by rows, then their product with v",
                    .run = naive});
}};

}  // namespace

auto Attention::corner_cases() -> std::vector<Problem> {
  return problems<Problem>({// Around vectors and around tiles of 64 rows and keys.
                            "heads=2,tokens=1,d=1,mask=none|causal", "heads=2,tokens=7,d=8,mask=none|causal",
                            "heads=1,tokens=32,d=17,mask=none|causal",
                            "heads=2,tokens=65,d=5,mask=none|causal", "heads=1,tokens=130,d=16,mask=causal",
                            // Rows that see nothing under the causal mask, a whole tile of them, and all
                            // rows; keys that nobody sees.
                            "heads=1,tokens=70,d=4,mask=causal,padding=5|66",
                            "heads=2,tokens=9,d=3,padding=4|9",
                            "heads=1,tokens=67,d=4,mask=none|causal,padding=3,scores=large"});
}

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
  Expected want{elements_of(rows, p.d), {}, {}};
  const double scale = 1 / std::sqrt(static_cast<double>(p.d));
  std::vector<double> share, error;
  for (Index next = 0; next < rows.size(); ++next) {
    const Index head = rows[next] / p.tokens, i = rows[next] % p.tokens, first = p.first_key();
    const float *q = in.q.data() + rows[next] * p.d, *k = in.k.data() + head * p.tokens * p.d,
                *v = in.v.data() + head * p.tokens * p.d;
    const Index end = std::max(first, p.keys_end(i));
    const auto n = static_cast<double>(end - first);
    share.clear();
    error.clear();
    for (Index j = first; j < end; ++j) {
      double sum = 0, size = 0;
      for (Index c = 0; c < p.d; ++c) {
        const double term = static_cast<double>(q[c]) * static_cast<double>(k[j * p.d + c]);
        sum += term;
        size += std::abs(term);
      }
      share.push_back(scale * sum);
      error.push_back(g(static_cast<double>(p.d) + 3) * scale * size);
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
        const double term = share[j] * static_cast<double>(v[(first + static_cast<Index>(j)) * p.d + c]);
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

template class detail::TypedOperation<Attention>;

}  // namespace assay
