// The idea: ids are sorted by their rows, in as many steps as there are ids and rows. Each row of the
// gradient is then summed in registers and written once, where `naive` writes zeros and reads and writes it
// again for each id. Threads divide the columns, so that it does not matter how often an id comes. Limit:
// gradients of few columns leave threads idle.

#include "embedding/divided.hpp"
#include "team.hpp"
#include "tiers.hpp"

#include <algorithm>
#include <vector>

#define HWY_TARGET_INCLUDE "embedding/sorted.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::embedding::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// Writes `count` vectors of the sum of some rows of dy, `d` apart.
template <int count, class Access>
HWY_INLINE void sum(const float* dy, Index d, const Index* id, const Index* last, float* to, Access access) {
  Vector sums[static_cast<std::size_t>(count)];
  for (int k = 0; k < count; ++k) sums[k] = hn::Zero(Floats());
  for (; id < last; ++id) {
    const float* const row = dy + *id * d;
    for (int k = 0; k < count; ++k) sums[k] = hn::Add(sums[k], access.load(row + k * lanes));
  }
  for (int k = 0; k < count; ++k) access.store(sums[k], to + k * lanes);
}

/// The columns [begin, end) of the gradient. The ids of row r stand in [first[r], first[r + 1]) of `order`.
void columns(const Problem& p, const float* dy, const Index* first, const Index* order, Index begin,
             Index end, float* dtable) {
  for (Index r = 0; r < p.rows; ++r) {
    const Index *const id = order + first[r], *const last = order + first[r + 1];
    float* const to = dtable + r * p.d;
    Index j = begin;
    for (; j + 4 * lanes <= end; j += 4 * lanes) sum<4>(dy + j, p.d, id, last, to + j, Whole{});
    for (; j + lanes <= end; j += lanes) sum<1>(dy + j, p.d, id, last, to + j, Whole{});
    if (j < end) sum<1>(dy + j, p.d, id, last, to + j, Some{end - j});
  }
}

}  // namespace assay::embedding::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::embedding {

HWY_EXPORT(columns);

namespace {

/// The numbers of the ids, sorted by the rows that the ids name.
struct Sorted {
  explicit Sorted(const Problem& p)
      : first(static_cast<std::size_t>(p.rows) + 2), order(static_cast<std::size_t>(p.n)) {}

  void sort(const Buffer<Index>& ids) {
    // While ids are put in their places, the place of the next one of row r stands one further, in r + 1.
    std::ranges::fill(first, 0);
    for (const Index id : ids) ++first[static_cast<std::size_t>(id) + 2];
    for (std::size_t r = 2; r < first.size(); ++r) first[r] += first[r - 1];
    for (Index i = 0; i < ids.size(); ++i) {
      order[static_cast<std::size_t>(first[static_cast<std::size_t>(ids[i]) + 1]++)] = i;
    }
  }

  std::vector<Index> first, order;
};

template <class Function>
auto kernel_of(Function* function, const Problem& p, int threads) {
  return [=, by_row = Sorted(p)](const EmbeddingBackward::Input& in, EmbeddingBackward::Output& out) mutable {
    by_row.sort(in.ids);
    on_shares(threads, p.d, [&](Index begin, Index end) {
      function(p, in.dy.data(), by_row.first.data(), by_row.order.data(), begin, end, out.dtable.data());
    });
  };
}

}  // namespace

Variant<EmbeddingBackward>::Kernel sorted(const Problem& p, int threads) {
  return kernel_of(best_of(tiers_in(HWY_DISPATCH_TABLE(columns))).function, p, threads);
}

const Register registered{[](Registry& r) {
  add_tiers<EmbeddingBackward>(
      r, tiers_in(HWY_DISPATCH_TABLE(columns)),
      {.name = "sorted", .summary = "ids sorted by rows, each of which is written once, vectors of {}"},
      [](const auto& tier, const Problem& p, const auto&) { return kernel_of(tier.function, p, 1); });
}};

}  // namespace assay::embedding
#endif
