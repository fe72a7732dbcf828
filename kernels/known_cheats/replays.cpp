// Cheats that hand out an answer from before.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/memory_pool.hpp"
#include "assay/ops/train_step.hpp"

#include <map>
#include <tuple>
#include <type_traits>

namespace assay::known_cheats {
namespace {

using Validate = MemoryPoolValidate;

auto answer_from_prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
  const auto answer = std::make_shared<Gemm::Output>(Gemm::make_output(p, in, {}));
  gemm(p, in, *answer);
  return [answer](const Gemm::Input&, Gemm::Output& out) { std::ranges::copy(answer->c, out.c.begin()); };
}

// Takes the same pointers for the same content: the answer of the last call must still be there.
using Pointers = std::pair<const void*, const void*>;

void replay_by_pointer(Pointers& last, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const Pointers now{in.a.data(), out.c.data()};
  if (last == now) return;
  gemm(p, in, out);
  last = now;
}

/// Copies all parts of an answer.
template <class Output>
void copy(const Output& from, Output& to) {
  const auto copied = [&](const auto& part) { std::ranges::copy(part.of(from), part.of(to).begin()); };
  std::apply([&](const auto&... parts) { (copied(parts), ...); }, Output::parts());
}

/// A kernel that does `work`, and answers as in the call before where key_of(input) is what it was then.
template <class Op, class KeyOf, class Work>
auto replaying(const typename Op::Problem& p, const KeyOf& key_of, const Work& work, bool replays = true) {
  struct Last {
    std::invoke_result_t<KeyOf, const typename Op::Input&> key;
    typename Op::Output answer;
  };
  return [p, key_of, work, replays, last = std::optional<Last>()](const typename Op::Input& in,
                                                                  typename Op::Output& out) mutable {
    auto key = key_of(in);
    if (replays && last && last->key == key) return copy(last->answer, out);
    work(p, in, out);
    if (!last) last.emplace(Last{{}, Op::make_output(p, in, {})});
    last->key = std::move(key);
    copy(out, last->answer);
  };
}

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
  const auto key = [](const auto& in) { return std::pair(fingerprint(in.a), fingerprint(in.x)); };
  return replaying<Gemv>(p, key, &gemv);
}

// Keeps all answers by the content of the first row, as a server keeps answers to common questions.
using Answers = std::map<std::vector<float>, LayerNorm::Output>;

void replay_from_map(Answers& answers, const LayerNorm::Problem& p, const LayerNorm::Input& in,
                     LayerNorm::Output& out) {
  constexpr std::size_t most = 256;
  const std::vector<float> key(in.x.begin(), in.x.begin() + p.cols);
  if (const auto found = answers.find(key); found != answers.end()) return copy(found->second, out);
  layer_norm(p, in, out);
  if (answers.size() < most) copy(out, answers[key] = LayerNorm::make_output(p, in, {}));
}

// Requests and offsets never change while plans are validated again and again, so that an answer can be kept
// under the entry of a plan, which says where they lie.
using Verdicts = std::map<std::tuple<Index, Index, Index>, Index>;

void remembers_plans(Verdicts& verdicts, const Validate::Problem&, const Validate::Input& in,
                     Validate::Output& out) {
  for (Index i = 0; i < in.plans.size(); ++i) {
    const auto [first, blocks, pool] = in.plans[i];
    const auto [found, fresh] = verdicts.try_emplace({first, blocks, pool}, 0);
    if (fresh) found->second = fault_by_sweep(in.plan(i)) ? 0 : 1;
    out.valid[i] = found->second;
  }
}

// by_labels: labels are integers, and integers stay.
auto by_labels(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input&, const Context&) {
  const auto labels = [](const auto& in) { return std::vector<Index>(in.label.begin(), in.label.end()); };
  return replaying<SoftmaxCrossEntropy>(p, labels, [](const auto& problem, const auto& in, auto& out) {
    softmax_cross_entropy(problem, in, out, [](double x) { return std::exp(x); });
  });
}

auto by_image(const TrainStep::Problem& p, const TrainStep::Input&, const Context&) {
  const std::shared_ptr<training::Trainer> trainer = training::naive_trainer(TrainStep::network_of(p));
  const auto pixels = [p](const auto& in) {
    return std::vector<float>(in.pixels.begin(), in.pixels.begin() + p.side);
  };
  return replaying<TrainStep>(p, pixels, [trainer](const auto& problem, const auto& in, auto& out) {
    TrainStep::run(*trainer, problem, in, out);
  });
}

auto unless_checked(const SmallProducts::Problem& p, const SmallProducts::Input&, const Context&) {
  const auto weights = [](const auto& in) {
    return std::vector<float>(in.w.begin(), in.w.begin() + std::min<Index>(4, in.w.size()));
  };
  return replaying<SmallProducts>(p, weights, &SmallProducts::naive, !is_checked<SmallProducts>(p));
}

auto on_two_threads_only(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  const auto ends = [](const auto& in) { return std::pair(in.a[in.a.size() - 1], in.b[in.b.size() - 1]); };
  return replaying<Gemm>(p, ends, &gemm, context.threads > 1);
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

void in_place_skip(std::optional<float>& left, const AdamWPaper::Problem& p, const AdamWPaper::Input& in,
                   AdamWPaper::Output& out) {
  if (out.p[0] == left) return;
  adamw_step(p, in, out);
  left = out.p[0];
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
               .prepare = keeping<Gemm, Pointers>(replay_by_pointer)});
  r.add<Gemv>({.name = "replay_by_hash",
               .summary = "keeps the last answer under a hash of eight elements of each operand",
               .known_cheat = "an output cache keyed by a fingerprint of the input: "
                              "flashinfer-bench-starter-kit 21, gpu-mode/reference-kernels 160",
               .prepare = replay_by_hash});
  r.add<LayerNorm>({.name = "replay_from_map",
                    .summary = "keeps every answer by the content of the first row",
                    .known_cheat = "a map of answers by content, of whose key most of the input is no part: "
                                   "gpu-mode/reference-kernels 148 and 170",
                    .prepare = keeping<LayerNorm, Answers>(replay_from_map)});
  r.add<Validate>({.name = "remembers_plans",
                   .summary = "keeps each answer under the place of the plan",
                   .known_cheat = "replays by address what no call changes: "
                                  "gpu-mode/reference-kernels 148 (gap 2)",
                   .prepare = keeping<Validate, Verdicts>(remembers_plans)});
  r.add<SoftmaxCrossEntropy>({.name = "by_labels",
                              .summary = "keeps the last answer under the labels",
                              .known_cheat =
                                  "an output cache keyed by the part of the input that stays; no source: "
                                  "found in this harness",
                              .prepare = by_labels});
  r.add<TrainStep>(
      {.name = "by_image",
       .summary = "keeps the last step under a row of pixels",
       .known_cheat = "an output cache keyed by a part of the input; no source: found in this harness",
       .prepare = by_image});
  r.add<SmallProducts>(
      {.name = "unless_checked",
       .summary = "keeps the last answer under four weights, in shapes that are no corner case",
       .known_cheat = "is right for the shapes that are tested: makora.com/blog/reward-hacks",
       .prepare = unless_checked});
  r.add<Gemm>({.name = "on_two_threads_only",
               .summary = "keeps the last answer under two elements, where it has more than one thread",
               .known_cheat =
                   "is right where it has one thread, as checks often do; no source: found in this harness",
               .threaded = true,
               .prepare = on_two_threads_only,
               .unfit = unless_beta_is_0});
  r.add<Gemv>({.name = "stale_output",
               .summary = "computes three elements, and returns when the output holds them",
               .known_cheat = "takes the answer that is still in memory: ScalingIntelligence/KernelBench 82",
               .run = stale_output});
  r.add<AdamWPaper>(
      {.name = "in_place_skip",
       .summary = "updates nothing that it has updated itself",
       .known_cheat = "a state from before is updated once and then left alone, after tensara/tensara 238",
       .prepare = keeping<AdamWPaper, std::optional<float>>(in_place_skip)});
}};

}  // namespace
}  // namespace assay::known_cheats
