// Products of planned shapes that threads divide, each with space of its own: one rectangle of C per thread,
// or rows that a thread takes through several products.
#pragma once

#include "gemm/grid.hpp"
#include "gemm/products.hpp"
#include "team.hpp"

#include <cstddef>
#include <vector>

namespace assay::blocked {

/// The rows [first, last) of a product.
inline Product rows_of(const Product& p, Index first, Index last) {
  return part_of(p, {.row = first, .rows = last - first, .columns = p.n});
}

class Divided {
 public:
  Divided(const Tier& tier, int threads) : threads_(threads) {
    for (int part = 0; part < threads; ++part) parts_.emplace_back(tier);
    start_team(threads);
  }
  /// Makes room for products of this shape; addresses do not matter.
  void plan(const Product& shape) {
    each(shape, [](Products& products, const Product& part) { products.plan(part); });
  }
  void run(const Product& product) {
    each(product, [](Products& products, const Product& part) { products.run(part); });
  }
  /// Calls body(products, first, last) for each thread's share of rows, which may be planned so as well.
  template <class Body>
  void on_rows(Index rows, const Body& body) {
    on_team(threads_, threads_, [&](int part) {
      const Index first = rows * part / threads_, last = rows * (part + 1) / threads_;
      if (first < last) body(parts_[static_cast<std::size_t>(part)], first, last);
    });
  }

 private:
  template <class Body>
  void each(const Product& p, const Body& body) {
    const Grid grid = choose_grid(p.m, p.n, p.k, threads_);
    on_team(threads_, grid.parts(), [&](int part) {
      const Rectangle r = rectangle(grid, p.m, p.n, part);
      if (r.rows > 0 && r.columns > 0) body(parts_[static_cast<std::size_t>(part)], part_of(p, r));
    });
  }

  int threads_;
  std::vector<Products> parts_;
};

}  // namespace assay::blocked
