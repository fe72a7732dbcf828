#include "assay/ops/lora.hpp"

#include "assay/registry.hpp"

#include <memory>

namespace assay {
namespace {

using lora::Problem;
using matrix::view;
using matrix::View;

/// A product of two matrices, computed as a whole.
template <class Real, class A, class B>
std::vector<Real> product(const A& a, const B& b, Index m, Index n, Index k) {
  std::vector<Real> c;
  c.reserve(static_cast<std::size_t>(m * n));
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) c.push_back(matrix::element<Real>(a, b, i, j, k));
  }
  return c;
}

template <class A, class B>
std::vector<double> product_of_magnitudes(const A& a, const B& b, Index m, Index n, Index k) {
  std::vector<double> c;
  c.reserve(static_cast<std::size_t>(m * n));
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) c.push_back(matrix::magnitude(a, b, i, j, k));
  }
  return c;
}

template <class A, class B>
void multiply(const A& a, const B& b, Index m, Index n, Index k, float* c) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) c[i * n + j] = matrix::element<float>(a, b, i, j, k);
  }
}

void scale_by(float s, Buffer<float>& x) {
  for (float& each : x) each *= s;
}

struct Temporaries {
  Temporaries(Index narrow, Index wide) : thin(narrow), full(wide) {}
  Buffer<float> thin, full;
};

Variant<Lora>::Kernel naive(const Problem& p, const Lora::Input&, const Context&) {
  return
      [p, t = std::make_shared<Temporaries>(p.m * p.r, p.m * p.n)](const Lora::Input& in, Lora::Output& out) {
        multiply(view(in.x.data(), p.m, p.k), view(in.w.data(), p.k, p.n), p.m, p.n, p.k, out.y.data());
        multiply(view(in.x.data(), p.m, p.k), view(in.a.data(), p.k, p.r), p.m, p.r, p.k, t->thin.data());
        multiply(view<float>(t->thin.data(), p.m, p.r), view(in.b.data(), p.r, p.n), p.m, p.n, p.r,
                 t->full.data());
        scale_by(static_cast<float>(p.scale), t->full);
        for (Index i = 0; i < p.m * p.n; ++i) out.y[i] += t->full[i];
      };
}

Variant<LoraBackward>::Kernel naive_backward(const Problem& p, const LoraBackward::Input&, const Context&) {
  return [p, t = std::make_shared<Temporaries>(p.m * p.r, p.m * p.k)](const LoraBackward::Input& in,
                                                                      LoraBackward::Output& out) {
    const float s = static_cast<float>(p.scale);
    const auto dy = view(in.dy.data(), p.m, p.n);
    const auto thin = view<float>(t->thin.data(), p.m, p.r);
    multiply(dy, view(in.w.data(), p.n, p.k, true), p.m, p.k, p.n, out.dx.data());
    multiply(dy, view(in.b.data(), p.n, p.r, true), p.m, p.r, p.n, t->thin.data());
    multiply(thin, view(in.a.data(), p.r, p.k, true), p.m, p.k, p.r, t->full.data());
    scale_by(s, t->full);
    for (Index i = 0; i < p.m * p.k; ++i) out.dx[i] += t->full[i];

    multiply(view(in.x.data(), p.k, p.m, true), thin, p.k, p.r, p.m, out.da.data());
    scale_by(s, out.da);

    multiply(view(in.x.data(), p.m, p.k), view(in.a.data(), p.k, p.r), p.m, p.r, p.k, t->thin.data());
    multiply(view<float>(t->thin.data(), p.r, p.m, true), dy, p.r, p.n, p.m, out.db.data());
    scale_by(s, out.db);
  };
}

std::vector<Problem> corners() {
  std::vector<Problem> out;
  // Around the lane counts 4, 8, 16 and the tiles built from them, primes, and the ranks in use.
  constexpr std::array<std::array<Index, 4>, 9> extents{{{1, 1, 1, 1},
                                                         {1, 17, 31, 2},
                                                         {2, 1, 3, 1},
                                                         {5, 7, 2, 3},
                                                         {7, 15, 9, 4},
                                                         {13, 31, 17, 8},
                                                         {16, 33, 16, 5},
                                                         {29, 47, 37, 16},
                                                         {31, 65, 63, 17}}};
  for (const auto& [m, n, k, r] : extents) {
    out.push_back({.m = m, .n = n, .k = k, .r = r});
    out.push_back({.m = m, .n = n, .k = k, .r = r, .scale = -3});
  }
  out.push_back({.m = 5, .n = 6, .k = 7, .r = 2, .scale = 1});
  // Past a block of each direction, and enough work to divide.
  out.push_back({.m = 3, .n = 1031, .k = 7, .r = 4});
  out.push_back({.m = 5, .n = 19, .k = 1031, .r = 4});
  out.push_back({.m = 397, .n = 9, .k = 5, .r = 2});
  out.push_back({.m = 67, .n = 129, .k = 65, .r = 8});
  return out;
}

double thin_work(const Problem& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.r) *
         (static_cast<double>(p.n) + static_cast<double>(p.k));
}
double full_work(const Problem& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}
double parameters(const Problem& p) {
  return static_cast<double>(p.k) * static_cast<double>(p.n) +
         static_cast<double>(p.r) * (static_cast<double>(p.k) + static_cast<double>(p.n));
}
double size(Index rows, Index columns) { return static_cast<double>(rows) * static_cast<double>(columns); }

/// The factor of the magnitude: of `roundings`, or zero where all is exact, below 2^24 at its largest.
double factor(const Setting& setting, double roundings, double largest) {
  return setting.fill == Fill::exact && largest < 0x1p24 ? 0 : matrix::g(roundings);
}

template <class T>
void draw(Buffer<T>& buffer, Setting& setting) {
  for (T& x : buffer) x = setting.draw();
}

const Register registered{[](Registry& r) {
  r.add<Lora>({.name = "naive",
               .summary = "three products, the last as large as Y, then scaled and added",
               .prepare = naive});
  r.add<LoraBackward>({.name = "naive",
                       .summary = "six products, one as large as dX, then scaled and added",
                       .prepare = naive_backward});
}};

}  // namespace

std::vector<Problem> Lora::corner_cases() {
  std::vector<Problem> out = corners();
  // Not for the gradients: all zeros cannot be told from each other.
  out.push_back({.m = 5, .n = 6, .k = 7, .r = 2, .scale = 0});
  return out;
}
std::vector<Problem> LoraBackward::corner_cases() { return corners(); }

double Lora::footprint(const Problem& p) {
  return 4 * (size(p.m, p.k) + parameters(p)) + 20 * size(p.m, p.n) + 16 * size(p.m, p.r);
}

double LoraBackward::footprint(const Problem& p) {
  return 4 * (size(p.m, p.k) + size(p.m, p.n) + parameters(p)) +
         20 * (size(p.m, p.k) + size(p.k + p.n, p.r)) + 32 * size(p.m, p.r);
}

auto Lora::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.m * p.k), setting.buffer<float>(p.k * p.n),
           setting.buffer<float>(p.k * p.r), setting.buffer<float>(p.r * p.n)};
  for (Buffer<float>* each : {&in.x, &in.w, &in.a, &in.b}) draw(*each, setting);
  return in;
}

auto LoraBackward::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.m * p.k), setting.buffer<float>(p.k * p.n),
           setting.buffer<float>(p.k * p.r), setting.buffer<float>(p.r * p.n),
           setting.buffer<float>(p.m * p.n)};
  for (Buffer<float>* each : {&in.x, &in.w, &in.a, &in.b, &in.dy}) draw(*each, setting);
  return in;
}

auto Lora::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.m * p.n)};
}

auto LoraBackward::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.m * p.k), setting.buffer<float>(p.k * p.r),
          setting.buffer<float>(p.r * p.n)};
}

auto Lora::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = view(in.x.data(), p.m, p.k), w = view(in.w.data(), p.k, p.n);
  const auto a = view(in.a.data(), p.k, p.r), b = view(in.b.data(), p.r, p.n);
  const auto thin = product<double>(x, a, p.m, p.r, p.k);
  const auto thin_magnitude = product_of_magnitudes(x, a, p.m, p.r, p.k);
  const auto xa = view(thin.data(), p.m, p.r), xa_magnitude = view(thin_magnitude.data(), p.m, p.r);

  const double s = static_cast<double>(p.scale), k = static_cast<double>(p.k), r = static_cast<double>(p.r);
  const double rounded = factor(setting, 2 * k + r + 1, 27 * std::abs(s) * k * r + 9 * k);
  return matrix::expect(p.m * p.n, full_work(p), matrix::corners_of(p.m, p.n), setting.rng, [&](Index flat) {
    const Index i = flat / p.n, j = flat % p.n;
    const double value =
        matrix::element<double>(x, w, i, j, p.k) + s * matrix::element<double>(xa, b, i, j, p.r);
    const double scale =
        matrix::magnitude(x, w, i, j, p.k) + std::abs(s) * matrix::magnitude(xa_magnitude, b, i, j, p.r);
    return std::pair{value, rounded * scale};
  });
}

auto LoraBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = view(in.x.data(), p.m, p.k), a = view(in.a.data(), p.k, p.r);
  const auto dy = view(in.dy.data(), p.m, p.n);
  const auto x_turned = view(in.x.data(), p.k, p.m, true), w_turned = view(in.w.data(), p.n, p.k, true);
  const auto a_turned = view(in.a.data(), p.r, p.k, true), b_turned = view(in.b.data(), p.n, p.r, true);
  const auto thin_dy = product<double>(dy, b_turned, p.m, p.r, p.n);
  const auto thin_dy_magnitude = product_of_magnitudes(dy, b_turned, p.m, p.r, p.n);
  const auto thin_x = product<double>(x, a, p.m, p.r, p.k);
  const auto thin_x_magnitude = product_of_magnitudes(x, a, p.m, p.r, p.k);
  const auto dyb = view(thin_dy.data(), p.m, p.r), dyb_size = view(thin_dy_magnitude.data(), p.m, p.r);
  const auto xa = view(thin_x.data(), p.r, p.m, true),
             xa_size = view(thin_x_magnitude.data(), p.r, p.m, true);

  const double s = static_cast<double>(p.scale), m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double k = static_cast<double>(p.k), r = static_cast<double>(p.r), largest = 27 * std::abs(s);
  const double in_dx = factor(setting, 2 * n + r + 1, largest * n * r + 9 * n);
  const double in_da = factor(setting, n + m + 1, largest * n * m);
  const double in_db = factor(setting, k + m + 1, largest * k * m);
  const auto whole = [&](Index rows, Index columns, double work, const auto& element) {
    return matrix::expect(rows * columns, work, matrix::corners_of(rows, columns), setting.rng,
                          [&, columns](Index flat) { return element(flat / columns, flat % columns); });
  };
  return {whole(p.m, p.k, full_work(p),
                [&](Index i, Index j) {
                  return std::pair{matrix::element<double>(dy, w_turned, i, j, p.n) +
                                       s * matrix::element<double>(dyb, a_turned, i, j, p.r),
                                   in_dx * (matrix::magnitude(dy, w_turned, i, j, p.n) +
                                            std::abs(s) * matrix::magnitude(dyb_size, a_turned, i, j, p.r))};
                }),
          whole(p.k, p.r, 0,
                [&](Index i, Index j) {
                  return std::pair{s * matrix::element<double>(x_turned, dyb, i, j, p.m),
                                   in_da * std::abs(s) * matrix::magnitude(x_turned, dyb_size, i, j, p.m)};
                }),
          whole(p.r, p.n, 0, [&](Index i, Index j) {
            return std::pair{s * matrix::element<double>(xa, dy, i, j, p.m),
                             in_db * std::abs(s) * matrix::magnitude(xa_size, dy, i, j, p.m)};
          })};
}

Agreement Lora::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  return matrix::judge({"y", {p.m, p.n}}, out.y, want);
}

Agreement LoraBackward::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  return matrix::judge({"dx", {p.m, p.k}}, out.dx, want.dx) &
         matrix::judge({"da", {p.k, p.r}}, out.da, want.da) &
         matrix::judge({"db", {p.r, p.n}}, out.db, want.db);
}

Cost Lora::cost(const Problem& p) {
  return {.flops = 2 * (full_work(p) + thin_work(p)),
          .bytes_read = 4 * (size(p.m, p.k) + parameters(p)),
          .bytes_written = 4 * size(p.m, p.n)};
}

// Beside dY W^T, of rank r: dY B^T and (X A)^T dY with m n, X A, X^T (dY B^T) and (dY B^T) A^T with m k.
Cost LoraBackward::cost(const Problem& p) {
  const double thin_dx = size(p.m, p.k) * static_cast<double>(p.r);
  return {.flops = 2 * (full_work(p) + thin_work(p) + thin_dx + thin_work(p)),
          .bytes_read = 4 * (size(p.m, p.k) + size(p.m, p.n) + parameters(p)),
          .bytes_written = 4 * (size(p.m, p.k) + size(p.k + p.n, p.r))};
}

void Lora::salt(const Problem& p, const Input&, std::string_view, Index, float& element, Setting& setting) {
  element = setting.draw_that_shows(2 * p.k + p.r);
}

void LoraBackward::salt(const Problem& p, const Input&, std::string_view, Index, float& element,
                        Setting& setting) {
  element = setting.draw_that_shows(2 * std::max({p.k, p.m, p.n}));
}

template class detail::TypedOperation<Lora>;
template class detail::TypedOperation<LoraBackward>;

}  // namespace assay
