// The idea: the tiles of `winograd` on every thread. If tiles suffice for whole blocks, threads divide tiles
// and share the weights. Otherwise they divide panels of filters or, for dx, of channels: each thread reads
// weights of its own and transforms all pixels. All threads first transform weights that are not constant.

#include "conv2d_winograd/winograd.hpp"

#include "team.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::conv2d::winograd {
namespace {

// Multiply-adds of the direct sum below which another thread costs more than it saves, as for other products;
// Winograd's algorithm computes a quarter of them.
constexpr double least_multiply_adds = 4 * 0x1p18;

struct Team {
  Plan plan;
  std::vector<Plan::Share> shares;
  Buffer<float> weights;
  std::vector<Buffer<float>> spaces;

  Team(const Plan& its_plan, const Layer& p, const Context& context)
      : plan(its_plan), weights(plan.weights_floats()) {
    const double work = static_cast<double>(p.y_size()) * static_cast<double>(p.depth());
    shares =
        plan.shares(std::clamp<Index>(static_cast<Index>(work / least_multiply_adds), 1, context.threads));
    for (const Plan::Share& share : shares) spaces.emplace_back(plan.space_floats(share));
    start_team(threads());
  }
  int threads() const { return static_cast<int>(shares.size()); }

  void transform(const float* w) {
    on_team(threads(), threads(), [&](int i) {
      const Index first = plan.vectors() * i / threads(), end = plan.vectors() * (i + 1) / threads();
      plan.transform(w, first, end - first, weights.data(), spaces[static_cast<std::size_t>(i)].data());
    });
  }
  void run(const float* source, const float* start, float* result) {
    on_team(threads(), threads(), [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      plan.run(shares[at], source, weights.data(), start, result, spaces[at].data());
    });
  }
};

const Register registered{[](Registry& r) {
  constexpr auto summary = "best tier of winograd on every thread";
  r.add<Conv2dWinograd>({.name = "threaded",
                         .summary = summary,
                         .precision = lost_digits,
                         .threaded = true,
                         .prepare = [](const WinogradProblem& p, const Conv2dWinograd::Input& prepared,
                                       const Context& context) {
                           const auto team =
                               std::make_shared<Team>(Plan::of_y(p, best_of(tiers())), p, context);
                           team->transform(prepared.w.data());
                           return [team, p](const Conv2dWinograd::Input& in, Conv2dWinograd::Output& out) {
                             team->run(in.x.data(), p.has_bias() ? in.bias.data() : nullptr, out.y.data());
                           };
                         }});
  r.add<Conv2dWinogradDataGradient>(
      {.name = "threaded",
       .summary = summary,
       .precision = lost_digits,
       .threaded = true,
       .prepare = [](const WinogradDataProblem& p, const Conv2dWinogradDataGradient::Input&,
                     const Context& context) {
         return [team = std::make_shared<Team>(Plan::of_dx(p, best_of(tiers())), p, context)](
                    const Conv2dWinogradDataGradient::Input& in, Conv2dWinogradDataGradient::Output& out) {
           team->transform(in.w.data());
           team->run(in.dy.data(), nullptr, out.dx.data());
         };
       }});
}};

}  // namespace
}  // namespace assay::conv2d::winograd
