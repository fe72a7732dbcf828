#include "bench/measure/planted.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"
#include "core/machine/build_info.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

class PlantedTimed final : public Timed {
 public:
  PlantedTimed(std::unique_ptr<Timed> timed, double slowdown)
      : timed_(std::move(timed)), slowdown_(slowdown) {}
  void repeat(Index calls) override {
    const auto start = Clock::now();
    timed_->repeat(calls);
    const auto took = Clock::now() - start;
    const auto end = start + took + std::chrono::duration_cast<Clock::duration>(took * slowdown_);
    while (Clock::now() < end) {
    }
  }
  void arm(std::uint64_t seed) override { timed_->arm(seed); }
  void renew(std::uint64_t seed, Renewal what) override { timed_->renew(seed, what); }
  double prepare_seconds() const override { return timed_->prepare_seconds(); }
  Index helpers() const override { return timed_->helpers(); }
  bool updates_in_place() const override { return timed_->updates_in_place(); }
  bool waits_for_device() const override { return timed_->waits_for_device(); }
  double bytes() const override { return timed_->bytes(); }
  std::optional<double> own_seconds() override {
    const auto seconds = timed_->own_seconds();
    return seconds ? std::optional((1 + slowdown_) * *seconds) : std::nullopt;
  }
  bool nudge(bool change) override { return timed_->nudge(change); }
  Agreement judge(std::uint64_t seed) override { return timed_->judge(seed); }
  std::vector<Figure> figures_of_first_content() override { return timed_->figures_of_first_content(); }
  Agreement settle(bool due) override { return timed_->settle(due); }

 private:
  std::unique_ptr<Timed> timed_;
  double slowdown_;
};

[[noreturn]] void refuse(std::string_view plant) {
  throw Error("ASSAY_PLANT", "cannot read '" + std::string(plant) + "'",
              "write operation/variant=percent, such as gemm/packed=3, and configure anew");
}

struct Plant {
  std::string_view operation, variant;
  double slowdown = 0;
};

std::vector<Plant> plants_from(std::string_view plants) {
  std::vector<Plant> out;
  if (plants.empty()) return out;
  for (const std::string_view plant : parts_of(plants, ',')) {
    const std::size_t slash = plant.find('/'), equals = plant.find('=');
    if (slash == std::string_view::npos || equals == std::string_view::npos || equals < slash) refuse(plant);
    const auto percent = number_from<double>(plant.substr(equals + 1));
    if (!percent || *percent <= 0) refuse(plant);
    out.push_back({plant.substr(0, slash), plant.substr(slash + 1, equals - slash - 1), *percent / 100});
  }
  return out;
}

bool names(const Plant& plant, std::string_view variant) {
  return plant.variant == variant || plant.variant == "*";
}

}  // namespace

std::unique_ptr<Timed> planted(std::unique_ptr<Timed> timed, double slowdown) {
  if (slowdown <= 0) return timed;
  return std::make_unique<PlantedTimed>(std::move(timed), slowdown);
}

double slowdown_of_build(std::string_view operation, std::string_view variant) {
  return planted_slowdown(build_info().planted, operation, variant);
}

void require_known_plants(std::string_view plants, const Registry& registry) {
  for (const Plant& plant : plants_from(plants)) {
    const std::vector<VariantInfo>& variants = registry.at(plant.operation).variants();
    if (!std::ranges::any_of(variants, [&](const VariantInfo& one) { return names(plant, one.name); })) {
      throw Error("ASSAY_PLANT", fmt::format("{} has no variant {}", plant.operation, plant.variant),
                  fmt::format("assay list {} shows those that it has; configure anew", plant.operation));
    }
  }
}

double planted_slowdown(std::string_view plants, std::string_view operation, std::string_view variant) {
  double found = 0;
  for (const Plant& plant : plants_from(plants)) {
    if (plant.operation == operation && names(plant, variant)) found = plant.slowdown;
  }
  return found;
}

}  // namespace assay
