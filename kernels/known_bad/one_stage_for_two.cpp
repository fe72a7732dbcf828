// Common when the copy moves to a thread of its own: it goes on with the next batch as soon as it is done
// with this one, into the staging area that is still being read. Half of the batch is then worked on as the
// next one. Which half is a matter of luck; here the copy comes when the work is half done, so that it is the
// same in each call.

#include "assay/ops/staged_copy.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <vector>

namespace assay {
namespace {

void run(const StagedCopy::Problem& p, const StagedCopy::Input& in, StagedCopy::Output& out) {
  std::vector<float> stage(in.x.begin(), in.x.begin() + p.n);
  const Index half = p.n / 2;
  for (Index b = 0; b < p.batches; ++b) {
    float* const y = out.y.data() + b * p.n;
    staged_copy::consume(p.rounds, stage.data(), half, y);
    if (b + 1 < p.batches) std::copy_n(in.x.data() + (b + 1) * p.n, p.n, stage.begin());
    staged_copy::consume(p.rounds, stage.data() + half, p.n - half, y + half);
  }
}

const Register registered{[](Registry& r) {
  r.add<StagedCopy>({.name = "one_stage_for_two",
                     .summary = "the next batch copied over the one in use",
                     .known_bad = "an asynchronous copy with one staging area: a race, here in a fixed order",
                     .run = run});
}};

}  // namespace
}  // namespace assay
