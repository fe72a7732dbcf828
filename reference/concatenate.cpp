#include "assay/ops/concatenate.hpp"

#include "assay/registry.hpp"

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
  std::vector<Problem> out;
  for (const Index types : {0, 1}) {
    for (const auto& [pieces, n] : {std::pair{1, 1}, {2, 7}, {3, 1}, {4, 16}, {7, 33}, {20, 5}}) {
      out.push_back({.pieces = pieces, .n = n, .types = types});
    }
  }
  return out;
}

double Concatenate::footprint(const Problem& p) {
  return 32 * static_cast<double>(p.pieces) * static_cast<double>(p.n + 1);
}

auto Concatenate::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.numbers(false)), setting.buffer<double>(p.numbers(true))};
  for (float& x : in.narrow) x = setting.draw();
  for (double& x : in.wide) x = setting.rng.uniform(-1, 1);
  return in;
}

auto Concatenate::make_output(const Problem& p, const Input& in, const Setting& setting) -> Output {
  const Index size = in.narrow.size() + in.wide.size();
  return {setting.buffer<float>(p.widens() ? 0 : size), setting.buffer<double>(p.widens() ? size : 0)};
}

auto Concatenate::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  concatenate::for_each_piece(p, in, [&](Index, const auto* numbers, Index length) {
    want.all.insert(want.all.end(), numbers, numbers + length);
  });
  return want;
}

Agreement Concatenate::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  const std::vector<double> same_value(want.all.size(), 0.0);
  const auto size = static_cast<Index>(want.all.size());
  return p.widens() ? within({"wide", {size}}, out.wide, want.all, same_value)
                    : within({"narrow", {size}}, out.narrow, want.all, same_value);
}

Cost Concatenate::cost(const Problem& p) {
  const auto narrow = static_cast<double>(p.numbers(false)), wide = static_cast<double>(p.numbers(true));
  return {.bytes_read = 4 * narrow + 8 * wide, .bytes_written = (p.widens() ? 8 : 4) * (narrow + wide)};
}

template class detail::TypedOperation<Concatenate>;

}  // namespace assay
