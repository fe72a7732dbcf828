#include "assay/ops/pointwise.hpp"

#include "assay/ops/elementwise.hpp"

#include <limits>
#include <string>
#include <vector>

namespace assay {
namespace {

using pointwise::Chain;
using pointwise::Domain;

/// One operation over whole arrays: out = output `j` of the formula. One loop per axis, and an index for each
/// operand; arrays without channels are one row.
template <class Formula, class Problem, std::size_t count>
void pass(const Problem& p, const std::array<const float*, count>& in, std::size_t j, float* out) {
  const bool rows = Formula::per_channel;
  const Index last_n = rows ? p.n : 1, last_c = rows ? p.c : 1, last_h = rows ? p.h : 1;
  const Index last_w = rows ? p.w : p.size();
  const auto alpha = static_cast<float>(p.alpha);
  for (Index n = 0; n < last_n; ++n) {
    for (Index c = 0; c < last_c; ++c) {
      for (Index h = 0; h < last_h; ++h) {
        for (Index w = 0; w < last_w; ++w) {
          const Index flat = ((n * last_c + c) * last_h + h) * last_w + w;
          std::array<float, count> arguments;
          for (std::size_t k = 0; k < count; ++k) arguments[k] = in[k][rows && k == 1 ? c : flat];
          out[flat] = Formula::template apply<float>(arguments, alpha)[j];
        }
      }
    }
  }
}

template <class Op>
std::array<const float*, Op::inputs> addresses(const typename Op::Input& input) {
  std::array<const float*, Op::inputs> out;
  for (std::size_t k = 0; k < Op::inputs; ++k) out[k] = input.in[k].data();
  return out;
}

/// A pass per output, or per operation of a chain.
template <class Formula>
auto prepare_naive(const typename Pointwise<Formula>::Problem& p, const typename Pointwise<Formula>::Input&,
                   const Context&) -> typename Variant<Pointwise<Formula>>::Kernel {
  using Op = Pointwise<Formula>;
  using Input = typename Op::Input;
  using Output = typename Op::Output;
  if constexpr (Chain<Formula>) {
    return [p, between = Buffer<float>(p.size())](const Input& in, Output& out) mutable {
      pass<typename Formula::First>(p, addresses<Op>(in), 0, between.data());
      pass<typename Formula::Second>(p, std::array<const float*, 1>{between.data()}, 0, out.first.data());
    };
  } else {
    return [p](const Input& in, Output& out) {
      for (std::size_t j = 0; j < Op::outputs; ++j) pass<Formula>(p, addresses<Op>(in), j, out.at(j).data());
    };
  }
}

/// 2^power with a sign of its own: numbers of every magnitude.
float of_any_magnitude(Rng& rng, double low, double high) {
  const double magnitude = std::exp2(rng.uniform(low, high));
  return static_cast<float>(rng.integer(0, 1) == 0 ? magnitude : -magnitude);
}

float first_operand(Domain domain, bool wide, Setting& setting) {
  Rng& rng = setting.rng;
  switch (domain) {
    case Domain::any: break;
    case Domain::activation:
      return wide ? of_any_magnitude(rng, -30, 6) : static_cast<float>(rng.uniform(-4, 4));
    case Domain::probability: {
      if (!wide) return static_cast<float>(rng.unit());
      const float y = of_any_magnitude(rng, -30, 0);
      return y < 0 ? 1 + y : y;
    }
  }
  return wide ? of_any_magnitude(rng, -30, 7) : setting.draw();
}

/// Puts in the numbers that formulas get wrong: NaN of both signs, both zeros, infinities, numbers below the
/// normal range, and those of which an exponential over- or underflows.
void sprinkle_special(Domain domain, Buffer<float>& x, Index every = 3) {
  using Limits = std::numeric_limits<float>;
  constexpr float nan = Limits::quiet_NaN(), infinity = Limits::infinity();
  constexpr std::array<float, 14> numbers{nan,       -0.0F,  infinity, -nan,    0.0F,   -infinity, -0x1p-130F,
                                          0x1p-130F, -1e30F, 1e30F,    -110.0F, 110.0F, -14.5F,    14.5F};
  constexpr std::array<float, 8> probabilities{nan, 0, 1, -nan, 0x1p-24F, 1 - 0x1p-24F, 0.5F, 0x1p-60F};
  sprinkle(x, domain == Domain::probability ? std::span<const float>(probabilities) : numbers, every);
}

/// Whether the formula chooses by inputs[0] whether a number of the others counts at all.
template <class Formula>
constexpr bool masks = std::is_same_v<Formula, pointwise::ReluBackward>;

/// The texts of elementwise::corner_extents, and then these.
template <class Problem>
std::vector<std::string> after_extents(Corners more) {
  std::vector<std::string> out;
  for (const auto& [n, c, h, w] : elementwise::corner_extents) {
    out.push_back(to_text(Problem{.n = n, .c = c, .h = h, .w = w}));
  }
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// The specification, summed in Real: in double the oracle, in float the naive variant. `each` maps a term.
template <class Real, class Each>
Real channel(const ElementwiseChannelBiasBackward::Problem& p, const Buffer<float>& dz, Index c,
             const Each& each) {
  Real sum = 0;
  for (Index n = 0; n < p.n; ++n) {
    for (Index h = 0; h < p.h; ++h) {
      for (Index w = 0; w < p.w; ++w) sum += each(static_cast<Real>(dz[((n * p.c + c) * p.h + h) * p.w + w]));
    }
  }
  return sum;
}

void naive_channel_sum(const ElementwiseChannelBiasBackward::Problem& p,
                       const ElementwiseChannelBiasBackward::Input& in,
                       ElementwiseChannelBiasBackward::Output& out) {
  for (Index c = 0; c < p.c; ++c) {
    out.db[c] = channel<float>(p, in.dz, c, [](float term) { return term; });
  }
}

const Register registered{[](Registry& r) {
  pointwise::for_each_formula([&]<class Formula>(Formula) {
    r.add<Pointwise<Formula>>({.name = "naive",
                               .summary = Chain<Formula> ? "a pass per operation, with an array between them"
                                                         : "a pass per output, functions of the C library",
                               .prepare = prepare_naive<Formula>});
  });
  r.add<ElementwiseChannelBiasBackward>(
      {.name = "naive", .summary = "one sum per channel, term by term", .run = naive_channel_sum});
}};

}  // namespace

template <class Formula>
auto Pointwise<Formula>::corner_cases() -> std::vector<Problem> {
  // Around the lane counts 4, 8, 16, the unrolled blocks of up to 128 elements, and primes; and beyond the
  // sizes below which one thread does it.
  std::vector<std::string> texts{"n=1|2|3|4|5|7|8|9|13|15|16|17|31|33|63|64|65|79|127|129|257", "n=73751"};
  const char* of_values = "n=17|509,values=wide|special";
  if constexpr (Formula::per_channel) {
    texts = after_extents<Problem>({"n=1,c=1,h=1,w=257", "n=3,c=5,h=71,w=70"});
    of_values = "n=2,c=3,h=5,w=29,values=wide|special";
  }
  if (Formula::domain != Domain::any || masks<Formula>) texts.emplace_back(of_values);
  if (Formula::scaled) texts.emplace_back("n=131,alpha=-1|-2|3");
  return problems<Problem>(texts);
}

template <class Formula>
auto Pointwise<Formula>::make_input(const Problem& p, Setting& setting) -> Input {
  Input input;
  for (std::size_t k = 0; k < inputs; ++k) {
    auto& in = input.in[k];
    in = setting.buffer<float>(Formula::per_channel && k == 1 ? p.c : p.size());
    for (float& x : in) x = k == 0 ? first_operand(Formula::domain, p.values == 1, setting) : setting.draw();
  }
  if (p.values == 2) {
    sprinkle_special(Formula::domain, input.in[0]);
    // A power of two, but not the distance of inputs[0].
    for (std::size_t k = 1; k < inputs && masks<Formula>; ++k) sprinkle_special(Domain::any, input.in[k], 4);
  }
  return input;
}

template <class Formula>
void Pointwise<Formula>::salt(const Problem& p, const Input&, std::string_view part, Index, float& element,
                              Setting& setting) {
  element =
      part == Formula::inputs[0] ? first_operand(Formula::domain, p.values == 1, setting) : setting.draw();
}

template <class Formula>
auto Pointwise<Formula>::expect(const Problem& p, const Input& input, Setting& setting) -> Expected {
  const Positions positions = positions_of(units(p), setting.units);
  Expected want;
  for (Expectation& each : want) each = Expectation(positions);
  const auto alpha = static_cast<double>(p.alpha);
  // Numbers of many magnitudes are no small integers, whatever the fill.
  const Fill fill = p.values == 0 ? setting.fill : Fill::uniform;
  for (Index next = 0; next < positions.size(); ++next) {
    const Index i = positions[next];
    std::array<double, inputs> arguments;
    for (std::size_t k = 0; k < inputs; ++k) {
      arguments[k] = input.in[k][Formula::per_channel && k == 1 ? i / p.plane() % p.c : i];
    }
    const auto value = Formula::template apply<double>(arguments, alpha);
    const auto bound = Formula::bound(arguments, alpha, fill);
    for (std::size_t j = 0; j < outputs; ++j) {
      want[j].value.push_back(value[j]);
      want[j].bound.push_back(bound[j]);
    }
  }
  return want;
}

auto ElementwiseChannelBiasBackward::corner_cases() -> std::vector<Problem> {
  return problems<Problem>(after_extents<Problem>(
      {"n=1,c=1,h=1,w=257", "n=2,c=4,h=9,w=15", "n=4,c=2,h=13,w=31", "n=7,c=33,h=4,w=4", "n=5,c=3,h=16,w=16",
       // Beyond the size below which a threaded variant stays on one thread.
       "n=3,c=18,h=71,w=70", "n=5,c=300|9000,h=1,w=1", "n=1,c=5,h=1,w=1,values=special",
       "n=3,c=7,h=5,w=13,values=special", "n=2,c=9,h=16,w=16,values=special",
       "n=3,c=19,h=71,w=70,values=special"}));
}

auto ElementwiseChannelBiasBackward::make_input(const Problem& p, Setting& setting) -> Input {
  Input in = FromParts::make_input(p, setting);
  if (p.values == 1) make_some_infinite(in.dz, 1 + p.c / 3, setting.rng);
  return in;
}

auto ElementwiseChannelBiasBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const double roundings = product(p.n, p.plane()) - 1;
  const double g = setting.fill == Fill::exact ? 0 : rounding::g(roundings);
  return expect_at(positions_of(p.c, setting.units), [&](Index c) {
    const auto sum = channel<double>(p, in.dz, c, [](double term) { return term; });
    const double magnitude = channel<double>(p, in.dz, c, [](double term) { return std::abs(term); });
    return std::pair{sum, std::isfinite(sum) ? g * magnitude : 0};
  });
}

#define ASSAY_DEFINE(formula) template class detail::TypedOperation<Pointwise<pointwise::formula>>;
ASSAY_POINTWISE(ASSAY_DEFINE)
template class detail::TypedOperation<ElementwiseChannelBiasBackward>;

}  // namespace assay
