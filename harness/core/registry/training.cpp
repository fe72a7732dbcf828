#include "assay/training.hpp"

#include "assay/error.hpp"

namespace assay {
namespace {

MakeTraining linked = nullptr;

}  // namespace

TrainingMaker::TrainingMaker(MakeTraining make) noexcept { linked = make; }

std::unique_ptr<Training> TrainingMaker::made(const TrainingPlan& plan) {
  if (linked == nullptr) {
    throw Error("training", "is in no library that this program is linked with",
                "link it with the kernels, as the program `assay` is");
  }
  return linked(plan);
}

}  // namespace assay
