// The idea: a plan is made once and used for hours, so a second is well spent on it. Searches from many
// orders go on until the lower bound is reached or the steps are used up.

#include "memory_pool_plan/planner.hpp"

namespace assay::memory_pool {

const Register registered{[](Registry& r) {
  // 0.9 s on one shared core of an AMD EPYC (family 26), for lists of 150 to 300 blocks.
  add_planner(r, "offline", "searches for plans below the best, for up to 100 million steps", 100'000'000);
}};

}  // namespace assay::memory_pool
