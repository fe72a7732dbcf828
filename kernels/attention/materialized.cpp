// The idea: the products and the softmax of `online`, by the same machine code, with all scores of a head in
// memory. What `online` is faster than this comes from its tiles alone.

#include "attention/tiles.hpp"

#include "assay/registry.hpp"

#include <cmath>
#include <limits>

namespace assay::attention {
namespace {

class Materialized {
 public:
  Materialized(const Attention::Problem& p, const Tier& tier)
      : p_(p),
        tier_(tier),
        products_(tier.products),
        row_((p.tokens + 15) / 16 * 16),
        scores_(p.tokens * row_) {
    products_.plan(to_scores());
    products_.plan(from_scores());
  }

  void run(const Attention::Input& in, Attention::Output& out) {
    const float scale = 1 / std::sqrt(static_cast<float>(p_.d));
    constexpr float hidden = -std::numeric_limits<float>::infinity();
    for (Index head = 0; head < p_.heads; ++head) {
      const Index from = head * p_.tokens * p_.d;
      blocked::Product scores = to_scores(), mix = from_scores();
      scores.a = in.q.data() + from;
      scores.b = in.k.data() + from;
      mix.a = scores.c = scores_.data();
      mix.b = in.v.data() + from;
      mix.c = out.y.data() + from;
      products_.run(scores);
      for (Index i = 0; i < p_.tokens; ++i) {
        float* const s = scores_.data() + i * row_;
        hide(p_, i, 0, p_.tokens, s);
        std::fill(s + p_.tokens, s + row_, hidden);
        float largest = hidden, sum = 0;
        tier_.online_row(s, row_, scale, &largest, &sum, nullptr, 0);
        const float share = sum == 0 ? 0 : 1 / sum;
        for (Index j = 0; j < p_.tokens; ++j) s[j] *= share;
      }
      products_.run(mix);
    }
  }

 private:
  blocked::Product to_scores() const {
    return {.m = p_.tokens,
            .n = p_.tokens,
            .k = p_.d,
            .lda = p_.d,
            .ldb = p_.d,
            .ldc = row_,
            .b_transposed = true};
  }
  blocked::Product from_scores() const {
    return {.m = p_.tokens, .n = p_.d, .k = p_.tokens, .lda = row_, .ldb = p_.d, .ldc = p_.d};
  }

  Attention::Problem p_;
  Tier tier_;
  Products products_;
  Index row_;
  Buffer<float> scores_;
};

const Register registered{[](Registry& r) {
  r.add<Attention>({.name = "materialized",
                    .summary = "the best tier's products, all scores of a head in memory",
                    .prepare = [](const Attention::Problem& p, const auto&, const Context&) {
                      return [state = std::make_shared<Materialized>(p, best_of(tiers()))](
                                 const auto& in, auto& out) { state->run(in, out); };
                    }});
}};

}  // namespace
}  // namespace assay::attention
