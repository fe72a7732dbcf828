#include "assay/ops/concatenate.hpp"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

using Problem = Concatenate::Problem;

/// Joins the result so far and the next piece into a new array each time: k pieces are copied about k / 2
/// times.
template <class Result>
void joined_again_and_again(const Problem& p, const Concatenate::Input& in, Buffer<Result>& out) {
  std::vector<Result> all;
  concatenate::for_each_piece(p, in, [&](Index, const auto* numbers, Index length) {
    std::vector<Result> longer;
    longer.reserve(all.size() + static_cast<std::size_t>(length));
    longer.insert(longer.end(), all.begin(), all.end());
    for (Index i = 0; i < length; ++i) longer.push_back(static_cast<Result>(numbers[i]));
    all = std::move(longer);
  });
  std::ranges::copy(all, out.begin());
}

void naive(const Problem& p, const Concatenate::Input& in, Concatenate::Output& out) {
  if (p.widens()) {
    joined_again_and_again(p, in, out.wide);
  } else {
    joined_again_and_again(p, in, out.narrow);
  }
}

const Register registered{[](Registry& r) {
  r.add<Concatenate>({.name = "naive", .summary = "a longer array for each piece", .run = naive});
}};

}  // namespace

Index Concatenate::Problem::numbers(bool wide) const {
  Index sum = 0;
  for (Index piece = 0; piece < pieces; ++piece) sum += is_wide(piece) == wide ? length(piece) : 0;
  return sum;
}

auto Concatenate::corner_cases() -> std::vector<Problem> {
  return problems<Problem>({"pieces=1|3,n=1,types=same|mixed", "pieces=2,n=7,types=same|mixed",
                            "pieces=4,n=16,types=same|mixed", "pieces=7,n=33,types=same|mixed",
                            "pieces=20,n=5,types=same|mixed"});
}

auto Concatenate::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.narrow()), setting.buffer<double>(p.wide())};
  for (float& x : in.narrow) x = setting.draw();
  for (double& x : in.wide) x = setting.rng.uniform(-1, 1);
  return in;
}

auto Concatenate::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  Expectation& all = p.widens() ? want.wide : want.narrow;
  concatenate::for_each_piece(p, in, [&](Index, const auto* numbers, Index length) {
    all.value.insert(all.value.end(), numbers, numbers + length);
  });
  all.bound.resize(all.value.size(), 0);
  return want;
}

template class detail::TypedOperation<Concatenate>;

}  // namespace assay
