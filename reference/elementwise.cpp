#include "assay/ops/elementwise.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace assay::elementwise {
namespace {

View nchw(const Axes& e) {
  const auto [n, c, h, w] = e;
  return {.stride = {c * h * w, h * w, w, 1}, .storage = {n, c, h, w}};
}

View nhwc(const Axes& e) {
  const auto [n, c, h, w] = e;
  return {.stride = {h * w * c, 1, w * c, c}, .storage = {n, h, w, c}};
}

View interior(const Axes& e) {
  View view = nchw({e[0], e[1], e[2] + 2, e[3] + 2});
  view.offset = view.at(0, 0, 1, 1);
  return view;
}

View channel_vector(const Axes& e) { return {.stride = {0, 1, 0, 0}, .storage = {1, e[1], 1, 1}}; }

}  // namespace

std::optional<Axes> element_at(const View& view, const Axes& extents, Index flat) {
  std::array<std::size_t, 4> by_stride{0, 1, 2, 3};
  std::ranges::stable_sort(by_stride, std::greater<>(), [&](std::size_t axis) { return view.stride[axis]; });
  Axes out{};
  Index rest = flat - view.offset;
  for (const std::size_t axis : by_stride) {
    if (extents[axis] == 1 || view.stride[axis] == 0 || rest < 0) continue;
    out[axis] = rest / view.stride[axis];
    if (out[axis] >= extents[axis]) return std::nullopt;
    rest %= view.stride[axis];
  }
  return rest == 0 ? std::optional(out) : std::nullopt;
}

Views views(const Axes& e, Layout layout) {
  switch (layout) {
    case Layout::contiguous: break;
    case Layout::channels_last: return {nhwc(e), nhwc(e), nhwc(e)};
    case Layout::x_channels_last: return {nhwc(e), nchw(e), nchw(e)};
    case Layout::bordered: return {interior(e), nchw(e), interior(e)};
    case Layout::per_channel: return {nchw(e), channel_vector(e), nchw(e)};
    case Layout::per_channel_last: return {nhwc(e), channel_vector(e), nhwc(e)};
    case Layout::scalar: return {nchw(e), View{}, nchw(e)};
  }
  return {nchw(e), nchw(e), nchw(e)};
}

}  // namespace assay::elementwise

namespace assay {
namespace {

using elementwise::Views;

template <class Problem, class Visit>
void for_each_element(const Problem& p, const Visit& visit) {
  for (Index n = 0; n < p.n; ++n) {
    for (Index c = 0; c < p.c; ++c) {
      for (Index h = 0; h < p.h; ++h) {
        for (Index w = 0; w < p.w; ++w) visit(n, c, h, w);
      }
    }
  }
}

/// One element of z: the specification. In double it is the oracle, in float the naive variant.
/// `z` is what z held before; it does not count when beta = 0.
template <class Formula, class Real, class Problem>
Real element(const Problem& p, float x, float y, float z) {
  const Real fresh = Formula::template apply<Real>(x, y, static_cast<Real>(p.alpha));
  return p.beta == 0 ? fresh : fresh + static_cast<Real>(p.beta) * static_cast<Real>(z);
}

/// Puts in the numbers that implementations of max() get wrong: NaN of both signs, both zeros, infinities,
/// subnormals.
void sprinkle_special(Buffer<float>& x) {
  using Limits = std::numeric_limits<float>;
  constexpr float nan = Limits::quiet_NaN(), infinity = Limits::infinity(), least = Limits::denorm_min();
  sprinkle(x, std::array{nan, -0.0F, infinity, -nan, 0.0F, -infinity, -least, least});
}

/// Compares bits where bits count: everywhere for relu, else where z keeps what it held.
Agreement same_bits(const Shape& shape, const Buffer<float>& actual, const Expectation& expected,
                    bool everywhere) {
  Agreement out;
  for (Index next = 0; next < expected.size(); ++next) {
    const Index i = expected[next];
    const auto want = static_cast<float>(expected.value[static_cast<std::size_t>(next)]);
    if (!everywhere && !is_poison(want)) continue;
    if (std::bit_cast<std::uint32_t>(want) == std::bit_cast<std::uint32_t>(actual[i])) continue;
    out.reject(shape.element(i) + " is " + std::to_string(actual[i]) +
               (is_poison(want) ? " but lies outside the view of z, which must keep what it held"
                                : ", expected " + std::to_string(want) + " with the same bits"));
    break;
  }
  return out;
}

const Register registered{[](Registry& r) {
  elementwise::for_each_formula([&]<class Formula>(Formula) {
    r.add<Elementwise<Formula>>({.name = "naive",
                                 .summary = "four loops, an index map per operand and element",
                                 .run = Elementwise<Formula>::naive});
  });
}};

}  // namespace

template <class Formula>
void Elementwise<Formula>::naive(const Problem& p, const Input& in, Output& out) {
  const Views view = p.views();
  for_each_element(p, [&](Index n, Index c, Index h, Index w) {
    const float x = in.x[view.x.at(n, c, h, w)];
    const float y = Formula::unary ? 0 : in.y[view.y.at(n, c, h, w)];
    float& z = out.z[view.z.at(n, c, h, w)];
    z = element<Formula, float>(p, x, y, p.beta == 0 ? 0 : z);
  });
}

template <class Formula>
auto Elementwise<Formula>::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  const auto add = [&](const elementwise::Axes& e, Index layout) {
    const auto [n, c, h, w] = e;
    out.push_back({.n = n, .c = c, .h = h, .w = w, .layout = layout});
    if constexpr (Formula::unary) {
      out.push_back({.n = n, .c = c, .h = h, .w = w, .layout = layout, .values = 1});
    } else {
      out.push_back({.n = n, .c = c, .h = h, .w = w, .layout = layout, .alpha = -2, .beta = 3});
    }
  };
  // Around the lane counts 4, 8, 16, the unrolled blocks of up to 128 elements, and primes.
  for (const Index w : {1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 79, 127, 129, 257}) {
    add({1, 1, 1, w}, 0);
  }
  const std::size_t layouts =
      Formula::unary ? elementwise::unary_layouts.size() : elementwise::binary_layouts.size();
  for (std::size_t layout = 0; layout < layouts; ++layout) {
    for (const auto& e : elementwise::corner_extents) add(e, static_cast<Index>(layout));
  }
  if constexpr (!Formula::unary) {
    out.push_back({.n = 1, .c = 2, .h = 3, .w = 37, .alpha = 0, .beta = 1});
    out.push_back({.n = 1, .c = 2, .h = 3, .w = 37, .layout = 4, .alpha = 4, .beta = -1});
  }
  // Beyond the sizes below which a threaded variant stays on one thread, in one run and in many.
  out.push_back({.n = 1, .c = 1, .h = 1, .w = 73751});
  out.push_back({.n = 3, .c = 5, .h = 71, .w = 70, .layout = 3});
  return out;
}

template <class Formula>
auto Elementwise<Formula>::make_input(const Problem& p, Setting& setting) -> Input {
  const Views view = p.views();
  // Numbers outside the views too: a variant that computes there must show, and NaN could hide it.
  Input in{drawn(p.x_size(), setting), drawn(p.y_size(), setting), {}};
  if (p.values != 0) sprinkle_special(in.x);
  if (p.beta != 0) {
    in.z = setting.buffer<float>(view.z.size());
    for_each_element(
        p, [&](Index n, Index c, Index h, Index w) { in.z[view.z.at(n, c, h, w)] = setting.draw(); });
  }
  return in;
}

template <class Formula>
auto Elementwise<Formula>::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Views view = p.views();
  Expected want(positions_of(view.z.size(), setting.units));
  // Elements outside the view are known to be poison only in an output that is judged whole.
  std::erase_if(want.where, [&](Index flat) { return !element_at(view.z, p.extents(), flat); });
  want.value.assign(static_cast<std::size_t>(want.size()), poison_value<float>());
  want.bound.assign(static_cast<std::size_t>(want.size()), 0);

  const double beta = static_cast<double>(p.beta);
  const double roundings = Formula::roundings(p.alpha, p.beta);
  const double g = setting.fill == Fill::exact ? 0 : rounding::g(roundings);

  const auto put = [&](Index next, Index n, Index c, Index h, Index w) {
    const auto at = static_cast<std::size_t>(next);
    const float x = in.x[view.x.at(n, c, h, w)];
    const float y = Formula::unary ? 0 : in.y[view.y.at(n, c, h, w)];
    const float z = p.beta == 0 ? 0 : in.z[want[next]];
    want.value[at] = element<Formula, double>(p, x, y, z);
    want.bound[at] = g * (Formula::magnitude(x, y, static_cast<double>(p.alpha)) + std::abs(beta * z));
  };
  if (want.all) {
    for_each_element(p, [&](Index n, Index c, Index h, Index w) { put(view.z.at(n, c, h, w), n, c, h, w); });
  } else {
    for (Index next = 0; next < want.size(); ++next) {
      const auto [n, c, h, w] = *element_at(view.z, p.extents(), want[next]);
      put(next, n, c, h, w);
    }
  }
  return want;
}

template <class Formula>
Agreement Elementwise<Formula>::judge(const Problem& p, const Input&, const Expected& want,
                                      const Output& out) {
  const elementwise::Axes storage = p.views().z.storage;
  const Shape shape{"z", {storage.begin(), storage.end()}};
  return within(shape, out.z, want) & same_bits(shape, out.z, want, Formula::unary);
}

template <class Formula>
Cost Elementwise<Formula>::cost(const Problem& p) {
  const double count = product(p.n, p.c, p.h, p.w);
  const double y = Formula::unary ? 0 : static_cast<double>(p.views().y.size());
  const double scaling = Formula::unary || p.alpha == 1 ? 0 : 1;
  return {.flops = count * (1 + scaling + (p.beta != 0 ? 2 : 0)),
          .bytes_read = 4 * (count + y + (p.beta != 0 ? count : 0)),
          .bytes_written = 4 * count};
}

template struct Elementwise<elementwise::Multiply>;
template struct Elementwise<elementwise::Add>;
template struct Elementwise<elementwise::Relu>;
template class detail::TypedOperation<ElementwiseMultiply>;
template class detail::TypedOperation<ElementwiseAdd>;
template class detail::TypedOperation<ElementwiseRelu>;

}  // namespace assay
