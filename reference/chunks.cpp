#include "assay/ops/chunks.hpp"

#include <algorithm>

namespace assay {
namespace {

using Problem = Chunks::Problem;

std::uint64_t scrambled(std::uint64_t value, Index rounds) {
  for (Index round = 0; round < rounds; ++round) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    value ^= value >> 31;
  }
  return value;
}

void naive(const Problem& p, const Chunks::Input& in, Chunks::Output& out) {
  chunks::work(p, in, 0, p.n, out);
}

const Register registered{[](Registry& r) {
  r.add<Chunks>({.name = "naive", .summary = "one after the other on one thread", .run = naive});
}};

}  // namespace

Index Chunks::Problem::rounds(Index i) const {
  if (skew == 1) return 1 + 2 * grain * i / n;
  if (skew == 2) return i < n - n / 8 ? grain : 9 * grain;
  return grain;
}

auto Chunks::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const Index n : {1, 2, 3, 8, 33, 257}) out.push_back({.n = n, .grain = 20, .skew = n % 3});
  out.push_back({.n = 1000, .grain = 1, .skew = 2});
  out.push_back({.n = 1000, .grain = 1});
  return out;
}

auto Chunks::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index i = 0; i < p.n; ++i) want.value.push_back(scrambled(in.seed[i], p.rounds(i)));
  return want;
}

std::vector<Figure> Chunks::figures(const Problem& p, const Input&, const Expected&, const Output&) {
  return {{.name = "most that stealing gains over equal counts on 2 threads",
           .value = 100 * (chunks::static_loss(p, 2) - 1),
           .unit = "%"}};
}

void chunks::work(const Chunks::Problem& p, const Chunks::Input& in, Index begin, Index end,
                  Chunks::Output& out) {
  for (Index i = begin; i < end; ++i) out.value[i] = scrambled(in.seed[i], p.rounds(i));
}

double chunks::static_loss(const Chunks::Problem& p, int threads) {
  double all = 0, longest = 0;
  for (int thread = 0; thread < threads; ++thread) {
    double share = 0;
    for (Index i = p.n * thread / threads; i < p.n * (thread + 1) / threads; ++i) {
      share += static_cast<double>(p.rounds(i));
    }
    all += share;
    longest = std::max(longest, share);
  }
  return longest * threads / all;
}

template class detail::TypedOperation<Chunks>;

}  // namespace assay
