// The idea: the best SIMD tier on every thread, rows, channels or parameters divided among them. No two
// threads write to one of these, so the result does not depend on the number of threads. Limit: threads
// beyond them are idle.

#include "pieces/pieces.hpp"
#include "team.hpp"

#include "assay/ops/attention.hpp"
#include "assay/ops/layernorm.hpp"
#include "assay/ops/pointwise.hpp"

#include <string>

namespace assay {

template <>
Tiers<ElementwiseChannelBiasBackward> tiers_of<ElementwiseChannelBiasBackward>();
template <>
Tiers<Softmax> tiers_of<Softmax>();
template <>
Tiers<BatchNorm> tiers_of<BatchNorm>();
template <>
Tiers<BatchNormBackward> tiers_of<BatchNormBackward>();

namespace {

/// Below `break_even` elements of the first input one thread computes all.
template <class Op, Index break_even>
void add(Registry& r, const std::string& units) {
  const std::string summary = "the best SIMD tier, " + units + " divided among OpenMP threads";
  const auto prepare = [](const auto& p, const auto& input, const Context& context) {
    const bool too_short = std::get<0>(Op::Input::parts()).of(input).size() < break_even;
    return [p, threads = started_team(context, too_short, Op::units(p)),
            function = best_of(tiers_of<Op>()).function](const auto& in, auto& out) {
      const Call<Op> call = call_of<Op>(p, in, out);
      on_rows(threads, Op::units(p), [&](Index first, Index last) { function(call, first, last); });
    };
  };
  add_threaded<Op>(r, summary, prepare);
}

const Register registered{[](Registry& r) {
  // Measured on two cores of a Zen 5, one thread in units of two (conditions: README.md): 0.7 at 65,536
  // elements, 0.9 at 131,072, 1.4 at 262,144.
  add<ElementwiseChannelBiasBackward, 262144>(r, "channels");
  // Chosen, not measured: that of the pointwise formulas with one exponential, and those of layernorm.
  add<Softmax, 65536>(r, "rows");
  add<BatchNorm, 65536>(r, "channels");
  add<BatchNormBackward, 40960>(r, "channels");
}};

}  // namespace
}  // namespace assay
