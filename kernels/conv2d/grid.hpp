// Divides a layer among threads.
#pragma once

#include "blocks.hpp"

#include "assay/ops/conv2d.hpp"

#include <algorithm>
#include <numeric>

namespace assay::conv2d {

/// The threads that a layer is worth: each gets `least` multiply-adds, below which another thread costs more
/// for its fork and join than it saves. As in gemm, not measured here.
inline Index useful_threads(const Layer& p, Index threads, double least = 0x1p18) {
  const double work = static_cast<double>(p.y_size()) * static_cast<double>(p.depth());
  return std::clamp<Index>(static_cast<Index>(work / least), 1, threads);
}

/// Part `i` of `parts` of `extent`. All parts but the last are multiples of `unit`.
struct Range {
  Index first = 0, count = 0;
};
inline Range range(Index extent, Index unit, Index i, Index parts) {
  const Index first = cut(extent, unit, i, parts);
  return {first, cut(extent, unit, i + 1, parts) - first};
}

struct Grid {
  Index outer = 1, inner = 1;
  int parts() const { return static_cast<int>(outer * inner); }
};

/// Puts threads on images as far as images divide evenly, the others on rows of the result.
inline Grid images_and_rows(Index threads, Index images, Index rows) {
  const Index outer = std::gcd(threads, images);
  if (outer == 1 && images >= 4 * threads) return {threads, 1};
  return {outer, std::min(threads / outer, rows)};
}

}  // namespace assay::conv2d
