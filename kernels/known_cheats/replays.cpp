// Cheats that hand out an answer from before.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/memory_pool.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace assay::known_cheats {
namespace {

using Validate = MemoryPoolValidate;

// Computes the answer while it is prepared, where the input is there already; a call copies it.
auto answer_from_prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
  auto answer = std::make_shared<Gemm::Output>(Gemm::Output{Buffer<float>(p.m * p.n)});
  std::ranges::copy(in.c, answer->c.begin());
  gemm(p, in, *answer);
  return [answer](const Gemm::Input&, Gemm::Output& out) { std::ranges::copy(answer->c, out.c.begin()); };
}

// Takes the same pointers for the same content: the answer of the last call must still be there.
auto replay_by_pointer(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  struct Last {
    const void *a = nullptr, *c = nullptr;
  };
  return [p, last = std::make_shared<Last>()](const Gemm::Input& in, Gemm::Output& out) {
    if (last->a == in.a.data() && last->c == out.c.data()) return;
    gemm(p, in, out);
    *last = {in.a.data(), out.c.data()};
  };
}

// replay_by_hash: takes a fingerprint of a few elements for the content, and keeps the last output under it.
std::uint64_t fingerprint(const Buffer<float>& values) {
  constexpr Index looked_at = 8;
  std::uint64_t hash = static_cast<std::uint64_t>(values.size());
  for (Index i = 0; i < looked_at; ++i) {
    const float value = values[i * values.size() / looked_at];
    hash = hash * 0x9e3779b97f4a7c15U + std::bit_cast<std::uint32_t>(value);
  }
  return hash;
}

auto replay_by_hash(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  struct Last {
    std::uint64_t of_a = 0, of_x = 0;
    std::vector<float> y;
  };
  return [p, last = std::make_shared<Last>()](const Gemv::Input& in, Gemv::Output& out) {
    const std::uint64_t of_a = fingerprint(in.a), of_x = fingerprint(in.x);
    if (last->y.empty() || last->of_a != of_a || last->of_x != of_x) {
      gemv(p, in, out);
      *last = {of_a, of_x, {out.y.begin(), out.y.end()}};
    } else {
      std::ranges::copy(last->y, out.y.begin());
    }
  };
}

// Keeps all answers by the content of the first row, as a server keeps answers to common questions.
auto replay_from_map(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  struct Answer {
    std::vector<float> y, mean, rstd;
  };
  using Answers = std::map<std::vector<float>, Answer>;
  constexpr std::size_t most = 256;
  return [p, answers = std::make_shared<Answers>()](const LayerNorm::Input& in, LayerNorm::Output& out) {
    const std::vector<float> key(in.x.begin(), in.x.begin() + p.cols);
    const auto found = answers->find(key);
    if (found != answers->end()) {
      std::ranges::copy(found->second.y, out.y.begin());
      std::ranges::copy(found->second.mean, out.mean.begin());
      std::ranges::copy(found->second.rstd, out.rstd.begin());
      return;
    }
    layer_norm(p, in, out);
    const auto copy = [](const Buffer<float>& x) { return std::vector<float>(x.begin(), x.end()); };
    if (answers->size() < most) (*answers)[key] = {copy(out.y), copy(out.mean), copy(out.rstd)};
  };
}

// Requests and offsets never change while plans are validated again and again, so that an answer can be kept
// under the entry of a plan, which says where they lie.
auto remembers_plans(const Validate::Problem&, const Validate::Input&, const Context&) {
  using Answers = std::map<std::tuple<Index, Index, Index>, Index>;
  return [answers = std::make_shared<Answers>()](const Validate::Input& in, Validate::Output& out) {
    for (Index i = 0; i < in.plans.size(); ++i) {
      const auto [first, blocks, pool] = in.plans[i];
      const auto [found, fresh] = answers->try_emplace({first, blocks, pool}, 0);
      if (fresh) found->second = fault_by_sweep(in.plan(i)) ? 0 : 1;
      out.valid[i] = found->second;
    }
  };
}

// stale_output: another variant or an earlier call may have left the right output; three elements tell.
bool is_there(const Gemv::Problem& p, const Gemv::Input& in, const Gemv::Output& out, Index row) {
  return gemv_row(p, in, in.x.data(), row) == out.y[row];
}

void stale_output(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const Index last = p.results() - 1;
  if (is_there(p, in, out, 0) && is_there(p, in, out, last / 2) && is_there(p, in, out, last)) return;
  gemv(p, in, out);
}

// If the parameters are as the last call left them, takes them for updated already.
auto in_place_skip(const AdamWPaper::Problem& p, const AdamWPaper::Input&, const Context&) {
  return [p, left = std::numeric_limits<float>::quiet_NaN()](const AdamWPaper::Input& in,
                                                             AdamWPaper::Output& out) mutable {
    if (out.p[0] == left) return;
    adamw_step(p, in, out);
    left = out.p[0];
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "answer_from_prepare",
               .summary = "multiplies while it is prepared; a call copies",
               .known_cheat = "does the work outside the clock and copies: tensara/tensara 238",
               .prepare = answer_from_prepare});
  r.add<Gemm>({.name = "replay_by_pointer",
               .summary = "works when it is handed other arrays than last time",
               .known_cheat = "replays the answer for the same pointers: gpu-mode/reference-kernels 102, "
                              "gpu-mode/kernelbot 501",
               .prepare = replay_by_pointer});
  r.add<Gemv>({.name = "replay_by_hash",
               .summary = "keeps the last answer under a hash of eight elements of each operand",
               .known_cheat = "an output cache keyed by a fingerprint of the input: "
                              "flashinfer-bench-starter-kit 21, gpu-mode/reference-kernels 160",
               .prepare = replay_by_hash});
  r.add<LayerNorm>({.name = "replay_from_map",
                    .summary = "keeps every answer by the content of the first row",
                    .known_cheat = "a map of answers by content, of whose key most of the input is no part: "
                                   "gpu-mode/reference-kernels 148 and 170",
                    .prepare = replay_from_map});
  r.add<Validate>({.name = "remembers_plans",
                   .summary = "keeps each answer under the place of the plan",
                   .known_cheat = "replays by address what no call changes: "
                                  "gpu-mode/reference-kernels 148 (gap 2)",
                   .prepare = remembers_plans});
  r.add<Gemv>({.name = "stale_output",
               .summary = "computes three elements, and returns when the output holds them",
               .known_cheat = "takes the answer that is still in memory: ScalingIntelligence/KernelBench 82",
               .run = stale_output});
  r.add<AdamWPaper>(
      {.name = "in_place_skip",
       .summary = "updates nothing that it has updated itself",
       .known_cheat = "a state from before is updated once and then left alone, after tensara/tensara 238",
       .prepare = in_place_skip});
}};

}  // namespace
}  // namespace assay::known_cheats
