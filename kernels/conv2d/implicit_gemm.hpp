// The work of one thread of `implicit_gemm`, a share of y or dx. `threaded` runs the same machine code.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "conv2d/columns.hpp"
#include "gemm/blocked.hpp"

namespace assay::conv2d {

/// Images [image, image + images); in each image the channels [row, row + rows) of y or dx, and the places
/// [place, place + places). A share of dx has all places and names none, since windows overlap.
struct ColumnShare {
  Index image = 0, images = 0, row = 0, rows = 0, place = 0, places = 0;
};

/// y = w columns(x) + bias.
class ColumnSumY {
 public:
  ColumnSumY(const blocked::Tier& tier, const Problem& p, const ColumnShare& share);
  void run(const Conv2d::Input& in, Conv2d::Output& out);

 private:
  template <class Visit>
  void for_each_product(const Visit& visit) const;

  blocked::Tier tier_;
  Problem p_;
  ColumnShare share_;
  ColumnMap map_;
  Buffer<float> columns_, space_;
};

/// dx: columns = w^T dy, added to the pixels from which columns of x are gathered.
class ColumnSumDx {
 public:
  ColumnSumDx(const blocked::Tier& tier, const DataProblem& p, const ColumnShare& share);
  void run(const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out);

 private:
  template <class Visit>
  void for_each_product(const Visit& visit) const;

  blocked::Tier tier_;
  DataProblem p_;
  ColumnShare share_;
  ColumnMap map_;
  Buffer<float> columns_, space_;
};

/// The share that is the whole result.
inline ColumnShare whole_y(const Layer& p) { return {.images = p.n, .rows = p.f, .places = p.out_pixels()}; }
inline ColumnShare whole_dx(const Layer& p) { return {.images = p.n, .rows = p.c}; }

}  // namespace assay::conv2d
