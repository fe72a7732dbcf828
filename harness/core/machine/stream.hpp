// Walks round three arrays larger than the cache in short slices, so that no slice hits cached data.
#pragma once

#include "assay/buffer.hpp"
#include "core/machine/roof_kernels.hpp"

#include <cstddef>

namespace assay {

class Stream {
 public:
  // Three arrays of `bytes` bytes in all, made and first touched by this thread so that they are near it.
  explicit Stream(double bytes);

  // Has `loop` walk the next `steps` steps of roof::stream_step elements; returns how many elements that are.
  double advance(Index steps, roof::StreamingLoop loop = roof::loop(roof::Walk::multiply));

 private:
  std::size_t count_, stride_;
  Buffer<float> memory_;
  std::size_t at_ = 0;
};

}  // namespace assay
