#include "core/machine/stream.hpp"

#include <algorithm>

namespace assay {
namespace {

// The arrays start a third of a page apart: at equal offsets within a page every load would wait for an
// earlier store that only seems to overlap it.
constexpr std::size_t third_of_page = 336;
constexpr std::size_t page = 1024;

std::size_t count_for(double bytes) {
  const auto steps = static_cast<std::size_t>(bytes / (3 * sizeof(float) * roof::stream_step));
  return std::max<std::size_t>(1, steps) * roof::stream_step;
}

}  // namespace

Stream::Stream(double bytes)
    : count_(count_for(bytes)),
      stride_((count_ + page - 1) / page * page + third_of_page),
      memory_(static_cast<Index>(2 * stride_ + count_)) {
  std::ranges::fill(memory_, 1.0f);
}

double Stream::advance(Index steps, roof::StreamingLoop loop) {
  const auto all = static_cast<std::size_t>(steps) * roof::stream_step;
  for (std::size_t done = 0; done < all;) {
    const std::size_t count = std::min(all - done, count_ - at_);
    float* const from = memory_.data() + at_;
    loop(from, from + stride_, from + 2 * stride_, count);
    done += count;
    at_ = at_ + count == count_ ? 0 : at_ + count;
  }
  return static_cast<double>(all);
}

}  // namespace assay
