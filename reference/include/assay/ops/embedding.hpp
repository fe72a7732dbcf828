/// The contracts `embedding`, rows of a table by their numbers, its gradient `embedding_backward`, and
/// `dropout`, which is its own gradient.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace embedding {

/// `ids`: all rows alike; as words of a language, where row r is about r + 1 times as rare as row 0; or one
/// row alone. Of the first two kinds the last row and the first are among the ids.
inline constexpr std::array<std::string_view, 3> id_words{"uniform", "words", "one"};

struct Problem {
  Index n = 1;     ///< ids
  Index rows = 1;  ///< of the table
  Index d = 1;     ///< numbers of a row
  Index ids = 0;   ///< position in `id_words`
  static constexpr Listed fields{field("n", &Problem::n), field("rows", &Problem::rows),
                                 field("d", &Problem::d), of_content(choice("ids", &Problem::ids, id_words))};
};

struct Ids {
  /// Another row, where there is one.
  static void salt(const Problem& p, const auto& /*input*/, std::string_view, Index, Index& id,
                   Setting& setting) {
    if (p.rows > 1) id = (id + setting.rng.integer(1, p.rows - 1)) % p.rows;
  }
};

}  // namespace embedding

/// y[i, :] = table[ids[i], :], with ids in [0, rows).
///
/// Bound: 0, since numbers are moved.
///
/// Source: Bengio et al., A neural probabilistic language model, JMLR 3, 2003, section 2.
struct Embedding : FromParts<Embedding>, embedding::Ids {
  static constexpr std::string_view name = "embedding";
  static constexpr std::string_view about = "y[i, :] = table[ids[i], :], f32";

  using Problem = embedding::Problem;
  struct Input {
    Buffer<Index> ids;
    Buffer<float> table;
    static constexpr Listed parts{part("ids", &Input::ids, &Problem::n),
                                  part("table", &Input::table, &Problem::rows, &Problem::d)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::n, &Problem::d)};
  };

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// A row for each id; those that an id before had may be at hand.
  static Cost cost(const Problem& p) {
    const double row = 4 * static_cast<double>(p.d), n = static_cast<double>(p.n);
    return {
        .bytes_read = n * (sizeof(Index) + row), .bytes_written = n * row, .avoidable_bytes = (n - 1) * row};
  }
  /// A unit is a row of y.
  static Index units(const Problem& p) { return p.n; }
};

extern template class detail::TypedOperation<Embedding>;

/// dtable[r, :] = sum of dy[i, :] over all i with ids[i] = r; 0 where there is none.
///
/// Bound, with k ids that name the row: g(k - 1) sum |dy[i, j]|. Exact, where all numbers are small integers.
///
/// Source: the gradient of the above; PyTorch (derivatives.yaml, embedding_dense_backward), without a
/// padding_idx and not scaled by frequency.
struct EmbeddingBackward : FromParts<EmbeddingBackward>, embedding::Ids {
  static constexpr std::string_view name = "embedding_backward";
  static constexpr std::string_view about = "dtable[r, :] = sum of dy[i, :] over ids[i] = r, f32";

  using Problem = embedding::Problem;
  struct Input {
    Buffer<Index> ids;
    Buffer<float> dy;
    static constexpr Listed parts{part("ids", &Input::ids, &Problem::n),
                                  part("dy", &Input::dy, &Problem::n, &Problem::d)};
  };
  struct Output {
    Buffer<float> dtable;
    static constexpr Listed parts{part("dtable", &Output::dtable, &Problem::rows, &Problem::d)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  /// A sample of the rows of large tables, half of them named by ids.
  static Expected expect(const Problem&, const Input&, Setting&);
  static Index terms(const Problem& p) { return p.n; }
  static double flops(const Problem& p) { return product(p.n, p.d); }
  static double expected_bytes(const Problem& p) { return samples(p) ? 0 : FromParts::expected_bytes(p); }
  /// A unit is a row of dtable.
  static Index units(const Problem& p) { return p.rows; }
  static bool samples(const Problem& p) { return product(p.rows, p.d) > 0x1p22; }
};

extern template class detail::TypedOperation<EmbeddingBackward>;

/// y = x keep / (1 - p), where keep is 0 or 1 and p the probability of a drop: the masks are data, so that a
/// random number generator is no part of it. A number that is dropped and not finite is NaN, as frameworks
/// compute it. With dy in place of x it is dx.
///
/// Bound: 2 u |y|, of the factor and of the product.
///
/// Source: Srivastava et al., Dropout, JMLR 15, 2014, section 10, last paragraph: scaled in training, not in
/// use.
struct Dropout : ByElement<Dropout> {
  static constexpr std::string_view name = "dropout";
  static constexpr std::string_view about = "y = x keep / (1 - p), masks of bytes, f32";
  static constexpr std::array<std::string_view, 2> value_words{"usual", "special"};

  struct Problem {
    Index n = 1;
    Index p = 10;      ///< hundredths
    Index values = 0;  ///< position in `value_words`; the special ones are NaN or infinite, some of them
    static constexpr Listed fields{field("n", &Problem::n), option("p", &Problem::p, 10, 0, 99),
                                   of_content(choice("values", &Problem::values, value_words))};
    /// 1 / (1 - p).
    double factor() const { return 100 / static_cast<double>(100 - p); }
  };
  struct Input {
    Buffer<float> x;
    Buffer<std::uint8_t> keep;
    static constexpr Listed parts{part("x", &Input::x, &Problem::n), part("keep", &Input::keep, &Problem::n)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::n)};
  };

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static void draw(const Problem& p, std::string_view, std::uint8_t& keep, Setting& setting) {
    keep = setting.rng.unit() * 100 >= static_cast<double>(p.p) ? 1 : 0;
  }
  static void salt(const Problem&, const Input&, std::string_view, Index, std::uint8_t& keep, Setting&) {
    keep = keep == 0 ? 1 : 0;
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return static_cast<double>(p.n); }
};

extern template class detail::TypedOperation<Dropout>;

}  // namespace assay
