// The idea: sum before writing. Pixels are summed in vectors, and each is stored once or a few times instead
// of once per tap. In flat planes (plan.hpp) all taps are added up in registers, under masks. Otherwise a row
// of the image is summed as a split row that stays in the first-level cache, where every tap is a contiguous
// run for any stride. By patch, patches are first transposed into rows of taps.

#include "im2col/threaded.hpp"

#define HWY_TARGET_INCLUDE "col2im/simd.cpp"
#include "vectors_inl.hpp"

#include "im2col/turn_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::im2col::HWY_NAMESPACE {
namespace {

/// A share of a flat plane is a multiple of this many pixels: 64 vectors of the widest kind.
constexpr Index chunk = 1024;

HWY_INLINE void fill_zero(float* to, Index count) {
  const D d;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Zero(d), d, to + i);
  for (; i < count; ++i) to[i] = 0;
}

/// Sums all taps of up to four vectors of pixels of a flat plane, from pixel `at` on. Stores `count` pixels,
/// or whole vectors as long as those end before `end`.
template <int vectors>
HWY_INLINE void sum_taps(const View& v, const float* col, Index at, Index count, float* image,
                         const float* end) {
  const D d;
  const Window& window = v.window;
  const auto load = [&](const float* from, const std::uint8_t* mask, int vector) HWY_ATTR {
    const Index i = at + vector * lanes;
    return hn::MaskedLoad(hn::LoadMaskBits(d, mask + i / 8), d, from + i);
  };
  auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  const std::uint8_t* mask = v.mask;
  const float* row_of_taps = col + window.top * window.w + window.left;
  for (Index kh = 0; kh < window.kernel_h; ++kh, row_of_taps -= window.dilation * window.w) {
    const float* from = row_of_taps;
    for (Index kw = 0; kw < window.kernel_w; ++kw, mask += v.mask_bytes, from -= window.dilation) {
      sum0 = hn::Add(sum0, load(from, mask, 0));
      if constexpr (vectors > 1) sum1 = hn::Add(sum1, load(from, mask, 1));
      if constexpr (vectors > 2) sum2 = hn::Add(sum2, load(from, mask, 2));
      if constexpr (vectors > 3) sum3 = hn::Add(sum3, load(from, mask, 3));
      from += v.pixels();
    }
    row_of_taps += window.kernel_w * v.pixels();
  }
  image += at;
  if constexpr (vectors > 1) hn::StoreU(sum0, d, image);
  if constexpr (vectors > 2) hn::StoreU(sum1, d, image + lanes);
  if constexpr (vectors > 3) hn::StoreU(sum2, d, image + 2 * lanes);
  const auto last = vectors == 1 ? sum0 : vectors == 2 ? sum1 : vectors == 3 ? sum2 : sum3;
  const Index before = (vectors - 1) * lanes;
  if (count == vectors * lanes || end - image >= vectors * lanes) {
    hn::StoreU(last, d, image + before);
  } else {
    hn::BlendedStore(last, hn::FirstN(d, static_cast<std::size_t>(count - before)), d, image + before);
  }
}

/// Sums pixels [first, last) of one flat plane.
HWY_INLINE void sum_plane(const View& v, const float* col, Index first, Index last, float* image,
                          const float* end) {
  Index i = first;
  for (; i + 4 * lanes <= last; i += 4 * lanes) sum_taps<4>(v, col, i, 4 * lanes, image, end);
  const Index left = last - i;
  if (left > 3 * lanes) {
    sum_taps<4>(v, col, i, left, image, end);
  } else if (left > 2 * lanes) {
    sum_taps<3>(v, col, i, left, image, end);
  } else if (left > lanes) {
    sum_taps<2>(v, col, i, left, image, end);
  } else if (left > 0) {
    sum_taps<1>(v, col, i, left, image, end);
  }
}

HWY_INLINE void flat_planes(const View& v, const float* col, float* image, Index part, Index parts) {
  const Index size = v.window.h * v.window.w, chunks = (size + chunk - 1) / chunk;
  const Index all = v.planes() * chunks, last = all * (part + 1) / parts;
  const float* end = image + last / chunks * size + smaller(last % chunks * chunk, size);
  for (Index at = all * part / parts; at < last; ++at) {
    const Index plane = at / chunks, first = at % chunks * chunk;
    sum_plane(v, col + plane * v.window.taps() * v.pixels(), first, smaller(first + chunk, size),
              image + plane * size, end);
  }
}

/// to += the sum of `rows` runs at from + offset[].
template <int rows>
HWY_INLINE void add_runs(const float* from, const Index* offset, Index width, float* to) {
  const auto add = [&](auto d, Index i) HWY_ATTR {
    auto sum = hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + offset[0] + i));
    if constexpr (rows > 1) sum = hn::Add(sum, hn::LoadU(d, from + offset[1] + i));
    if constexpr (rows > 2) sum = hn::Add(sum, hn::LoadU(d, from + offset[2] + i));
    if constexpr (rows > 3) sum = hn::Add(sum, hn::LoadU(d, from + offset[3] + i));
    hn::StoreU(sum, d, to + i);
  };
  Index i = 0;
  for (; i + lanes <= width; i += lanes) add(D(), i);
  if constexpr (lanes > 8) {
    for (; i + 8 <= width; i += 8) add(hn::CappedTag<float, 8>(), i);
  }
  if constexpr (lanes > 4) {
    for (; i + 4 <= width; i += 4) add(hn::CappedTag<float, 4>(), i);
  }
  for (; i < width; ++i) add(hn::CappedTag<float, 1>(), i);
}

/// Adds all tap columns of up to four tap rows at once to a split row.
HWY_INLINE void add_tap_rows(const View& v, const float* col, const Index* offset, int rows, float* split) {
  for (Index kw = 0; kw < v.window.kernel_w; ++kw, col += v.pixels()) {
    float* to = split + v.tap(kw);
    if (rows == 1) add_runs<1>(col, offset, v.out_w, to);
    if (rows == 2) add_runs<2>(col, offset, v.out_w, to);
    if (rows == 3) add_runs<3>(col, offset, v.out_w, to);
    if (rows == 4) add_runs<4>(col, offset, v.out_w, to);
  }
}

/// Merges a split row into a row of the image. Pixels that no tap meets become zero.
HWY_INLINE void merge_row(const View& v, const float* split, float* to) {
  const D d;
  const Index stride = v.window.stride, left = v.window.left;
  if (stride > 1) fill_zero(to, v.window.w);
  Index paired_from = 0, paired_to = 0;
  if (stride == 2 && v.phases == 2) {
    const float* even = split + (v.remainder[0] == 0 ? 0 : v.pitch);
    const float* odd = split + (v.remainder[0] == 0 ? v.pitch : 0);
    paired_from = larger(v.inside[0].first, v.inside[1].first);
    const Index last = smaller(v.inside[0].last, v.inside[1].last);
    for (paired_to = paired_from; paired_to + lanes <= last; paired_to += lanes) {
      hn::StoreInterleaved2(hn::LoadU(d, even + paired_to), hn::LoadU(d, odd + paired_to), d,
                            to + 2 * paired_to - left);
    }
  }
  for (Index phase = 0; phase < v.phases; ++phase) {
    const Run run = v.inside[phase];
    const float* from = split + phase * v.pitch;
    Index i = run.first;
    if (stride == 1) {
      for (; i + lanes <= run.last; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i - left);
      if constexpr (has_masks) {
        const auto rest = hn::FirstN(d, static_cast<std::size_t>(run.last - i));
        return hn::BlendedStore(hn::LoadU(d, from + i), rest, d, to + i - left);
      }
    }
    const Index shift = v.remainder[phase] - left;
    for (; i < run.last; ++i) {
      if (i == paired_from) i = larger(i, paired_to);
      if (i < run.last) to[i * stride + shift] = from[i];
    }
  }
}

HWY_INLINE void by_channel(const View& v, const float* col, float* image, float* split, Index part,
                           Index parts) {
  const Window& window = v.window;
  const Index all = v.planes() * window.h, last = all * (part + 1) / parts;
  for (Index at = all * part / parts; at < last; ++at) {
    const Index y = at % window.h;
    const float* from = col + at / window.h * window.taps() * v.pixels();
    fill_zero(split, v.row);
    Index offset[4];
    int rows = 0;
    for (Index kh = 0; kh < window.kernel_h; ++kh) {
      const Index down = y + window.top - kh * window.dilation;
      if (down < 0 || down % window.stride != 0 || down / window.stride >= v.out_h) continue;
      offset[rows++] = kh * window.kernel_w * v.pixels() + down / window.stride * v.out_w;
      if (rows < 4) continue;
      add_tap_rows(v, from, offset, rows, split);
      rows = 0;
    }
    add_tap_rows(v, from, offset, rows, split);
    merge_row(v, split, image + at * window.w);
  }
}

/// Adds one tap row of one channel to a split row: its rows of taps, each shifted to its start.
HWY_INLINE void add_taps(const View& v, const float* taps, float* split) {
  const D d;
  const Index step = v.tap_row(), length = v.out_w + v.reach;
  const Index* first = v.by_phase;
  for (Index phase = 0; phase < v.phases; ++phase, split += v.pitch) {
    const Index* last = v.by_phase + v.taps_to[phase];
    for (Index i = 0; i < length; i += lanes) {
      auto sum = hn::LoadU(d, split + i);
      for (const Index* kw = first; kw < last; ++kw) {
        sum = hn::Add(sum, hn::LoadU(d, taps + *kw * step + v.reach - v.start[*kw] + i));
      }
      hn::StoreU(sum, d, split + i);
    }
    first = last;
  }
}

/// Sums channels [first, last) of one image.
HWY_INLINE void channels_by_patch(const View& v, const float* col, Index first, Index last, float* image,
                                  float* ring) {
  const Window& window = v.window;
  const Index size = v.size_of_patch(), channels = last - first, plane = window.h * window.w;
  float* taps = ring + v.c * v.span * v.row;
  for (Index oh = 0; oh < v.out_h; ++oh) {
    const Index top = oh * window.stride, met = top + v.span, top_in_ring = top % v.span;
    for (Index c = 0; c < channels; c += v.group) {
      const Index count = smaller(v.group, channels - c);
      transpose(col + oh * v.out_w * size + (first + c) * window.taps(), size, v.out_w, count * window.taps(),
                taps + v.reach, v.tap_row());
      const float* row_of_taps = taps;
      for (Index channel = c; channel < c + count; ++channel) {
        float* rows = ring + channel * v.span * v.row;
        Index at = top_in_ring;
        for (Index kh = 0; kh < window.kernel_h; ++kh, row_of_taps += window.kernel_w * v.tap_row()) {
          add_taps(v, row_of_taps, rows + at * v.row);
          at += window.dilation;
          at -= at < v.span ? 0 : v.span;
        }
      }
    }
    // Rows that the next patches do not meet are complete.
    const Index next = oh + 1 < v.out_h ? top + window.stride : larger(met, window.h + window.top);
    for (Index r = top; r < next; ++r) {
      const Index y = r - window.top;
      const bool inside = y >= 0 && y < window.h;
      float* to = image + first * plane + y * window.w;
      float* split = ring + r % v.span * v.row;
      for (Index c = 0; c < channels; ++c, to += plane, split += v.span * v.row) {
        if (r < met) {
          if (inside) merge_row(v, split, to);
          fill_zero(split, v.row);
        } else if (inside) {
          fill_zero(to, window.w);
        }
      }
    }
  }
}

/// The same for small flat planes: patches become planes of taps, which fill vectors better than rows do.
HWY_INLINE void flat_channels_by_patch(const View& v, const float* col, Index first, Index last, float* image,
                                       float* taps) {
  const Index size = v.window.h * v.window.w, taps_of_plane = v.window.taps();
  for (Index c = first; c < last; c += v.flat_group) {
    const Index count = smaller(v.flat_group, last - c);
    transpose(col + c * taps_of_plane, v.size_of_patch(), v.pixels(), count * taps_of_plane, taps,
              v.pixels());
    for (Index i = 0; i < count; ++i) {
      sum_plane(v, taps + i * taps_of_plane * v.pixels(), 0, size, image + (c + i) * size,
                image + last * size);
    }
  }
}

HWY_INLINE void by_patch(const View& v, const float* col, float* image, float* scratch, Index part,
                         Index parts) {
  const Index last = v.planes() * (part + 1) / parts;
  for (Index at = v.planes() * part / parts; at < last;) {
    const Index n = at / v.c, first = at % v.c, stop = smaller(v.c, first + last - at);
    const float* patches = col + n * v.pixels() * v.size_of_patch();
    float* planes = image + n * v.c * v.window.h * v.window.w;
    (has_masks && v.flat ? flat_channels_by_patch : channels_by_patch)(v, patches, first, stop, planes,
                                                                       scratch);
    at += stop - first;
  }
}

}  // namespace

void col2im_part(const View& v, const float* col, float* image, float* scratch, Index part, Index parts) {
  if (v.patch_major) {
    by_patch(v, col, image, scratch, part, parts);
  } else if (has_masks && v.flat) {
    flat_planes(v, col, image, part, parts);
  } else {
    by_channel(v, col, image, scratch, part, parts);
  }
}

}  // namespace assay::im2col::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::im2col {

HWY_EXPORT(col2im_part);

template <>
std::vector<Tier> tiers<Col2im>() {
  return tiers_in(HWY_DISPATCH_TABLE(col2im_part));
}

const Register registered{[](Registry& r) {
  add_tiers<Col2im>(
      r, tiers<Col2im>(), {.name = "simd", .summary = "sums in registers and split rows, {}"},
      [](const Tier& tier, const Problem& p, const auto&) { return kernel_of<Col2im>(tier.function, p); });
}};

}  // namespace assay::im2col
#endif
