// Runs both contracts of the layer, on one thread for `fused` and on many for `threaded`: rows of the batch
// do not depend on each other, so that a thread takes its own through all steps.
#pragma once

#include "gemm/divided.hpp"
#include "lstm/cells.hpp"

#include "assay/ops/lstm.hpp"

#include <algorithm>
#include <utility>

namespace assay::lstm {

inline Variant<Lstm>::Kernel kernel_of(const Tier& tier, const Problem& p, const Lstm::Input&, int threads) {
  using blocked::product;
  constexpr Index line = 16;
  // Rows of w_hh transposed lie a line further apart, so that they do not share few sets of a cache.
  const Index width = p.gates(), hidden = p.hidden, apart = width + line;
  const blocked::Product of_all =
      product({nullptr, p.inputs}, {nullptr, p.inputs, true}, nullptr, width, p.rows(), width, p.inputs);
  const blocked::Product of_step =
      product({nullptr, hidden}, {nullptr, apart}, nullptr, width, p.batch, width, hidden, 1, 1);
  blocked::Divided products(tier.products, threads);
  products.plan(of_all);
  products.on_rows(p.batch, [&](blocked::Products& its, Index first, Index last) {
    its.plan(rows_of(of_step, first, last));
  });
  return [=, row = tier.row, products = std::move(products), bias = Buffer<float>(width),
          turned = Buffer<float>(hidden * apart)](const auto& in, auto& out) mutable {
    products.run({blocked::with(of_all, in.x.data(), in.w_ih.data(), out.gates.data())});
    for (Index q = 0; q < width; ++q) bias[q] = in.b_ih[q] + in.b_hh[q];
    for (Index begin = 0; begin < hidden; begin += line) {
      for (Index q = 0; q < width; ++q) {
        for (Index l = begin; l < smaller(begin + line, hidden); ++l)
          turned[l * apart + q] = in.w_hh[q * hidden + l];
      }
    }
    products.on_rows(p.batch, [&](blocked::Products& its, Index first, Index last) {
      for (Index at = 0; at < p.rows(); at += p.batch) {
        const Index before = (at - p.batch) * hidden;
        const float* const h = at == 0 ? in.h0.data() : out.y.data() + before;
        const float* const c = at == 0 ? in.c0.data() : out.c.data() + before;
        float* const gates = out.gates.data() + at * width;
        its.run(rows_of(blocked::with(of_step, h, turned.data(), gates), first, last));
        for (Index n = first; n < last; ++n) {
          const Index place = (at + n) * hidden;
          row(bias.data(), c + n * hidden, hidden, gates + n * width, out.c.data() + place,
              out.y.data() + place);
        }
      }
    });
  };
}

inline Variant<LstmBackward>::Kernel kernel_of(const Tier& tier, const Problem& p, const LstmBackward::Input&,
                                               int threads) {
  using blocked::product;
  const Index width = p.gates(), hidden = p.hidden, inputs = p.inputs, rows = p.rows();
  const blocked::Product to_h =
      product({nullptr, width}, {nullptr, hidden}, nullptr, hidden, p.batch, hidden, width);
  const blocked::Product to_x =
      product({nullptr, width}, {nullptr, inputs}, nullptr, inputs, rows, inputs, width);
  const blocked::Product to_w_ih =
      product({nullptr, width, true}, {nullptr, inputs}, nullptr, inputs, width, inputs, rows);
  // Step 0 reads h0; those after it are added.
  const blocked::Product to_w_hh =
      product({nullptr, width, true}, {nullptr, hidden}, nullptr, hidden, width, hidden, p.batch);
  blocked::Product more_to_w_hh = to_w_hh;
  more_to_w_hh.k = rows - p.batch;
  more_to_w_hh.beta = 1;
  blocked::Divided products(tier.products, threads);
  for (const blocked::Product& each : {to_x, to_w_ih, to_w_hh}) products.plan(each);
  if (p.steps > 1) products.plan(more_to_w_hh);
  products.on_rows(p.batch, [&](blocked::Products& its, Index first, Index last) {
    its.plan(rows_of(to_h, first, last));
  });
  return [=, row = tier.row_gradient, products = std::move(products)](const auto& in, auto& out) mutable {
    float* const dz = out.dz.data();
    // They hold what arrives at a step, until they are those of step 0.
    std::ranges::fill(out.dh0, 0.0F);
    std::ranges::copy(in.dc_n, out.dc0.begin());
    products.on_rows(p.batch, [&](blocked::Products& its, Index first, Index last) {
      for (Index at = rows - p.batch; at >= 0; at -= p.batch) {
        const float* const c = at == 0 ? in.c0.data() : in.c.data() + (at - p.batch) * hidden;
        for (Index n = first; n < last; ++n) {
          const Index cells = (at + n) * hidden, gates = (at + n) * width, here = n * hidden;
          row(in.dy.data() + cells, out.dh0.data() + here, in.gates.data() + gates, in.c.data() + cells,
              c + here, hidden, out.dc0.data() + here, dz + gates, out.dc.data() + cells);
        }
        its.run(rows_of(blocked::with(to_h, dz + at * width, in.w_hh.data(), out.dh0.data()), first, last));
      }
    });
    products.run({blocked::with(to_x, dz, in.w_ih.data(), out.dx.data()),
                  blocked::with(to_w_ih, dz, in.x.data(), out.dw_ih.data()),
                  blocked::with(to_w_hh, dz, in.h0.data(), out.dw_hh.data())});
    if (p.steps > 1) {
      products.run({blocked::with(more_to_w_hh, dz + p.batch * width, in.y.data(), out.dw_hh.data())});
    }
    std::ranges::fill(out.db, 0.0F);
    for (Index r = 0; r < rows; ++r) {
      for (Index q = 0; q < width; ++q) out.db[q] += dz[r * width + q];
    }
  };
}

}  // namespace assay::lstm
