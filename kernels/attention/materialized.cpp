// The idea: the products of `gemm` and the softmax of `online`, by the same machine code, with all scores of
// a head in memory. The gain of `online` over this variant comes from its blocks alone.

#include "attention/tiles.hpp"
#include "blocks.hpp"
#include "gemm/products.hpp"

#include <algorithm>
#include <limits>

namespace assay::attention {
namespace {

class Materialized {
 public:
  Materialized(const Attention::Problem& p, const Tier& tier)
      : p_(p),
        tier_(tier),
        products_(tier.products),
        width_(rounded_up(p.tokens, row_unit)),
        // One line more: otherwise a column of scores would use few sets of the caches.
        row_(width_ + 16),
        scores_(p.tokens * row_) {
    products_.plan(to_scores());
    products_.plan(from_scores());
  }

  void operator()(const Attention::Input& in, Attention::Output& out) {
    constexpr float hidden = -std::numeric_limits<float>::infinity();
    for (Index head = 0; head < p_.heads; ++head) {
      const Index from = head * p_.tokens * p_.d;
      products_.run(blocked::with(to_scores(), in.q.data() + from, in.k.data() + from, scores_.data()));
      for (Index i = 0; i < p_.tokens; ++i) {
        float* const s = scores_.data() + i * row_;
        std::fill(s, s + p_.first_key(), hidden);
        std::fill(s + p_.keys_end(i), s + width_, hidden);
        tier_.softmax_row(s, width_);
      }
      products_.run(blocked::with(from_scores(), scores_.data(), in.v.data() + from, out.y.data() + from));
    }
  }

 private:
  blocked::Product to_scores() const {
    return blocked::product({nullptr, p_.d}, {nullptr, p_.d, true}, nullptr, row_, p_.tokens, p_.tokens, p_.d,
                            to_powers_of_two(p_));
  }
  blocked::Product from_scores() const {
    return {.m = p_.tokens, .n = p_.d, .k = p_.tokens, .lda = row_, .ldb = p_.d, .ldc = p_.d};
  }

  Attention::Problem p_;
  Tier tier_;
  blocked::Products products_;
  Index width_, row_;
  Buffer<float> scores_;
};

const Register registered{[](Registry& r) {
  r.add<Attention>({.name = "materialized",
                    .summary = "the best tier's products, all scores of a head in memory",
                    .prepare = [](const Attention::Problem& p, const auto&, const Context&) {
                      return Materialized(p, best_of(tiers()));
                    }});
}};

}  // namespace
}  // namespace assay::attention
