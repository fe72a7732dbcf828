// Runs both contracts of the adapter as products, on one thread for `fused` and on many for `threaded`.
#pragma once

#include "lora/products.hpp"
#include "team.hpp"

#include <utility>
#include <vector>

namespace assay::lora {

/// The division of a phase's products among threads, and space for each thread.
class Schedule {
 public:
  Schedule(blocked::Tier tier, int threads, const Phases& phases, Index thin)
      : tier_(std::move(tier)), threads_(threads), thin_(thin), most_(static_cast<std::size_t>(threads)) {
    for (std::size_t f = 0; f < phases.size(); ++f) {
      for (std::size_t i = 0; i < phases[f].count; ++i) {
        const blocked::Product& p = phases[f].products[i];
        blocked::Grid& grid = grids_[f][i];
        grid = p.beta == 1 ? grids_[f][i - 1] : blocked::choose_grid(p.m, p.n, p.k, threads);
        parts_[f] = std::max(parts_[f], grid.parts());
        for (int part = 0; part < grid.parts(); ++part) {
          const blocked::Rectangle r = blocked::rectangle(grid, p.m, p.n, part);
          Index& most = most_[static_cast<std::size_t>(part)];
          if (r.rows > 0 && r.columns > 0) most = std::max(most, tier_.space_floats(part_of(p, r)));
        }
      }
    }
    for (const Index floats : most_) spaces_.emplace_back(floats);
    start_team(std::max(parts_[0], parts_[1]));
  }

  float* thin() { return thin_.data(); }

  void run(const Phases& phases) {
    for (std::size_t f = 0; f < phases.size(); ++f) {
      on_team(threads_, parts_[f], [&](int part) {
        float* const space = spaces_[static_cast<std::size_t>(part)].data();
        for (std::size_t i = 0; i < phases[f].count; ++i) {
          if (part >= grids_[f][i].parts()) continue;
          const blocked::Product& p = phases[f].products[i];
          const blocked::Rectangle r = blocked::rectangle(grids_[f][i], p.m, p.n, part);
          if (r.rows > 0 && r.columns > 0) tier_.multiply(part_of(p, r), space);
        }
      });
    }
  }

 private:
  blocked::Tier tier_;
  int threads_;
  Buffer<float> thin_;
  std::array<std::array<blocked::Grid, 4>, 2> grids_;
  std::array<int, 2> parts_{1, 1};
  std::vector<Index> most_;
  std::vector<Buffer<float>> spaces_;
};

template <class Op>
typename Variant<Op>::Kernel scheduled(const Problem& p, const typename Op::Input& in,
                                       const blocked::Tier& tier, int threads) {
  typename Op::Output nothing;
  return [p, schedule = Schedule(tier, threads, products(p, in, nothing, nullptr), thin_floats(p, in))](
             const auto& now, auto& out) mutable { schedule.run(products(p, now, out, schedule.thin())); };
}

}  // namespace assay::lora
