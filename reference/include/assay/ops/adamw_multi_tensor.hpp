/// The contract `adamw_multi_tensor`: one step of AdamW over many tensors, which lie apart in memory.
#pragma once

#include "assay/ops/adamw.hpp"
#include "assay/registry.hpp"

#include <array>
#include <vector>

namespace assay {

/// Step t of `adamw`, the form of the paper, for every parameter of every tensor. The tensors lie one after
/// the other in p, m, v and g, with gaps between them: tensor k is [begin, begin + count) of
/// spans(problem)[k]. Gaps keep their bits: tensors are allocations of their own, and what lies between
/// belongs to others. The starts are no multiples of anything.
///
/// `sizes`: with `equal`, every tensor has n parameters. With `network`, every third has n and the two after
/// it max(1, n / 256), as a weight is followed by the two vectors of its normalization: of the 161 tensors of
/// ResNet-50, 106 are such vectors or a bias (He et al. 2016, table 1, with batch normalization).
///
/// Bound: that of `adamw`, parameter by parameter; zero in the gaps.
///
/// Source: as for `adamw`; the many small tensors: PyTorch, torch.optim.AdamW, argument foreach.
struct AdamWMultiTensor : AdamWPaper {
  static constexpr std::string_view name = "adamw_multi_tensor";
  static constexpr std::string_view about =
      "the step of adamw over many tensors that lie apart, f32, in place";

  static constexpr std::array<std::string_view, 2> size_words{"equal", "network"};

  struct Problem {
    Index tensors = 1;
    Index n = 1;      ///< parameters of the largest
    Index sizes = 0;  ///< position in `size_words`
    Index t = 1;      ///< step, counted from 1
    static constexpr auto fields() {
      return std::tuple{field("tensors", &Problem::tensors), field("n", &Problem::n),
                        choice("sizes", &Problem::sizes, size_words), option("t", &Problem::t, 1, 1, 100000)};
    }
    /// The flat arrays as one problem, gaps included, which is where a unit may be, too.
    operator AdamWPaper::Problem() const;
  };
  struct Span {
    Index begin = 0, count = 0;
  };
  static std::vector<Span> spans(const Problem& problem);
  /// Parameters of all tensors.
  static Index parameters(const Problem& problem);

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
};

extern template class detail::TypedOperation<AdamWMultiTensor>;

}  // namespace assay
