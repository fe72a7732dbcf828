#include "bench/measure/planted.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

class Counted final : public Timed {
 public:
  explicit Counted(Index& calls) : calls_(calls) {}
  void repeat(Index calls) override { calls_ += calls; }

 private:
  Index& calls_;
};

TEST(PlantedSlowdowns, AreReadPerVariant) {
  const std::string plants = "gemm/packed=3,adamw/*=12.5";
  EXPECT_DOUBLE_EQ(planted_slowdown(plants, "gemm", "packed"), 0.03);
  EXPECT_DOUBLE_EQ(planted_slowdown(plants, "adamw", "simd@avx2"), 0.125);
  EXPECT_DOUBLE_EQ(planted_slowdown(plants, "gemm", "naive"), 0);
  EXPECT_DOUBLE_EQ(planted_slowdown("", "gemm", "naive"), 0);
}

TEST(PlantedSlowdowns, ThatCannotBeReadAreAnErrorAndNotAnHonestBuild) {
  for (const char* bad :
       {"gemm", "gemm/packed", "gemm/packed=", "gemm/packed=x", "gemm/packed=-3", "gemm=3", "a/b=3x"}) {
    EXPECT_THROW(planted_slowdown(bad, "gemm", "packed"), Error) << bad;
  }
}

TEST(PlantedSlowdowns, OfWhatIsNotRegisteredAreRefused) {
  const Registry registry = testing::doubling_registry();
  const std::string operation(registry.operations().front()->name());
  EXPECT_NO_THROW(require_known_plants("", registry));
  EXPECT_NO_THROW(require_known_plants(operation + "/naive=3," + operation + "/*=2", registry));
  EXPECT_THROW(require_known_plants(operation + "/naive=3," + operation + "/nave=3", registry), Error);
  EXPECT_THROW(require_known_plants("gemn/naive=3", registry), Error);
}

TEST(PlantedSlowdowns, CallTheKernelAsOftenAsBefore) {
  Index calls = 0;
  planted(std::make_unique<Counted>(calls), 0.5)->repeat(7);
  EXPECT_EQ(calls, 7);
}

TEST(PlantedSlowdowns, OfNothingLeaveTheTrialItself) {
  Index calls = 0;
  auto timed = std::make_unique<Counted>(calls);
  const Timed* before = timed.get();
  EXPECT_EQ(planted(std::move(timed), 0).get(), before);
}

}  // namespace
}  // namespace assay
