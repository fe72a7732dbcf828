/// The contract `concatenate`: pieces one after the other in one array, of one type or of two.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <vector>

namespace assay {

/// Piece i has n + i % 3 numbers. all[size] are the numbers of the pieces in their order.
///
/// `types=same`: every piece is f32, and so is all. `types=mixed`: pieces 2, 5, 8, … are f64, the others f32,
/// and all is f64, the type that holds both, as frameworks promote. Each piece comes dense in the buffer of
/// its type, `narrow` or `wide`; the result is in the buffer of the same name, and the other one has no
/// elements.
///
/// The result has the same value: widening is exact. An array made for the type of the first piece is not.
///
/// Source: the promotion: NumPy, numpy.concatenate and numpy.result_type (Harris et al., Array programming
/// with NumPy, Nature 585, 2020).
struct Concatenate : FromParts<Concatenate> {
  static constexpr std::string_view name = "concatenate";
  static constexpr std::string_view about =
      "all = the pieces one after the other, f32, or f64 where a piece is";
  static constexpr std::array<std::string_view, 2> type_words{"same", "mixed"};

  struct Problem {
    Index pieces = 1, n = 1;
    Index types = 0;  ///< position in `type_words`
    static constexpr auto fields() {
      return std::tuple{option("pieces", &Problem::pieces, 1, 1, 65536), field("n", &Problem::n),
                        choice("types", &Problem::types, type_words)};
    }
    Index length(Index piece) const { return n + piece % 3; }
    bool is_wide(Index piece) const { return types == 1 && piece % 3 == 2; }
    /// Whether the result is f64.
    bool widens() const { return types == 1 && pieces > 2; }
    /// Numbers in pieces of f64 or of f32.
    Index numbers(bool wide) const;
    Index narrow() const { return numbers(false); }
    Index wide() const { return numbers(true); }
    Index narrow_results() const { return widens() ? 0 : narrow(); }
    Index wide_results() const { return widens() ? narrow() + wide() : 0; }
  };
  struct Input {
    Buffer<float> narrow;
    Buffer<double> wide;
    static constexpr auto parts() {
      return std::tuple{part("narrow", &Input::narrow, &Problem::narrow),
                        part("wide", &Input::wide, &Problem::wide)};
    }
  };
  struct Output {
    Buffer<float> narrow;
    Buffer<double> wide;
    static constexpr auto parts() {
      return std::tuple{part("narrow", &Output::narrow, &Problem::narrow_results),
                        part("wide", &Output::wide, &Problem::wide_results)};
    }
  };
  struct Expected {
    Expectation narrow, wide;  ///< one of them is empty
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
};

namespace concatenate {

/// Calls visit(place in the result, numbers, length) for each piece in order; `numbers` points to float or
/// double.
template <class Visit>
void for_each_piece(const Concatenate::Problem& p, const Concatenate::Input& in, const Visit& visit) {
  const float* narrow = in.narrow.data();
  const double* wide = in.wide.data();
  Index place = 0;
  for (Index piece = 0; piece < p.pieces; ++piece) {
    const Index length = p.length(piece);
    if (p.is_wide(piece)) {
      visit(place, wide, length);
      wide += length;
    } else {
      visit(place, narrow, length);
      narrow += length;
    }
    place += length;
  }
}

}  // namespace concatenate

extern template class detail::TypedOperation<Concatenate>;

}  // namespace assay
