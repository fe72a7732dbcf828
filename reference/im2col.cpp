#include "assay/ops/im2col.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace assay {
namespace {

using im2col::Problem;

Shape col_shape(const Problem& p, const Window& window) {
  const Index oh = window.out_h(), ow = window.out_w(), kh = window.kernel_h, kw = window.kernel_w;
  if (p.patch_major()) return {"col", {p.n, oh, ow, p.c, kh, kw}};
  return {"col", {p.n, p.c, kh, kw, oh, ow}};
}

/// Calls visit(flat position in col, flat position in image, whether the latter is inside) for every
/// element of col, in the order of its memory.
template <class Visit>
void for_each_element(const Problem& p, const Visit& visit) {
  const Window window = p.window();
  const Index out_h = window.out_h(), out_w = window.out_w();
  Index flat = 0;
  const auto at = [&](Index plane, Index kh, Index kw, Index oh, Index ow) {
    const Index y = window.row(oh, kh), x = window.column(ow, kw);
    visit(flat++, (plane * p.h + y) * p.w + x, window.inside(y, x));
  };
  for (Index n = 0; n < p.n; ++n) {
    if (p.patch_major()) {
      for (Index oh = 0; oh < out_h; ++oh) {
        for (Index ow = 0; ow < out_w; ++ow) {
          for (Index c = 0; c < p.c; ++c) {
            for (Index kh = 0; kh < window.kernel_h; ++kh) {
              for (Index kw = 0; kw < window.kernel_w; ++kw) at(n * p.c + c, kh, kw, oh, ow);
            }
          }
        }
      }
    } else {
      for (Index c = 0; c < p.c; ++c) {
        for (Index kh = 0; kh < window.kernel_h; ++kh) {
          for (Index kw = 0; kw < window.kernel_w; ++kw) {
            for (Index oh = 0; oh < out_h; ++oh) {
              for (Index ow = 0; ow < out_w; ++ow) at(n * p.c + c, kh, kw, oh, ow);
            }
          }
        }
      }
    }
  }
}

struct Element {
  Index n, c, kh, kw, oh, ow;
};

Element element_at(const Problem& p, const Window& window, Index flat) {
  const auto next = [&](Index extent) {
    const Index i = flat % extent;
    flat /= extent;
    return i;
  };
  Element e{};
  if (p.patch_major()) {
    e.kw = next(window.kernel_w), e.kh = next(window.kernel_h), e.c = next(p.c);
    e.ow = next(window.out_w()), e.oh = next(window.out_h());
  } else {
    e.ow = next(window.out_w()), e.oh = next(window.out_h());
    e.kw = next(window.kernel_w), e.kh = next(window.kernel_h), e.c = next(p.c);
  }
  e.n = flat;
  return e;
}

Index flat_of(const Problem& p, const Window& window, const Element& e) {
  const Index oh = window.out_h(), ow = window.out_w(), kh = window.kernel_h, kw = window.kernel_w;
  if (p.patch_major()) return ((((e.n * oh + e.oh) * ow + e.ow) * p.c + e.c) * kh + e.kh) * kw + e.kw;
  return ((((e.n * p.c + e.c) * kh + e.kh) * kw + e.kw) * oh + e.oh) * ow + e.ow;
}

/// Calls visit likewise for the elements of col that have an expectation.
template <class Visit>
void for_each_element(const Problem& p, const Positions& positions, const Visit& visit) {
  if (positions.all) return for_each_element(p, visit);
  const Window window = p.window();
  for (const Index flat : positions.where) {
    const Element e = element_at(p, window, flat);
    const Index y = window.row(e.oh, e.kh), x = window.column(e.ow, e.kw);
    visit(flat, ((e.n * p.c + e.c) * p.h + y) * p.w + x, window.inside(y, x));
  }
}

/// Calls visit(flat position in col) for every element of col that a pixel is the sum of.
template <class Visit>
void for_each_term(const Problem& p, const Window& window, Index pixel, const Visit& visit) {
  const Index x = pixel % p.w, y = pixel / p.w % p.h, plane = pixel / p.w / p.h;
  for (Index kh = 0; kh < window.kernel_h; ++kh) {
    const Index oh = Window::place(y + window.top, kh * window.dilation, window.stride, window.out_h());
    for (Index kw = 0; oh >= 0 && kw < window.kernel_w; ++kw) {
      const Index ow = Window::place(x + window.left, kw * window.dilation, window.stride, window.out_w());
      if (ow >= 0) visit(flat_of(p, window, {plane / p.c, plane % p.c, kh, kw, oh, ow}));
    }
  }
}

void naive_im2col(const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
  const float* image = in.image.data();
  float* col = out.col.data();
  for_each_element(p, [&](Index to, Index from, bool inside) { col[to] = inside ? image[from] : 0.0F; });
}

void naive_col2im(const Problem& p, const Col2im::Input& in, Col2im::Output& out) {
  std::ranges::fill(out.image, 0.0F);
  const float* col = in.col.data();
  float* image = out.image.data();
  for_each_element(p, [&](Index from, Index to, bool inside) {
    if (inside) image[to] += col[from];
  });
}

double planes(const Problem& p) { return product(p.n, p.c); }

const Register registered{[](Registry& r) {
  constexpr auto summary = "one element of col at a time, each with its test for the padding";
  r.add<Im2col>({.name = "naive", .summary = summary, .run = naive_im2col});
  r.add<Col2im>({.name = "naive", .summary = summary, .run = naive_col2im});
}};

}  // namespace

void im2col::demand_a_window_that_fits(std::string_view operation, const Problem& p) {
  const std::string where = std::string(operation) + " " + to_text(p);
  if (p.kernel_w == 0) throw Error(where, "kernel_w is 0", "give kernel_w >= 1, or leave it out");
  const Window window = p.window();
  const auto fit = [&](std::string_view along, Index positions, Index extent, Index before, Index after,
                       Index kernel) {
    if (positions >= 1) return;
    const std::string size = std::to_string((kernel - 1) * window.dilation + 1);
    const std::string room = std::to_string(extent + before + after);
    throw Error(where,
                "the window spans " + size + " pixels along " + std::string(along) + ", of which there are " +
                    room + " with the padding",
                "enlarge " + std::string(along) + ", pad or its sides, or reduce kernel or dilation");
  };
  fit("h", window.out_h(), window.h, window.top, window.bottom, window.kernel_h);
  fit("w", window.out_w(), window.w, window.left, window.right, window.kernel_w);
}

std::vector<Problem> im2col::corner_cases() {
  std::vector<std::string> texts{
      // The window of one tap, of the whole image, and of more than the image.
      "n=1,c=3,h=5,w=7,kernel=1", "n=2,c=3,h=5,w=7,kernel=5,kernel_w=7", "n=1,c=5,h=1,w=1,kernel=3,pad=1",
      "n=1,c=2,h=3,w=2,kernel=7,pad=3",
      // Padding on one side, on two, and no less than the window: some patches see nothing but zeros.
      "n=1,c=2,h=5,w=6,kernel=3,pad=0,left=2", "n=1,c=2,h=5,w=6,kernel=3,pad=0,right=2",
      "n=1,c=2,h=5,w=6,kernel=3,pad=2,bottom=0,left=0,right=0", "n=1,c=2,h=5,w=6,kernel=3,pad=0,bottom=2",
      "n=2,c=1,h=6,w=5,kernel=3,pad=1,bottom=3,left=2,right=0", "n=1,c=2,h=4,w=4,kernel=2,pad=3",
      "n=1,c=2,h=3,w=5,kernel=1,pad=2", "n=1,c=1,h=2,w=3,kernel=3,dilation=2,pad=6",
      // The width kept by unequal sides, and odd kernels of both directions.
      "n=1,c=3,h=6,w=9,kernel=2,pad=0,bottom=1,left=0,right=1",
      "n=2,c=2,h=9,w=5,kernel=1,kernel_w=5,pad=0,left=2,right=2",
      "n=2,c=2,h=9,w=5,kernel=5,kernel_w=1,pad=2,left=0,right=0",
      "n=1,c=5,h=4,w=6,kernel=3,kernel_w=4,pad=1,left=0,right=3",
      // Strides below, at and above the extent of the window.
      "n=1,c=3,h=8,w=9,kernel=3,stride=2,pad=1", "n=1,c=2,h=9,w=9,kernel=3,stride=3",
      "n=2,c=2,h=11,w=13,kernel=2,stride=5,pad=1", "n=1,c=4,h=14,w=15,kernel=1,stride=2",
      "n=1,c=3,h=23,w=37,kernel=7,stride=2,pad=3", "n=1,c=2,h=12,w=70,kernel=5,stride=2,pad=2,left=1,right=3",
      // Dilation, with stride, and with both odd and even steps between the taps.
      "n=1,c=3,h=9,w=11,kernel=3,dilation=2,pad=2", "n=2,c=1,h=13,w=17,kernel=3,dilation=3,pad=3",
      "n=1,c=2,h=12,w=19,kernel=3,stride=2,dilation=2,pad=2",
      "n=1,c=2,h=13,w=20,kernel=3,stride=2,dilation=3,pad=1,left=4",
      "n=1,c=3,h=11,w=20,kernel=2,stride=3,dilation=2,pad=1",
      // Rows around the lane counts 4, 8, 16, and planes around multiples of them.
      "n=2,c=13,h=7,w=7,kernel=3,pad=1", "n=1,c=3,h=4,w=4,kernel=3,pad=1",
      "n=1,c=2,h=3,w=15|16|17,kernel=3,pad=1", "n=1,c=2,h=3,w=31,kernel=3", "n=1,c=2,h=3,w=33,kernel=2",
      "n=1,c=1,h=2,w=67,kernel=2,kernel_w=3,pad=1", "n=1,c=4,h=14,w=14,kernel=3,pad=1",
      // Beyond the size below which a threaded variant stays on one thread.
      "n=1,c=17,h=29,w=31,kernel=3,pad=1", "n=2,c=3,h=41,w=43,kernel=7,stride=2,pad=3",
      "n=1,c=1,h=83,w=79,kernel=5,pad=2"};
  for (std::string& text : texts) text += ",layout=channel_major|patch_major";
  return problems<Problem>(texts);
}

auto Im2col::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Expected want{positions_of(units(p), setting.units), {}};
  want.col.reserve(static_cast<std::size_t>(want.size()));
  for_each_element(
      p, want, [&](Index, Index from, bool inside) { want.col.push_back(inside ? in.image[from] : 0.0F); });
  return want;
}

auto Col2im::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Window window = p.window();
  return expect_at(positions_of(units(p), setting.units), [&](Index pixel) {
    double sum = 0, magnitude = 0, terms = 0;
    for_each_term(p, window, pixel, [&](Index from) {
      sum += static_cast<double>(in.col[from]);
      magnitude += std::abs(static_cast<double>(in.col[from]));
      terms += 1;
    });
    const double roundings = setting.fill == Fill::exact ? 0 : std::max(terms - 1, 0.0);
    return std::pair{sum, rounding::g(roundings) * magnitude};
  });
}

Agreement Im2col::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  Agreement outcome{.compared = want.size(), .total = out.col.size()};
  Index wrong = 0;
  for (Index next = 0; next < want.size(); ++next) {
    const float actual = out.col[want[next]], expected = want.col[static_cast<std::size_t>(next)];
    if (std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(actual)) continue;
    if (wrong++ > 0) continue;
    outcome.reject(col_shape(p, p.window()).element(want[next]) + " is " +
                   (is_poison(actual) ? "unwritten" : std::to_string(actual)) + ", expected " +
                   std::to_string(expected) + " with the same bits");
  }
  if (wrong > 1) {
    outcome.detail += "; " + std::to_string(wrong) + " of " + std::to_string(outcome.compared) + " are wrong";
  }
  return outcome;
}

Cost Im2col::cost(const Problem& p) {
  im2col::demand_a_window_that_fits(name, p);
  Cost out = FromParts::cost(p);
  out.bytes_read = 4 * planes(p) * p.window().met().pixels;
  return out;
}

// A pixel's first term is copied, each further one is added.
Cost Col2im::cost(const Problem& p) {
  im2col::demand_a_window_that_fits(name, p);
  const Window::Met met = p.window().met();
  Cost out = FromParts::cost(p);
  out.flops = planes(p) * (met.pairs - met.pixels);
  out.bytes_read = 4 * planes(p) * met.pairs;
  return out;
}

template class detail::TypedOperation<Im2col>;
template class detail::TypedOperation<Col2im>;

}  // namespace assay
