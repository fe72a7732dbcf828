#include "assay/ops/memory_pool.hpp"

#include "assay/ops/allocator_trace.hpp"
#include "assay/registry.hpp"

#include <algorithm>

namespace assay {
namespace {

using memory_pool::Draft;
using memory_pool::Request;
using Problem = MemoryPoolValidate::Problem;

enum Plans : Index { mutated, one };

/// All pairs of 10^5 blocks took 25 to 55 seconds on two shared cores of an AMD EPYC (family 26).
constexpr Index most_for_naive = 20'000;

void naive(const Problem&, const MemoryPoolValidate::Input& in, MemoryPoolValidate::Output& out) {
  for (Index i = 0; i < in.plans.size(); ++i) out.valid[i] = fault_by_pairs(in.plan(i)) ? 0 : 1;
}

std::optional<std::string> naive_unfit(const Problem& p, const Context&) {
  if (p.blocks <= most_for_naive) return std::nullopt;
  return "all pairs of more than " + std::to_string(most_for_naive) + " blocks take too long";
}

Index plans(const Problem& p) { return p.plans == mutated ? 1 + memory_pool::mutations : 1; }

const Register registered{[](Registry& r) {
  r.add<MemoryPoolValidate>(
      {.name = "naive", .summary = "all pairs of blocks", .run = naive, .unfit = naive_unfit});
}};

}  // namespace

auto MemoryPoolValidate::problem_of(const std::filesystem::path& file) -> Problem {
  return {.blocks = allocator_trace::count_requests(file),
          .pattern = static_cast<Index>(memory_pool::Pattern::trace)};
}

std::vector<Problem> MemoryPoolValidate::corner_cases() {
  using memory_pool::Pattern;
  std::vector<Problem> out;
  for (const Pattern pattern : {Pattern::nested, Pattern::short_lived, Pattern::clipped}) {
    // Few blocks have few partners; a word of a bitmap holds 64; 600 fill more than one block of any kind.
    for (const Index blocks : {1, 2, 3, 4, 7, 16, 33, 63, 65, 130, 257, 600}) {
      out.push_back({.blocks = blocks, .pattern = static_cast<Index>(pattern)});
    }
    out.push_back({.blocks = 1000, .pattern = static_cast<Index>(pattern), .plans = one});
  }
  return out;
}

double MemoryPoolValidate::footprint(const Problem& p) {
  // Plans, the drafts they were copied from, and the orders and maps of the oracle.
  return static_cast<double>(p.blocks) * (72 * static_cast<double>(plans(p)) + 120);
}

auto MemoryPoolValidate::make_input(const Problem& p, Setting& setting) -> Input {
  const std::vector<Request> requests = memory_pool::make_requests(p.blocks, p.pattern, setting);
  const std::vector<Draft> made = memory_pool::drafts(requests, p.plans == mutated, setting.rng);
  Index total = 0;
  for (const Draft& draft : made) total += static_cast<Index>(draft.requests.size());
  Input in{setting.buffer<Request>(total), setting.buffer<Index>(total), setting.buffer<Entry>(plans(p)), {}};
  Index first = 0;
  for (const Draft& draft : made) {
    const auto blocks = static_cast<Index>(draft.requests.size());
    std::ranges::copy(draft.requests, in.requests.begin() + first);
    std::ranges::copy(draft.offsets, in.offsets.begin() + first);
    in.plans[static_cast<Index>(in.what.size())] = {.first = first, .blocks = blocks, .pool = draft.pool};
    in.what.push_back(draft.what);
    first += blocks;
  }
  return in;
}

auto MemoryPoolValidate::make_output(const Problem&, const Input& in, const Setting& setting) -> Output {
  return {setting.buffer<Index>(in.plans.size())};
}

auto MemoryPoolValidate::expect(const Problem&, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index i = 0; i < in.plans.size(); ++i) want.valid.push_back(fault(in.plan(i)) ? 0 : 1);
  return want;
}

Agreement MemoryPoolValidate::judge(const Problem&, const Input& in, const Expected& want,
                                    const Output& out) {
  Agreement outcome{.compared = out.valid.size(), .total = out.valid.size()};
  Index wrong = 0;
  for (Index i = 0; i < out.valid.size(); ++i) {
    const Index expected = want.valid[static_cast<std::size_t>(i)];
    if (out.valid[i] == expected || wrong++ > 0) continue;
    const memory_pool::Plan plan = in.plan(i);
    const auto found = fault(plan);
    outcome.detail = "valid[" + std::to_string(i) + "] is " + std::to_string(out.valid[i]) + ", expected " +
                     std::to_string(expected) + ": " + std::string(in.what[static_cast<std::size_t>(i)]) +
                     (found ? "; " + to_string(*found, plan) : "");
  }
  if (wrong == 0) return outcome;
  outcome.agrees = false;
  outcome.worst_error = std::numeric_limits<double>::infinity();
  outcome.detail +=
      "; " + std::to_string(wrong) + " of " + std::to_string(out.valid.size()) + " answers are wrong";
  return outcome;
}

// The first fault ends the reading.
Cost MemoryPoolValidate::cost(const Problem& p) {
  const double count = static_cast<double>(plans(p));
  const double read = count * (static_cast<double>(p.blocks) * (sizeof(Request) + sizeof(Index)));
  return {.bytes_read = read, .bytes_written = count * sizeof(Index), .avoidable_bytes = read};
}

void MemoryPoolValidate::salt(const Problem&, const Input& in, std::string_view, Index at, Entry& element,
                              Setting& setting) {
  if (in.plans.size() > 1) {
    element = in.plans[(at + setting.rng.integer(1, in.plans.size() - 1)) % in.plans.size()];
  } else if (setting.timed || setting.rng.integer(0, 1) == 0) {
    element.pool += setting.rng.integer(1, 1024) * memory_pool::alignment;
  } else {
    element.pool /= 2;  // a fault that is seen before all blocks are looked at
  }
}

void MemoryPoolValidate::salt(const Problem&, const Input& in, std::string_view, Index,
                              memory_pool::Request& element, Setting& setting) {
  // A smaller block remains where it was: a plan that is valid stays so. A larger one may reach into another,
  // which shows whether a kernel looks.
  const bool grows = !setting.timed && setting.rng.integer(0, in.requests.size()) == 0;
  element.bytes = grows ? element.bytes + 2 * memory_pool::alignment : setting.rng.integer(1, element.bytes);
}

template class detail::TypedOperation<MemoryPoolValidate>;
template class detail::TypedOperation<MemoryPoolPlan>;

}  // namespace assay
