// Common when repeated concatenation is replaced: the array is made once, of the type of the first piece. A
// later piece of a wider type is rounded into it, without a word.

#include "assay/ops/concatenate.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

void run(const Concatenate::Problem& p, const Concatenate::Input& in, Concatenate::Output& out) {
  concatenate::for_each_piece(p, in, [&](Index place, const auto* numbers, Index length) {
    for (Index i = 0; i < length; ++i) {
      const auto number = static_cast<float>(numbers[i]);  // the first piece is f32
      if (p.widens()) {
        out.wide[place + i] = number;
      } else {
        out.narrow[place + i] = number;
      }
    }
  });
}

const Register registered{[](Registry& r) {
  r.add<Concatenate>(
      {.name = "type_of_first_piece",
       .summary = "one array of the first piece's type",
       .known_bad = "VoxCeleb trainer guide: a preallocated array rounds pieces of a wider type",
       .run = run});
}};

}  // namespace
}  // namespace assay
