#include "assay/ops/gemv.hpp"

namespace assay {
namespace {

using Problem = Gemv::Problem;

/// op(A)[results, terms], and x as a matrix of one column.
matrix::View<float> operand(const Problem& p, const Gemv::Input& in) {
  return p.transposed() ? matrix::view(in.a.data(), p.n, p.m, true) : matrix::view(in.a.data(), p.m, p.n);
}
matrix::View<float> column(const Gemv::Input& in) { return {in.x.data(), 1, 0}; }

void naive(const Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const auto a = operand(p, in), x = column(in);
  for (Index i = 0; i < p.results(); ++i) out.y[i] = matrix::element<float>(a, x, i, 0, p.terms());
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "naive", .summary = "one dot product per element of y", .run = naive});
}};

}  // namespace

std::vector<Problem> Gemv::corner_cases() {
  return problems<Problem>(
      {// Around the lane counts 4, 8, 16 and blocks of four and eight rows or vectors, and primes.
       "m=1|2|3|5|7|8|9|13|17,n=1|2|3|15|16|17|31|63|65|127|129,trans=n|t", "m=3,n=4099,trans=n|t",
       "m=4099,n=3,trans=n|t",
       // Enough work for a threaded variant to divide.
       "m=257,n=1031,trans=n|t", "m=37,n=67,trans=n|t,values=special|tiny",
       "m=67,n=37,trans=n|t,values=special|tiny", "m=257,n=1031,trans=n|t,values=special|tiny"});
}

auto Gemv::make_input(const Problem& p, Setting& setting) -> Input {
  // One element of x that is not finite leaves no result that is.
  Input in{matrix::operand(p.m * p.n, p.values, false, p.results(), setting),
           setting.buffer<float>(p.terms())};
  for (float& x : in.x) x = matrix::drawn_element(p.values, true, setting);
  return in;
}

auto Gemv::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto a = operand(p, in), x = column(in);
  const bool same_value = setting.fill == Fill::exact && 9.0 * static_cast<double>(p.terms()) < 0x1p24;
  const double factor = same_value ? 0 : rounding::g(static_cast<double>(p.terms()));
  return expect_at(matrix::positions(p.results(), product(p.m, p.n), {0, p.results() - 1}, setting),
                   [&](Index i) {
                     const auto value = matrix::element<double>(a, x, i, 0, p.terms());
                     const double magnitude = matrix::magnitude(a, x, i, 0, p.terms());
                     return std::pair{value, matrix::bound_of(value, factor, magnitude, p.values, p.terms())};
                   });
}

void Gemv::salt(const Problem& p, const Input&, std::string_view part, Index, float& element,
                Setting& setting) {
  element = matrix::drawn_element(p.values, part == "x", setting);
}

template class detail::TypedOperation<Gemv>;

}  // namespace assay
