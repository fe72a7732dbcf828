/// The contract `chunks`: independent tasks of equal or unequal length, to be shared out among threads.
#pragma once

#include "assay/registry.hpp"

#include <vector>

namespace assay {

/// value[i] = the number after rounds_i rounds of a fixed scrambling from seed[i], for each i < n, in any
/// order.
///
/// `skew` says how long tasks are, in rounds of some nanoseconds each: all `grain`; from nearly 0 up to 2
/// grain in the order of i; or grain but for the last eighth, which take 9 grain. Shares of equal counts are
/// unequal work then. static_loss() says by how much, which is the most that any other division can gain:
/// with no skew, nothing.
///
/// Same bits. Source: self-scheduling against skew: Polychronopoulos and Kuck, IEEE Trans. Computers
/// C-36(12), 1987; stealing: Blumofe and Leiserson, J. ACM 46(5), 1999. The scrambling: splitmix64, Steele,
/// Lea and Flood 2014.
struct Chunks : FromParts<Chunks> {
  static constexpr std::string_view name = "chunks";
  static constexpr std::string_view about = "n independent tasks of equal or skewed length, each once";
  static constexpr std::array<std::string_view, 3> skew_words{"none", "linear", "tail"};

  struct Problem {
    Index n = 1;
    Index grain = 1;  ///< rounds
    Index skew = 0;   ///< position in `skew_words`
    static constexpr auto fields() {
      return std::tuple{field("n", &Problem::n), option("grain", &Problem::grain, 1, 1, 1 << 20),
                        choice("skew", &Problem::skew, skew_words)};
    }
    Index rounds(Index i) const;
  };
  struct Input {
    Buffer<std::uint64_t> seed;
    static constexpr auto parts() { return std::tuple{part("seed", &Input::seed, &Problem::n)}; }
  };
  struct Output {
    Buffer<std::uint64_t> value;
    static constexpr auto parts() { return std::tuple{part("value", &Output::value, &Problem::n)}; }
  };
  struct Expected {
    std::vector<std::uint64_t> value;
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static constexpr bool f32 = false;
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);
};

namespace chunks {

/// The tasks [begin, end).
void work(const Chunks::Problem& problem, const Chunks::Input& input, Index begin, Index end,
          Chunks::Output& output);

/// The longest of `threads` shares of equal counts, in order, in units of an equal share of the work.
double static_loss(const Chunks::Problem& problem, int threads);

}  // namespace chunks

extern template class detail::TypedOperation<Chunks>;

}  // namespace assay
