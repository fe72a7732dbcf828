// The SIMD tiers of the bias gradient. `simd` and `threaded` run the same machine code.
#pragma once

#include "tiers.hpp"

#include "assay/ops/pointwise.hpp"

#include <vector>

namespace assay::channel_sum {

/// dz[images, channels, plane] and db[channels].
struct Arrays {
  const float* dz = nullptr;
  float* db = nullptr;
  Index images = 0, channels = 0, plane = 0;
};
template <class Input, class Output>
Arrays arrays(const ElementwiseChannelBiasBackward::Problem& p, const Input& in, Output& out) {
  return {in.dz.data(), out.db.data(), p.n, p.c, p.plane()};
}

/// One tier's code: the channels [first, last), in memory order.
using ChannelsFunction = void(const Arrays&, Index first, Index last);

using Tier = assay::Tier<ChannelsFunction>;
std::vector<Tier> tiers();

}  // namespace assay::channel_sum
