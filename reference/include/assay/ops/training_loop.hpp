/// The contracts of what surrounds the products of a training loop: `staged_copy`, `state_buffers`,
/// `concatenate`, `table_copy`, `chunks` and `checkpointing`.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <vector>

namespace assay {

/// y[b, i] = h_rounds,  h_0 = 0,  h_r = h_{r-1} / 2 + staged[i],  staged = a copy of x[b, :]
/// for batches b in order. The copy stands for one to pinned memory or to a device, which no kernel may leave
/// out; the rounds stand for the work of a step on the batch.
///
/// A copy that its consumer needs at once overlaps nothing. One of the next batch does, and takes at best
/// max(copy, work) in place of their sum; it needs a second staging area while the first is in use.
///
/// Bound: halves are exact, and each round has one sum, so that
///   |fl(y) - y| <= g(rounds) 2 |x|.
///
/// Source: double buffering: Tanenbaum, Modern Operating Systems, 4th ed. (2014), section 5.3.4; overlapped
/// copies: PyTorch, pin_memory and non_blocking.
struct StagedCopy : ByElement<StagedCopy> {
  static constexpr std::string_view name = "staged_copy";
  static constexpr std::string_view about =
      "each batch copied to a staging area, then worked on from there, f32";

  struct Problem {
    Index batches = 1, n = 1;
    Index rounds = 1;
    static constexpr Listed fields{field("batches", &Problem::batches), field("n", &Problem::n),
                                   option("rounds", &Problem::rounds, 1, 1, 64)};
  };
  struct Input {
    Buffer<float> x;
    static constexpr Listed parts{part("x", &Input::x, &Problem::batches, &Problem::n)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::batches, &Problem::n)};
  };

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return product(p.batches, p.n); }
};

namespace staged_copy {

/// Works on a batch that is staged, or on `count` numbers of it.
inline void consume(Index rounds, const float* __restrict staged, Index count, float* __restrict y) {
  for (Index i = 0; i < count; ++i) y[i] = staged[i];
  for (Index round = 1; round < rounds; ++round) {
    for (Index i = 0; i < count; ++i) y[i] = 0.5F * y[i] + staged[i];
  }
}

}  // namespace staged_copy

extern template class detail::TypedOperation<StagedCopy>;

/// y[s, i] = h_steps,  h_0 = 0,  h_t = h_{t-1} / 2 + x[s, i]
/// for samples s in batches of `batch`, of which the last holds what is left. h is the state of one batch at
/// a time: [batch, hidden] floats that belong to the kernel. Each batch starts from zeros, and a short one
/// has fewer rows.
///
/// The recurrence is that of a layer without weights: a call takes the time of the state's allocation and of
/// its zeros, which training spends beside the products of the layer.
///
/// Bound: halves are exact, and each step has one sum, so that
///   |fl(y) - y| <= g(steps) 2 |x|.
/// With the exact fill the bound is zero: x is a small integer, and 16 steps leave 15 digits after the point.
///
/// Source: the state of a recurrent layer: Hochreiter and Schmidhuber, Long short-term memory, Neural
/// Computation 9(8), 1997.
struct StateBuffers : ByElement<StateBuffers> {
  static constexpr std::string_view name = "state_buffers";
  static constexpr std::string_view about =
      "y = the state after h = h / 2 + x, from zero in each batch, the last of which is short, f32";

  struct Problem {
    Index samples = 1, batch = 1, hidden = 1;
    Index steps = 1;
    static constexpr Listed fields{field("samples", &Problem::samples), field("batch", &Problem::batch),
                                   field("hidden", &Problem::hidden),
                                   option("steps", &Problem::steps, 1, 1, 16)};
  };
  struct Input {
    Buffer<float> x;
    static constexpr Listed parts{part("x", &Input::x, &Problem::samples, &Problem::hidden)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::samples, &Problem::hidden)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  /// The state does not count.
  static double flops(const Problem& p) { return 2 * product(p.samples, p.hidden); }
};

namespace state_buffers {

/// The steps of `rows` samples, in the state h[rows, hidden], which holds zeros.
inline void advance(const StateBuffers::Problem& p, const float* __restrict x, Index rows,
                    float* __restrict h, float* __restrict y) {
  const Index size = rows * p.hidden;
  for (Index step = 0; step < p.steps; ++step) {
    for (Index i = 0; i < size; ++i) h[i] = 0.5F * h[i] + x[i];
  }
  for (Index i = 0; i < size; ++i) y[i] = h[i];
}

}  // namespace state_buffers

extern template class detail::TypedOperation<StateBuffers>;

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
    static constexpr Listed fields{option("pieces", &Problem::pieces, 1, 1, 65536), field("n", &Problem::n),
                                   choice("types", &Problem::types, type_words)};
    Index length(Index piece) const { return n + piece % 3; }
    bool is_wide(Index piece) const { return types == 1 && piece % 3 == 2; }
    /// Whether the result is f64.
    bool widens() const { return types == 1 && pieces > 2; }
    /// Numbers in pieces of f64 or of f32.
    Index numbers(bool wide) const {
      Index sum = 0;
      for (Index piece = 0; piece < pieces; ++piece) sum += is_wide(piece) == wide ? length(piece) : 0;
      return sum;
    }
    Index narrow() const { return numbers(false); }
    Index wide() const { return numbers(true); }
    Index narrow_results() const { return widens() ? 0 : narrow(); }
    Index wide_results() const { return widens() ? narrow() + wide() : 0; }
  };
  struct Input {
    Buffer<float> narrow;
    Buffer<double> wide;
    static constexpr Listed parts{part("narrow", &Input::narrow, &Problem::narrow),
                                  part("wide", &Input::wide, &Problem::wide)};
  };
  struct Output {
    Buffer<float> narrow;
    Buffer<double> wide;
    static constexpr Listed parts{part("narrow", &Output::narrow, &Problem::narrow_results),
                                  part("wide", &Output::wide, &Problem::wide_results)};
  };
  struct Expected {
    Expectation narrow, wide;  ///< one of them is empty
  };

  static const Corners corners;
  static void draw(const Problem&, std::string_view, double& element, Setting& setting) {
    element = setting.rng.uniform(-1, 1);
  }
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

/// derived = a copy of table with a further column, and with another first column:
///   derived[c] = table[c] for 0 < c < columns,  derived[0] = 2 table[0],
///   derived[columns] = table[0] + table[columns - 1]
/// for table[columns, rows], f32, stored by columns, as data frames are. Then both tables are read at every
/// `every`-th row: original[columns, ceil(rows / every)] holds the rows of the table, read after all of that
/// was done, and read[columns + 1, …] those of the derived one. The copy itself is no output: a kernel may
/// share columns or copy them, as long as the table does not change.
///
/// The result has the same value: twice a number is exact, and the sum is rounded once.
///
/// Source: copy-on-write of data frames: McKinney, Data structures for statistical computing in Python, SciPy
/// 2010; pandas, PDEP-7.
struct TableCopy : FromParts<TableCopy> {
  static constexpr std::string_view name = "table_copy";
  static constexpr std::string_view about =
      "a table with a column added and one changed, read beside the original, f32 by columns";

  struct Problem {
    Index columns = 1, rows = 1;
    Index every = 1;  ///< rows from one that is read to the next
    static constexpr Listed fields{field("columns", &Problem::columns), field("rows", &Problem::rows),
                                   option("every", &Problem::every, 1, 1, largest_extent)};
    Index rows_read() const { return (rows + every - 1) / every; }
    Index columns_read() const { return columns + 1; }  ///< of the derived table
  };
  struct Input {
    Buffer<float> table;
    static constexpr Listed parts{part("table", &Input::table, &Problem::columns, &Problem::rows)};
  };
  struct Output {
    Buffer<float> original, read;
    static constexpr Listed parts{part("original", &Output::original, &Problem::columns, &Problem::rows_read),
                                  part("read", &Output::read, &Problem::columns_read, &Problem::rows_read)};
  };
  struct Expected {
    Expectation original, read;
  };

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Counts the numbers that are read from both tables, and the columns that change.
  static Cost cost(const Problem& p) {
    const double read = product(p.columns, p.rows_read()), rows = static_cast<double>(p.rows_read());
    return {.flops = 2 * rows, .bytes_read = 4 * read, .bytes_written = 4 * (2 * read + rows)};
  }
};

namespace table_copy {

/// Reads `columns` columns at every `every`-th row; column(c) is where one starts.
template <class Column>
void read(const TableCopy::Problem& p, Index columns, const Column& column, Buffer<float>& out) {
  float* to = out.data();
  for (Index c = 0; c < columns; ++c) {
    const float* const from = column(c);
    for (Index row = 0; row < p.rows; row += p.every) *to++ = from[row];
  }
}

}  // namespace table_copy

extern template class detail::TypedOperation<TableCopy>;

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
    static constexpr Listed fields{field("n", &Problem::n), option("grain", &Problem::grain, 1, 1, 1 << 20),
                                   choice("skew", &Problem::skew, skew_words)};
    Index rounds(Index i) const;
  };
  struct Input {
    Buffer<std::uint64_t> seed;
    static constexpr Listed parts{part("seed", &Input::seed, &Problem::n)};
  };
  struct Output {
    Buffer<std::uint64_t> value;
    static constexpr Listed parts{part("value", &Output::value, &Problem::n)};
  };
  struct Expected {
    std::vector<std::uint64_t> value;
  };

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  static constexpr bool f32 = false;
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);
};

namespace chunks {

/// The number after `rounds` rounds of scrambling from `value`.
inline std::uint64_t scrambled(std::uint64_t value, Index rounds) {
  for (Index round = 0; round < rounds; ++round) value = splitmix64(value);
  return value;
}

void work(const Chunks::Problem& problem, const Chunks::Input& input, Index begin, Index end,
          Chunks::Output& output);

/// The longest of `threads` shares of equal counts, in order, in units of an equal share of the work.
double static_loss(const Chunks::Problem& problem, int threads);

}  // namespace chunks

extern template class detail::TypedOperation<Chunks>;

/// forward   a_0 = x,  a_{l+1} = f(w_l a_l),  f(z) = z if z >= 0, else z / 2
/// backward  g_L = dy,  s_l = 1 if w_l a_l >= 0, else 1 / 2:  dw_l = g_{l+1} s_l a_l,  g_l = g_{l+1} s_l w_l,
/// dx = g_0 element by element. x, w and dy are between 1/2 and 3/2 in magnitude, so that nothing under- or
/// overflows.
///
/// The backward pass needs the activation of each layer, in reverse. Keeping all takes layers * n floats.
/// Keeping every k-th and making the others again takes about (layers / k + k) n, least at k = sqrt(layers),
/// and one more forward pass less a segment: memory for time, of which neither is free.
///
/// Bound. There are only products, halves are exact, and signs are those of exact products: |fl(dw) - dw| <=
/// g(layers + 2) |dw|, |fl(dx) - dx| <= g(layers) |dx|.
///
/// Source: Griewank and Walther, Algorithm 799: Revolve, ACM TOMS 26(1), 2000; Chen et al., Training deep
/// nets with sublinear memory cost, arXiv:1604.06174, 2016.
struct Checkpointing : FromParts<Checkpointing> {
  static constexpr std::string_view name = "checkpointing";
  static constexpr std::string_view about =
      "both passes of a chain a = f(w a) by elements: dx and dw from activations kept or made again, f32";

  struct Problem {
    Index layers = 1, n = 1;
    static constexpr Listed fields{option("layers", &Problem::layers, 1, 1, 64), field("n", &Problem::n)};
  };
  struct Input {
    Buffer<float> x, w, dy;
    static constexpr Listed parts{part("x", &Input::x, &Problem::n),
                                  part("w", &Input::w, &Problem::layers, &Problem::n),
                                  part("dy", &Input::dy, &Problem::n)};
  };
  struct Output {
    Buffer<float> dx, dw;
    static constexpr Listed parts{part("dx", &Output::dx, &Problem::n),
                                  part("dw", &Output::dw, &Problem::layers, &Problem::n)};
  };
  struct Expected {
    Expectation dx, dw;
  };

  static const Corners corners;
  static void draw(const Problem&, std::string_view, float& element, Setting& setting) {
    const double size = setting.rng.uniform(0.5, 1.5);
    element = static_cast<float>(setting.rng.unit() < 0.5 ? -size : size);
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Activations are a kernel's own.
  static double flops(const Problem& p) { return 3 * product(p.layers, p.n); }
  /// Another number of the same range.
  static void salt(const Problem& p, const Input&, std::string_view part, Index, float& element,
                   Setting& setting) {
    draw(p, part, element, setting);
  }
  /// A unit is an element of x, with all that depends on it.
  static Index units(const Problem& p) { return p.n; }
};

namespace checkpointing {

/// next = f(w a), for n elements.
inline void forward(const float* __restrict w, const float* __restrict a, Index n, float* __restrict next) {
  for (Index i = 0; i < n; ++i) {
    const float z = w[i] * a[i];
    next[i] = z >= 0 ? z : 0.5F * z;
  }
}

/// dw from the gradient g behind the layer, which becomes the one before it.
inline void backward(const float* __restrict w, const float* __restrict a, Index n, float* __restrict g,
                     float* __restrict dw) {
  for (Index i = 0; i < n; ++i) {
    const float through = w[i] * a[i] >= 0 ? g[i] : 0.5F * g[i];
    dw[i] = through * a[i];
    g[i] = through * w[i];
  }
}

}  // namespace checkpointing

extern template class detail::TypedOperation<Checkpointing>;

}  // namespace assay
