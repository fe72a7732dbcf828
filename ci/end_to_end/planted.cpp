// The program with faults planted in it, to show that it finds them. ASSAY_FAULT says which:
//   wrong           a variant gemm/planted that drops the last product of every odd k
//   slower=FACTOR   gemm/packed does FACTOR times its work
//   idle            gemm/packed rests while the clock runs, and does its work before it is judged
//   crash           a variant gemm/planted that aborts
//   bad             variants gemm/bad_* that crash, hang, exit, throw, or crash and hang once they are timed
//   benign          the same variants, without fault
//   framed          a variant gemm/planted that is honest and said to cheat
//   disguised       one that replays its answers and is said to be honest
//   plan=low        a variant memory_pool_plan/planted that lets requests share bytes
//   plan=high       the same one, which lets none: it is right, fast, and high

#include "assay/error.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/ops/memory_pool.hpp"
#include "assay/pipeline.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;

void multiply(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out, Index products) {
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float sum = 0;
      for (Index l = 0; l < products; ++l) {
        const float a = p.a_transposed() ? in.a[l * p.m + i] : in.a[i * p.k + l];
        const float b = p.b_transposed() ? in.b[j * p.k + l] : in.b[l * p.n + j];
        sum += a * b;
      }
      float& c = out.c[i * p.n + j];
      c = static_cast<float>(p.alpha) * sum + (p.beta != 0 ? static_cast<float>(p.beta) * c : 0);
    }
  }
}

void drop_last_product_of_odd_k(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  multiply(p, in, out, p.k - p.k % 2);
}

void right(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) { multiply(p, in, out, p.k); }

void crash(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) { std::abort(); }

/// Holds the pipe `hangs` open where there is one: its reader sees when this begins and when the process
/// ends.
void hang(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) {
  const int pipe = open("hangs", O_WRONLY | O_CLOEXEC);
  if (pipe >= 0 && write(pipe, "!", 1) < 0) std::abort();
  for (;;) pause();
}

void leave(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) { std::exit(0); }

void fling(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) {
  throw std::runtime_error("no such tile");
}

/// Right when it is handed other arrays than last time.
void replay(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  static const void *last_a = nullptr, *last_c = nullptr;
  if (last_a != in.a.data() || last_c != out.c.data()) right(p, in, out);
  last_a = in.a.data();
  last_c = out.c.data();
}

/// So that checks take no time.
std::optional<std::string> not_large(const Gemm::Problem& p, const Context&) {
  if (p.m * p.n * p.k <= 100'000) return std::nullopt;
  return "is too large";
}

/// Right as often as a check calls it, which is twice per fill, and then as `bad` does: before a launch of
/// slow calls, which are few, is over.
template <void (*bad)(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&)>
void late(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  static int calls = 0;
  constexpr int most_of_checks = 8;
  (++calls > most_of_checks ? bad : right)(p, in, out);
}

void plant_bad(Registry& registry, bool benign) {
  using Run = void (*)(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&);
  const std::pair<const char*, Run> variants[]{{"bad_crash", crash},
                                               {"bad_hang", hang},
                                               {"bad_exit", leave},
                                               {"bad_throw", fling},
                                               {"bad_late_crash", late<crash>},
                                               {"bad_late_hang", late<hang>}};
  for (const auto& [name, run] : variants) {
    registry.add<Gemm>({.name = name, .summary = "is planted", .run = benign ? right : run});
  }
}

void write_plan(const MemoryPoolPlan::Input& in, std::span<const Index> lower, MemoryPoolPlan::Output& out) {
  out.height[0] = 0;
  for (Index i = 0; i < in.requests.size(); ++i) {
    out.lower[i] = lower[static_cast<std::size_t>(i)];
    out.upper[i] = out.lower[i] + in.requests[i].bytes;
    out.height[0] = std::max(out.height[0], out.upper[i]);
  }
}

void plan_low(const MemoryPoolPlan::Problem&, const MemoryPoolPlan::Input& in, MemoryPoolPlan::Output& out) {
  write_plan(in, memory_pool::place_by_best_fit(in.requests).offsets, out);
}

void plan_high(const MemoryPoolPlan::Problem&, const MemoryPoolPlan::Input& in, MemoryPoolPlan::Output& out) {
  std::vector<Index> lower;
  Index top = 0;
  for (const memory_pool::Request& request : in.requests) {
    lower.push_back(top);
    top += memory_pool::round_up(request.bytes);
  }
  write_plan(in, lower, out);
}

/// Does the work of each call `factor` times.
class SlowTimed final : public Timed {
 public:
  SlowTimed(std::unique_ptr<Timed> real, Index factor) : real_(std::move(real)), factor_(factor) {}
  void repeat(Index calls) override { real_->repeat(calls * factor_); }
  void arm(std::uint64_t seed) override { real_->arm(seed); }
  void renew(std::uint64_t seed, Renewal what) override { real_->renew(seed, what); }
  Agreement judge(std::uint64_t seed) override { return real_->judge(seed); }
  Agreement settle(bool due) override { return real_->settle(due); }

 private:
  std::unique_ptr<Timed> real_;
  Index factor_;
};

/// Returns at once, and is right whenever somebody looks.
class IdleTimed final : public Timed {
 public:
  explicit IdleTimed(std::unique_ptr<Timed> real) : real_(std::move(real)) {}
  void repeat(Index) override {}
  void arm(std::uint64_t seed) override { real_->arm(seed); }
  void renew(std::uint64_t seed, Renewal what) override { real_->renew(seed, what); }
  Agreement judge(std::uint64_t seed) override {
    real_->repeat(1);
    return real_->judge(seed);
  }
  Agreement settle(bool due) override { return real_->settle(due); }

 private:
  std::unique_ptr<Timed> real_;
};

using Wrap = std::function<std::unique_ptr<Timed>(std::unique_ptr<Timed>)>;

class PlantedWorkload final : public Workload {
 public:
  PlantedWorkload(std::unique_ptr<Workload> real, std::size_t variant, const Wrap& wrap)
      : real_(std::move(real)), variant_(variant), wrap_(wrap) {}
  Cost cost() const override { return real_->cost(); }
  Agreement check(std::size_t variant, const Context& context, double rehearsal_seconds) override {
    return real_->check(variant, context, rehearsal_seconds);
  }
  std::unique_ptr<Timed> timed(std::size_t variant, const Context& context) override {
    auto timed = real_->timed(variant, context);
    return variant == variant_ ? wrap_(std::move(timed)) : std::move(timed);
  }
  detail::NaiveOutput naive_output(std::uint64_t seed) override { return real_->naive_output(seed); }

 private:
  std::unique_ptr<Workload> real_;
  std::size_t variant_;
  const Wrap& wrap_;
};

/// An operation of which one variant is timed through `wrap`; all else is as it was.
class PlantedOperation final : public Operation {
 public:
  PlantedOperation(std::unique_ptr<Operation> real, std::string_view variant, Wrap wrap)
      : real_(std::move(real)), wrap_(std::move(wrap)) {
    for (variant_ = 0; variant_ < variants().size() && variants()[variant_].name != variant;) ++variant_;
  }
  std::string_view name() const override { return real_->name(); }
  std::string_view about() const override { return real_->about(); }
  int version() const override { return real_->version(); }
  std::vector<FieldRule> fields() const override { return real_->fields(); }
  std::vector<Fill> fills() const override { return real_->fills(); }
  const std::vector<VariantInfo>& variants() const override { return real_->variants(); }
  std::vector<std::string> corner_cases() const override { return real_->corner_cases(); }
  std::string canonical(std::string_view where, std::string_view problem) const override {
    return real_->canonical(where, problem);
  }
  std::string problem_of(const std::string& file) const override { return real_->problem_of(file); }
  double footprint(std::string_view problem) const override { return real_->footprint(problem); }
  Cost cost(std::string_view problem) const override { return real_->cost(problem); }
  std::optional<std::string> unfit(std::size_t variant, std::string_view problem,
                                   const Context& context) const override {
    return real_->unfit(variant, problem, context);
  }
  std::unique_ptr<Workload> open(std::string_view problem, Setting setting) const override {
    return std::make_unique<PlantedWorkload>(real_->open(problem, std::move(setting)), variant_, wrap_);
  }

 private:
  std::unique_ptr<Operation> real_;
  Wrap wrap_;
  std::size_t variant_ = 0;
};

void plant_in_packed(Registry& registry, Wrap wrap) {
  registry.put(std::make_unique<PlantedOperation>(registry.take("gemm"), "packed", std::move(wrap)));
}

void plant(Registry& registry, const std::string& what) {
  constexpr std::string_view slower = "slower=";
  if (what == "wrong") {
    registry.add<Gemm>({.name = "planted",
                        .summary = "drops the last product of every odd k",
                        .run = drop_last_product_of_odd_k});
  } else if (what == "crash") {
    registry.add<Gemm>({.name = "planted", .summary = "aborts", .run = crash});
  } else if (what == "framed") {
    registry.add<Gemm>({.name = "planted",
                        .summary = "is right",
                        .known_cheat = "none at all",
                        .run = right,
                        .unfit = not_large});
  } else if (what == "disguised") {
    registry.add<Gemm>({.name = "planted",
                        .summary = "replays",
                        .known_honest = "looks odd",
                        .run = replay,
                        .unfit = not_large});
  } else if (what == "bad" || what == "benign") {
    plant_bad(registry, what == "benign");
  } else if (what.starts_with(slower)) {
    const Index factor = std::stol(what.substr(slower.size()));
    plant_in_packed(registry, [factor](std::unique_ptr<Timed> real) {
      return std::make_unique<SlowTimed>(std::move(real), factor);
    });
  } else if (what == "plan=low" || what == "plan=high") {
    registry.add<MemoryPoolPlan>({.name = "planted",
                                  .summary = "shares bytes, or does not",
                                  .run = what == "plan=low" ? plan_low : plan_high});
  } else if (what == "idle") {
    plant_in_packed(registry,
                    [](std::unique_ptr<Timed> real) { return std::make_unique<IdleTimed>(std::move(real)); });
  } else if (!what.empty()) {
    throw Error("ASSAY_FAULT=" + what, "is not a fault that can be planted",
                "set wrong, crash, bad, benign, framed, disguised, idle, plan=low, plan=high or "
                "slower=<factor>");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_command_line(argc, argv, [] {
    Registry registry = Registry::linked();
    const char* what = std::getenv("ASSAY_FAULT");
    plant(registry, what != nullptr ? what : "");
    return registry;
  });
}
