// The idea: no test and no gather in the inner loop, for any window. The image is copied once into split rows
// (plan.hpp), a fraction of the size of col. Every tap then is a contiguous run, copied by channels and
// transposed in registers by patch. Flat planes need no split rows: they are copied from the image itself
// under masks, so images of 7 x 7 fill vectors too.

#include "im2col/threaded.hpp"

#define HWY_TARGET_INCLUDE "im2col/simd.cpp"
#include "vectors_inl.hpp"

#include "im2col/turn_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::im2col::HWY_NAMESPACE {
namespace {

/// Floats of split rows that are copied for all taps in turn: 16 KiB, half of a small first-level cache.
constexpr Index block_floats = 4096;

/// Small flat planes that are copied together, tap by tap: with 7 x 7 pixels and 3 x 3 taps, 14 KiB of col.
constexpr Index planes_together = 8;

/// Without AVX-512 a mask costs more than the copy of a row, unless rows are short.
HWY_INLINE bool flat_pays(const View& v) {
  return v.flat && (HWY_TARGET == HWY_AVX3 || (has_masks && v.out_w < 2 * lanes));
}

/// Copies the pixels of one phase inside the image, `stride` columns apart.
HWY_INLINE void copy_phase(const float* from, Index stride, Index count, Index readable, float* to) {
  const D d;
  Index i = 0;
  if (stride == 1) {
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if (i == count) return;
    if constexpr (has_masks) {
      const auto left = hn::FirstN(d, static_cast<std::size_t>(count - i));
      return hn::BlendedStore(hn::MaskedLoad(left, d, from + i), left, d, to + i);
    }
  } else if (stride == 2) {
    // A pair of vectors reads one column past the last pixel.
    for (; i + lanes <= count && 2 * (i + lanes) <= readable; i += lanes) {
      auto even = hn::Zero(d), odd = hn::Zero(d);
      hn::LoadInterleaved2(d, from + 2 * i, even, odd);
      hn::StoreU(even, d, to + i);
    }
  }
  for (; i < count; ++i) to[i] = from[i * stride];
}

/// Copies row y of a plane into a split row.
HWY_INLINE void split_row(const View& v, const float* plane, Index y, float* to) {
  const D d;
  for (Index i = 0; i < v.row; i += lanes) hn::StoreU(hn::Zero(d), d, to + i);
  if (y < 0 || y >= v.window.h) return;
  for (Index phase = 0; phase < v.phases; ++phase) {
    const Run run = v.inside[phase];
    const Index column = run.first * v.window.stride + v.remainder[phase] - v.window.left;
    copy_phase(plane + y * v.window.w + column, v.window.stride, run.length(), v.window.w - column,
               to + phase * v.pitch + run.first);
  }
}

/// Whether padded row r lies under some tap row.
HWY_INLINE bool is_met(const View& v, Index r) {
  if (v.window.dilation == 1 && v.window.kernel_h >= v.window.stride) return true;
  for (Index kh = 0; kh < v.window.kernel_h; ++kh) {
    const Index down = r - kh * v.window.dilation;
    if (down >= 0 && down % v.window.stride == 0 && down / v.window.stride < v.out_h) return true;
  }
  return false;
}

/// Copies output rows of one tap, each `width` floats, `step` apart in split rows. A row is written in whole
/// vectors as long as that stays before `end`: the next row overwrites the surplus lanes.
template <class DN>
HWY_INLINE void copy_rows(DN d, const float* from, Index step, Index rows, Index width, float* to,
                          const float* end) {
  constexpr auto count = static_cast<Index>(hn::MaxLanes(DN()));
  const Index whole = (width + count - 1) / count * count;
  for (Index row = 0; row < rows; ++row, from += step, to += width) {
    if (end - to >= whole) {
      for (Index i = 0; i < whole; i += count) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    } else {
      Index i = 0;
      for (; i + count <= width; i += count) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      if (i < width && width >= count) {
        hn::StoreU(hn::LoadU(d, from + width - count), d, to + width - count);
      } else {
        for (; i < width; ++i) to[i] = from[i];
      }
    }
  }
}

HWY_INLINE void copy_rows(const float* from, Index step, Index rows, Index width, float* to,
                          const float* end) {
  if (lanes > 4 && width <= 4) return copy_rows(hn::CappedTag<float, 4>(), from, step, rows, width, to, end);
  if (lanes > 8 && width <= 8) return copy_rows(hn::CappedTag<float, 8>(), from, step, rows, width, to, end);
  copy_rows(D(), from, step, rows, width, to, end);
}

/// Copies a flat plane: `size` shifted elements, with zeros where the mask is clear.
HWY_INLINE void copy_masked(const float* from, const std::uint8_t* mask, Index size, float* to) {
  const D d;
  Index i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(hn::MaskedLoad(hn::LoadMaskBits(d, mask + i / 8), d, from + i), d, to + i);
  }
  if (i == size) return;
  const auto last = hn::MaskedLoad(hn::LoadMaskBits(d, mask + i / 8), d, from + i);
  hn::BlendedStore(last, hn::FirstN(d, static_cast<std::size_t>(size - i)), d, to + i);
}

/// The same for one tap of several planes of at most `vectors` vectors. Their masks stay in registers.
template <int vectors>
HWY_INLINE void copy_masked_planes(const float* from, Index from_step, const std::uint8_t* mask, Index planes,
                                   Index size, float* to, Index to_step) {
  const D d;
  constexpr Index before = (vectors - 1) * lanes, bytes = lanes / 8;
  const auto last = hn::FirstN(d, static_cast<std::size_t>(size - before));
  const auto mask0 = hn::LoadMaskBits(d, mask), mask1 = hn::LoadMaskBits(d, mask + (vectors > 1 ? bytes : 0));
  const auto mask2 = hn::LoadMaskBits(d, mask + (vectors > 2 ? 2 * bytes : 0));
  const auto mask3 = hn::LoadMaskBits(d, mask + (vectors > 3 ? 3 * bytes : 0));
  for (; planes > 0; --planes, from += from_step, to += to_step) {
    if constexpr (vectors > 1) hn::StoreU(hn::MaskedLoad(mask0, d, from), d, to);
    if constexpr (vectors > 2) hn::StoreU(hn::MaskedLoad(mask1, d, from + lanes), d, to + lanes);
    if constexpr (vectors > 3) hn::StoreU(hn::MaskedLoad(mask2, d, from + 2 * lanes), d, to + 2 * lanes);
    const auto mask_of_last = vectors == 1 ? mask0 : vectors == 2 ? mask1 : vectors == 3 ? mask2 : mask3;
    hn::BlendedStore(hn::MaskedLoad(mask_of_last, d, from + before), last, d, to + before);
  }
}

/// Copies tap rows [first, last) of some flat planes.
HWY_INLINE void flat_planes(const View& v, const float* image, Index planes, Index first, Index last,
                            float* col) {
  const Window& window = v.window;
  const std::uint8_t* mask = v.mask + first * window.kernel_w * v.mask_bytes;
  const Index from_step = window.h * window.w, size = v.pixels(), to_step = window.taps() * size;
  for (Index kh = first; kh < last; ++kh) {
    const float* from = image + (kh * window.dilation - window.top) * window.w - window.left;
    for (Index kw = 0; kw < window.kernel_w;
         ++kw, from += window.dilation, mask += v.mask_bytes, col += size) {
      if (size <= lanes) {
        copy_masked_planes<1>(from, from_step, mask, planes, size, col, to_step);
      } else if (size <= 2 * lanes) {
        copy_masked_planes<2>(from, from_step, mask, planes, size, col, to_step);
      } else if (size <= 3 * lanes) {
        copy_masked_planes<3>(from, from_step, mask, planes, size, col, to_step);
      } else if (size <= 4 * lanes) {
        copy_masked_planes<4>(from, from_step, mask, planes, size, col, to_step);
      } else {
        for (Index i = 0; i < planes; ++i) {
          copy_masked(from + i * from_step, mask, size, col + i * to_step);
        }
      }
    }
  }
}

/// Copies tap rows [first, last) of one plane.
HWY_INLINE void plane_by_channel(const View& v, const float* plane, Index first, Index last, float* col,
                                 const float* end, float* split) {
  const Window& window = v.window;
  const Index below = (v.out_h - 1) * window.stride + (last - 1) * window.dilation + 1;
  for (Index r = first * window.dilation; r < below; ++r) {
    if (is_met(v, r)) split_row(v, plane, r - window.top, split + r * v.row);
  }
  // Copies all taps of a few rows at a time, which then stay in the first-level cache.
  const Index step = window.stride * v.row, block = smaller(v.out_h, larger(1, block_floats / step));
  for (Index kh = first; kh < last; ++kh, col += window.kernel_w * v.pixels()) {
    for (Index oh = 0; oh < v.out_h; oh += block) {
      const float* rows = split + kh * window.dilation * v.row + oh * step;
      const Index count = smaller(block, v.out_h - oh);
      for (Index kw = 0; kw < window.kernel_w; ++kw) {
        // If the next tap has its first rows already, whole vectors must not reach into them.
        const float* tap_end = block == v.out_h ? end : col + (kw + 1) * v.pixels();
        copy_rows(rows + v.tap(kw), step, count, v.out_w, col + kw * v.pixels() + oh * v.out_w, tap_end);
      }
    }
  }
}

HWY_INLINE void by_channel(const View& v, const float* image, float* col, float* split, Index part,
                           Index parts) {
  // Shares are tap rows, not planes, since the first layer of a network has three planes.
  const Index rows = v.window.kernel_h, all = v.planes() * rows, size = v.window.kernel_w * v.pixels();
  const Index last = all * (part + 1) / parts;
  for (Index at = all * part / parts; at < last;) {
    const Index plane = at / rows, row = at % rows;
    const float* from = image + plane * v.window.h * v.window.w;
    if (flat_pays(v)) {
      // Takes whole planes together if there are any, else the rest of a plane.
      const Index together = v.pixels() <= 4 * lanes ? planes_together : 1;
      const Index planes = row > 0 ? 0 : smaller(together, (last - at) / rows);
      const Index next = planes > 0 ? at + planes * rows : smaller(last, at - row + rows);
      flat_planes(v, from, larger(planes, 1), row, planes > 0 ? rows : row + next - at, col + at * size);
      at = next;
    } else {
      const Index next = smaller(last, at - row + rows);
      plane_by_channel(v, from, row, row + next - at, col + at * size, col + last * size, split);
      at = next;
    }
  }
}

/// Writes `count` elements of the patches [0, width), `size` apart: element j of patch i is split[offsets[j]
/// + i].
HWY_INLINE void transpose_plainly(const float* split, const Index* offsets, Index count, Index width,
                                  float* col, Index size) {
  for (Index i = 0; i < width; ++i) {
    for (Index j = 0; j < count; ++j) col[i * size + j] = split[offsets[j] + i];
  }
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose(const float* split, const Index* offsets, Index count, Index width, float* col,
                          Index size) {
  transpose_plainly(split, offsets, count, width, col, size);
}
#else
/// Stores part b of a vector, `elements` long, to patch b `apart`. Patches from `width` on do not exist.
template <int elements, class DN, class V>
HWY_INLINE void store_parts(DN d, V value, Index apart, Index width, float* col, Index size) {
  if constexpr (hn::MaxLanes(DN()) > elements) {
    const hn::Half<DN> half;
    const Index patches = static_cast<Index>(hn::MaxLanes(half)) / elements * apart;
    store_parts<elements>(half, hn::LowerHalf(half, value), apart, width, col, size);
    store_parts<elements>(half, hn::UpperHalf(half, value), apart, width - patches, col + patches * size,
                          size);
  } else if (width > 0) {
    hn::StoreU(value, d, col);
  }
}

/// Four elements of as many patches as there are lanes: block b of row k belongs to patch 4 b + k.
template <class DN>
HWY_INLINE Turned<DN> turned_patches(DN d, const float* split, const Index* offsets) {
  return turn_blocks(d, hn::LoadU(d, split + offsets[0]), hn::LoadU(d, split + offsets[1]),
                     hn::LoadU(d, split + offsets[2]), hn::LoadU(d, split + offsets[3]));
}

template <class DN>
HWY_INLINE void transpose_four(DN d, const float* split, const Index* offsets, Index size, Index width,
                               float* col) {
  const auto x = turned_patches(d, split, offsets);
  store_parts<4>(d, x.row0, 4, width, col, size);
  store_parts<4>(d, x.row1, 4, width - 1, col + size, size);
  store_parts<4>(d, x.row2, 4, width - 2, col + 2 * size, size);
  store_parts<4>(d, x.row3, 4, width - 3, col + 3 * size, size);
}

/// The same for eight elements, which halves the stores: stores take the time, not the transposition.
template <class DN>
HWY_INLINE void transpose_eight(DN d, const float* split, const Index* offsets, Index size, Index width,
                                float* col) {
  const auto x = turned_patches(d, split, offsets), y = turned_patches(d, split, offsets + 4);
  const auto store = [&](auto a, auto b, Index patch) HWY_ATTR {
    store_parts<8>(d, even_blocks(a, b), 8, width - patch, col + patch * size, size);
    store_parts<8>(d, odd_blocks(a, b), 8, width - patch - 4, col + (patch + 4) * size, size);
  };
  store(x.row0, y.row0, 0);
  store(x.row1, y.row1, 1);
  store(x.row2, y.row2, 2);
  store(x.row3, y.row3, 3);
}

template <class DN>
HWY_INLINE void transpose(DN d, const float* split, const Index* offsets, Index count, Index width,
                          float* col, Index size) {
  constexpr auto patches = static_cast<Index>(hn::MaxLanes(DN()));
  for (Index i = 0; i < width; i += patches, split += patches, col += patches * size) {
    const Index left = width - i;
    Index j = 0;
    if constexpr (patches >= 8) {
      if (left >= patches) {  // with a constant width the compiler drops the tests of the stores
        for (; j + 8 <= count; j += 8) transpose_eight(d, split, offsets + j, size, patches, col + j);
      }
      for (; j + 8 <= count; j += 8) transpose_eight(d, split, offsets + j, size, left, col + j);
    }
    for (; j + 4 <= count; j += 4) transpose_four(d, split, offsets + j, size, left, col + j);
    // The last four overlap the four before.
    if (j < count) transpose_four(d, split, offsets + count - 4, size, left, col + count - 4);
  }
}

HWY_INLINE void transpose(const float* split, const Index* offsets, Index count, Index width, float* col,
                          Index size) {
  if (count < 4) return transpose_plainly(split, offsets, count, width, col, size);
  const hn::CappedTag<float, 4> four;
  const hn::CappedTag<float, 8> eight;
  if (lanes > 4 && width <= 4) return transpose(four, split, offsets, count, width, col, size);
  if (lanes > 8 && width <= 8) return transpose(eight, split, offsets, count, width, col, size);
  transpose(D(), split, offsets, count, width, col, size);
}
#endif

/// Makes planes of taps from small flat planes first. Their patches fill vectors better than those of a row.
HWY_INLINE void flat_by_patch(const View& v, const float* image, float* col, float* taps, Index part,
                              Index parts) {
  const Index last = v.planes() * (part + 1) / parts, taps_of_plane = v.window.taps();
  for (Index at = v.planes() * part / parts; at < last;) {
    const Index n = at / v.c, c = at % v.c;
    const Index count = smaller(v.flat_group, smaller(v.c - c, last - at));
    flat_planes(v, image + at * v.window.h * v.window.w, count, 0, v.window.kernel_h, taps);
    transpose(taps, v.flat_offset, count * taps_of_plane, v.pixels(),
              col + n * v.pixels() * v.size_of_patch() + c * taps_of_plane, v.size_of_patch());
    at += count;
  }
}

HWY_INLINE void by_patch(const View& v, const float* image, float* col, float* split, Index part,
                         Index parts) {
  const Window& window = v.window;
  const Index all = v.n * v.out_h, size = v.size_of_patch(), last = all * (part + 1) / parts;
  const Index rows_of_channel = v.padded_rows(v.slab);
  for (Index at = all * part / parts; at < last;) {
    const Index oh = at % v.out_h, top = oh * window.stride;
    const Index count = smaller(v.slab, smaller(v.out_h - oh, last - at));
    const float* plane = image + at / v.out_h * v.c * window.h * window.w;
    for (Index c = 0; c < v.c; ++c, plane += window.h * window.w) {
      for (Index r = 0; r < v.padded_rows(count); ++r) {
        if (!is_met(v, top + r)) continue;
        split_row(v, plane, top + r - window.top, split + (c * rows_of_channel + r) * v.row);
      }
    }
    for (Index i = 0; i < count; ++i, ++at) {
      transpose(split + i * window.stride * v.row, v.offset, size, v.out_w, col + at * v.out_w * size, size);
    }
  }
}

}  // namespace

void im2col_part(const View& v, const float* image, float* col, float* scratch, Index part, Index parts) {
  if (v.patch_major && flat_pays(v)) {
    flat_by_patch(v, image, col, scratch, part, parts);
  } else if (v.patch_major) {
    by_patch(v, image, col, scratch, part, parts);
  } else {
    by_channel(v, image, col, scratch, part, parts);
  }
}

}  // namespace assay::im2col::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::im2col {

HWY_EXPORT(im2col_part);

template <>
std::vector<Tier> tiers<Im2col>() {
  return tiers_in(HWY_DISPATCH_TABLE(im2col_part));
}

const Register registered{[](Registry& r) {
  add_tiers<Im2col>(
      r, tiers<Im2col>(), {.name = "simd", .summary = "split rows and masked planes, {}"},
      [](const Tier& tier, const Problem& p, const auto&) { return kernel_of<Im2col>(tier.function, p); });
}};

}  // namespace assay::im2col
#endif
