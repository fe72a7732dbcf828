/// The contracts `im2col` and `col2im`: the patches under a sliding window, laid out as a matrix, and back.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/ops/window.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace im2col {

/// The place of element (n, c, kh, kw, oh, ow) of col. Everything is dense, the last index is the fastest.
///   channel_major  col[n, c, kh, kw, oh, ow]: for each image a block of its own with a row per channel and
///                  tap, and a column per output pixel (Caffe, PyTorch unfold)
///   patch_major    col[n, oh, ow, c, kh, kw]: a row per output pixel, the images one after another, and a
///                  column per channel and tap (NNTrainer)
enum class Layout { channel_major, patch_major };
inline constexpr std::array<std::string_view, 2> layout_words{"channel_major", "patch_major"};

struct Problem : WindowFields {
  Index n = 1, c = 1;
  Index layout = 0;  ///< position in `layout_words`

  static constexpr auto fields() {
    return std::tuple_cat(std::tuple{field("n", &Problem::n), field("c", &Problem::c)},
                          window_fields<Problem>(),
                          std::tuple{choice("layout", &Problem::layout, layout_words)});
  }
  Index col_size() const { return n * c * kernel_rows() * kernel_columns() * out_h() * out_w(); }
  bool patch_major() const { return layout == static_cast<Index>(Layout::patch_major); }
};

std::vector<Problem> corner_cases();

/// Throws Error when the window has no tap or does not fit into the padded image.
void demand_a_window_that_fits(std::string_view operation, const Problem& problem);

template <class Op>
struct Patches : ByElement<Op> {
  using Problem = im2col::Problem;
  static constexpr std::array fills{Fill::exact, Fill::uniform};
  static std::vector<Problem> corner_cases() { return im2col::corner_cases(); }
  static double footprint(const Problem& p) {
    demand_a_window_that_fits(Op::name, p);
    return FromParts<Op>::footprint(p);
  }
  template <class O = Op>
  static typename O::Input make_input(const Problem& p, Setting& setting) {
    demand_a_window_that_fits(O::name, p);
    return FromParts<O>::make_input(p, setting);
  }
};

}  // namespace im2col

/// col(n, c, kh, kw, oh, ow) = image[n, c, oh stride - top + kh dilation, ow stride - left + kw dilation],
/// and +0 where that pixel lies outside the image,
/// for all kh < kernel_h, kw < kernel_w, oh < out_h, ow < out_w, with
///   out_h = floor((h + top + bottom - ((kernel_h - 1) dilation + 1)) / stride) + 1, out_w alike.
/// Layout says where the elements of col lie.
///
/// Every element of col is written, those in the padding included: nothing may rely on what col held. Pixels
/// that no window covers are not read into any element. A window that does not fit into the padded image is
/// an Error, not an empty col.
///
/// Bound: none, elements are copied. All bits are compared in both fills, the sign of a padding zero
/// included.
///
/// Source: Chellapilla, Puri and Simard, High Performance Convolutional Neural Networks for Document
/// Processing, IWFHR 2006, section 3; channel_major as in Caffe, im2col.cpp (Jia et al., ACM Multimedia
/// 2014), and PyTorch unfold; dilation as in Yu and Koltun, ICLR 2016, equation 2.
struct Im2col : im2col::Patches<Im2col> {
  static constexpr std::string_view name = "im2col";
  static constexpr std::string_view about =
      "col = the patches under a sliding window, f32, by channel or by patch; padding is written as zero";

  struct Input {
    Buffer<float> image;
    static constexpr Listed parts{
        part("image", &Input::image, &Problem::n, &Problem::c, &Problem::h, &Problem::w)};
  };
  struct Output {
    Buffer<float> col;
    static constexpr Listed parts{part("col", &Output::col, &Problem::n, &Problem::c, &Problem::kernel_rows,
                                       &Problem::kernel_columns, &Problem::out_h, &Problem::out_w)};
  };
  struct Expected : Positions {
    std::vector<float> col;
  };

  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  static double expected_bytes(const Problem&) { return sizeof(float); }
};

/// image[n, c, y, x] = sum of col(n, c, kh, kw, oh, ow) over all (kh, kw, oh, ow) with
///   oh stride - top + kh dilation = y and ow stride - left + kw dilation = x,
/// and 0 for a pixel that no window covers: the adjoint of im2col, with its arrays, extents and layouts.
/// image is written, not accumulated into. Elements of col in the padding do not count, whatever they hold.
///
/// Bound. Let t be the number of terms of one pixel, at most kernel_h kernel_w. For any order of summation,
/// from a zero or from the first term,
///   |fl(image) - image| <= g(t - 1) sum |col|:
/// Higham (2002), section 4.2; adding to zero does not round. So a pixel with one term is copied and one
/// without is zero. Sums do not underflow with an error. With the exact fill all sums are integers below
/// 2^24, and the bound is zero.
///
/// Source: as for im2col; Caffe, im2col.cpp (2014), col2im; PyTorch fold.
struct Col2im : im2col::Patches<Col2im> {
  static constexpr std::string_view name = "col2im";
  static constexpr std::string_view about =
      "image = sums of overlapping patches, f32, from col by channel or by patch: the adjoint of im2col";

  struct Input {
    Buffer<float> col;
    static constexpr Listed parts{part("col", &Input::col, &Problem::n, &Problem::c, &Problem::kernel_rows,
                                       &Problem::kernel_columns, &Problem::out_h, &Problem::out_w)};
  };
  struct Output {
    Buffer<float> image;
    static constexpr Listed parts{
        part("image", &Output::image, &Problem::n, &Problem::c, &Problem::h, &Problem::w)};
  };

  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
};

extern template class detail::TypedOperation<Im2col>;
extern template class detail::TypedOperation<Col2im>;

}  // namespace assay
