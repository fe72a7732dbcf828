// The idea: the result has its full size from the start and each piece is copied to its place, so every
// number is copied once.

#include "assay/ops/training_loop.hpp"

#include <algorithm>

namespace assay::concatenate {
namespace {

void run(const Concatenate::Problem& p, const Concatenate::Input& in, Concatenate::Output& out) {
  for_each_piece(p, in, [&](Index place, const auto* numbers, Index length) {
    if (p.widens()) {
      std::copy(numbers, numbers + length, out.wide.data() + place);
    } else {
      // Without a piece of f64 all are f32.
      for (Index i = 0; i < length; ++i) out.narrow[place + i] = static_cast<float>(numbers[i]);
    }
  });
}

const Register registered{[](Registry& r) {
  r.add<Concatenate>(
      {.name = "one_buffer", .summary = "each piece copied to its place in one array", .run = run});
}};

}  // namespace
}  // namespace assay::concatenate
