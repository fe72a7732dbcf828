// Products of planned shapes that threads divide, each with space of its own: one rectangle of C per thread,
// or rows that a thread takes through several products.
#pragma once

#include "gemm/grid.hpp"
#include "gemm/products.hpp"
#include "team.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace assay::blocked {

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
    for (int part = 0; part < threads_; ++part) {
      on_part(shape, part, [](Products& products, const Product& p) { products.plan(p); });
    }
  }
  /// In this order, but beside each other where none uses what another one writes: threads meet before a
  /// product that does, and at the end.
  void run(std::initializer_list<Product> products) { run(std::span(products.begin(), products.size())); }
  void run(std::span<const Product> products) {
    while (!products.empty()) {
      std::size_t beside = 1;
      while (beside < products.size() && !uses_one_of(products[beside], products.first(beside))) ++beside;
      int parts = 1;
      for (const Product& each : products.first(beside)) parts = std::max(parts, grid_of(each).parts());
      on_team(threads_, parts, [&](int part) {
        for (const Product& each : products.first(beside)) {
          on_part(each, part, [](Products& its, const Product& p) { its.run(p); });
        }
      });
      products = products.subspan(beside);
    }
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
  static bool uses_one_of(const Product& p, std::span<const Product> others) {
    return std::ranges::any_of(others,
                               [&](const Product& q) { return p.a == q.c || p.b == q.c || p.c == q.c; });
  }
  Grid grid_of(const Product& p) const { return choose_grid(p.m, p.n, p.k, threads_); }
  template <class Body>
  void on_part(const Product& p, int part, const Body& body) {
    const Grid grid = grid_of(p);
    if (part >= grid.parts()) return;
    const Rectangle r = rectangle(grid, p.m, p.n, part);
    if (r.rows > 0 && r.columns > 0) body(parts_[static_cast<std::size_t>(part)], part_of(p, r));
  }

  int threads_;
  std::vector<Products> parts_;
};

}  // namespace assay::blocked
