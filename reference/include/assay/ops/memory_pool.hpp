/// The contracts `memory_pool_validate` and `memory_pool_plan`: tensors with known lives that share one pool.
#pragma once

#include "assay/registry.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace memory_pool {

/// Offsets are multiples of this many bytes.
inline constexpr Index alignment = 64;

/// Largest sum of the bytes of a list of requests, each rounded up to the alignment.
inline constexpr Index largest_total = Index{1} << 62;

/// `bytes` > 0 that are needed from step `start` until just before step `end` > `start`.
struct Request {
  Index bytes, start, end;
  friend bool operator==(const Request&, const Request&) = default;
};

constexpr Index round_up(Index bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Requests, where each of them starts in the pool, and the bytes of the pool.
struct Plan {
  std::span<const Request> requests;
  std::span<const Index> offsets;
  Index pool = 0;
};

/// The reason why a plan is invalid: one block by itself, or two of them.
struct Fault {
  Index block = 0, other = -1;
  std::string_view what;
};
std::string to_string(const Fault& fault, const Plan& plan);

bool overlap_in_time(const Request& a, const Request& b);
/// Whether blocks i and j share bytes. Both lie inside the pool, so that their ends do not overflow.
bool overlap_in_space(const Plan& plan, std::size_t i, std::size_t j);

/// The first block that does not lie inside the pool at a multiple of 64, or nothing.
std::optional<Fault> fault_of_any_block(const Plan& plan);

/// The definition: each block by itself, then all pairs.
std::optional<Fault> fault_by_pairs(const Plan& plan);

/// The same answer in O(n log n). Blocks enter and leave a map of those alive, ordered by offset, in order of
/// time, leaving before entering at one step. As long as those alive are disjoint, a block that enters
/// overlaps one of them only if it overlaps the next below or the next above. Of any two blocks that overlap
/// in space and time the later enters while the earlier is there, and so none escapes.
std::optional<Fault> fault_by_sweep(const Plan& plan);

/// Looks at pairs up to 2,048 blocks, and sweeps above.
inline std::optional<Fault> fault(const Plan& plan) {
  return plan.requests.size() <= 2048 ? fault_by_pairs(plan) : fault_by_sweep(plan);
}

/// A height below which there is no plan: the most bytes that are alive at one step. Each block fills
/// multiples of the alignment but for the topmost, which may be the one that would waste most.
Index least_height(std::span<const Request> requests);

inline constexpr std::array<std::string_view, 4> patterns{"nested", "short", "clipped", "trace"};
enum class Pattern : Index { nested, short_lived, clipped, trace };

/// `blocks` requests of the pattern, in no order, or those of `setting.file`.
std::vector<Request> make_requests(Index blocks, Index pattern, Setting& setting);

struct Placed {
  std::vector<Index> offsets;
  Index pool = 0;
};
/// A valid plan in O(n log n): in order of start, each request takes the smallest gap that holds it.
Placed place_by_best_fit(std::span<const Request> requests);

/// A plan with storage of its own, and what was done to it.
struct Draft {
  std::string_view what;
  std::vector<Request> requests;
  std::vector<Index> offsets;
  Index pool = 0;
};
/// A valid plan for `requests` and, if `mutated`, changed copies of it: always the same number of them.
std::vector<Draft> drafts(std::span<const Request> requests, bool mutated, Rng& rng);
inline constexpr Index mutations = 28;

}  // namespace memory_pool

/// valid[i] = 1 if in plan i every block lies within the pool, starts at a multiple of 64, and overlaps no
/// other block in both space and time; else 0.
///
/// A plan is a list of requests[first..first + blocks), each with bytes > 0 and a life [start, end) of
/// integer steps, start < end; as many offsets; and the bytes of the pool. Block k occupies [offset, offset +
/// bytes) in bytes and [start, end) in steps, both half-open: blocks that touch do not overlap. Lists come in
/// no order and may be empty. Offsets may be any Index, also negative or so large that offset + bytes
/// overflows; start and end lie between -2^62 and 2^62, the sum of all bytes rounded up to 64 is at most
/// 2^62, and 0 <= pool. Requests that break their own rules are undefined.
///
/// `blocks` is the length of the list. `pattern`: `nested`, the lives of a forward and a backward pass, with
/// gradients of two steps; `short`, random lives of 1 to 64 steps in `blocks` steps; `clipped`, as nested,
/// with weight gradients that stay until the end, where the global norm is known; `trace`, from a file.
/// `plans=mutated` validates one valid plan, 26 that were made of it and two that were published: an offset,
/// a size or a life is changed, blocks are added, and some remain valid by one byte or by one step.
/// `plans=one` has the valid plan alone, and is the one to time: a call is then one validation. Its check
/// says little, since an answer of 1 passes it; nearly all corner cases have `plans=mutated`, whose check has
/// teeth.
///
/// A variant may stop at the first fault, so that with `plans=mutated` less is read than the cost counts.
///
/// Bound: the same answer for every plan. The oracle looks at all pairs up to 2,048 blocks and sweeps over
/// time above, which is itself tested against all pairs. `naive` is all pairs, a tenth of a
/// second at 10^4 blocks; above 20,000 it does not run.
///
/// Source: the definition is that of offline dynamic storage allocation: Garey and Johnson, Computers and
/// Intractability (1979), problem SR2; the form of the requests is that of google/minimalloc.
struct MemoryPoolValidate : FromParts<MemoryPoolValidate> {
  static constexpr std::string_view name = "memory_pool_validate";
  static constexpr std::string_view about =
      "1 for each plan whose blocks lie in the pool, at multiples of 64, and never overlap in space and time";

  struct Problem {
    Index blocks = 1, pattern = 0, plans = 0;
    static constexpr std::array<std::string_view, 2> amounts{"mutated", "one"};
    static constexpr Listed fields{field("blocks", &Problem::blocks),
                                   choice("pattern", &Problem::pattern, memory_pool::patterns),
                                   choice("plans", &Problem::plans, amounts)};
  };
  /// The part of the input's arrays that holds one plan.
  struct Entry {
    Index first, blocks, pool;
  };
  struct Input {
    Buffer<memory_pool::Request> requests;
    Buffer<Index> offsets;
    Buffer<Entry> plans;
    std::vector<std::string_view> what;  ///< the change made to each plan; for messages
    static constexpr Listed parts{redrawn("requests", &Input::requests), steady("offsets", &Input::offsets),
                                  part("plans", &Input::plans)};

    memory_pool::Plan plan(Index i) const {
      const auto [first, blocks, pool] = plans[i];
      const auto count = static_cast<std::size_t>(blocks);
      return {{requests.data() + first, count}, {offsets.data() + first, count}, pool};
    }
    /// Returns the blocks of the longest list, which a workspace has to hold.
    Index most_blocks() const {
      Index most = 0;
      for (const Entry& entry : plans) most = entry.blocks > most ? entry.blocks : most;
      return most;
    }
  };
  struct Output {
    Buffer<Index> valid;
    static constexpr Listed parts{part("valid", &Output::valid)};
  };
  struct Expected {
    std::vector<Index> valid;
  };
  static constexpr std::array fills{Fill::exact};

  static Problem problem_of(const std::filesystem::path&);
  static const Corners corners;
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Output make_output(const Problem&, const Input& in, const Setting& setting) {
    return {setting.buffer<Index>(in.plans.size())};
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  static void salt(const Problem&, const Input&, std::string_view part, Index at, Entry& element, Setting&);
  static void salt(const Problem&, const Input&, std::string_view part, Index at,
                   memory_pool::Request& element, Setting&);
};

/// lower[i], upper[i] = lower[i] + bytes[i] for each request, and height[0] = max upper, such that the plan
/// (requests, lower, height) is valid as memory_pool_validate has it.
///
/// Requests are as there, in no order; outputs are in bytes. A block is written by both of its ends, as
/// whoever binds tensors to a pool needs it, and so that neither can be changed without the other.
///
/// Bound. Any valid plan agrees, since the least height is NP-hard to find. The height cannot be less than
/// the most bytes alive at one step, and must not be more than the sum of all bytes rounded up to 64: to do
/// worse is not to share. How good a plan is, is no matter of agreement: figures() has its height and that
/// lower bound. The oracle is that of memory_pool_validate.
///
/// Source: Garey and Johnson (1979), problem SR2; first fit: Knuth, The Art of Computer Programming, vol. 1,
/// 3rd ed. (1997), section 2.5; greedy by size: Pisarchyk and Lee, Efficient Memory Management for Deep
/// Neural Net Inference, arXiv:2001.03288 (2020), section 5.
struct MemoryPoolPlan : FromParts<MemoryPoolPlan> {
  static constexpr std::string_view name = "memory_pool_plan";
  static constexpr std::string_view about =
      "a place in one pool for each request, so that no two overlap in space and time, and its height";

  struct Problem {
    Index blocks = 1, pattern = 0;
    static constexpr Listed fields{field("blocks", &Problem::blocks),
                                   of_content(choice("pattern", &Problem::pattern, memory_pool::patterns))};
  };
  struct Input {
    Buffer<memory_pool::Request> requests;
    static constexpr Listed parts{redrawn("requests", &Input::requests, &Problem::blocks)};
  };
  struct Output {
    Buffer<Index> lower, upper, height;
    /// Writes both ends of block i, and returns the upper one.
    Index place(Index i, Index at, Index bytes) {
      lower[i] = at;
      return upper[i] = at + bytes;
    }
    static constexpr Listed parts{part("lower", &Output::lower, &Problem::blocks),
                                  part("upper", &Output::upper, &Problem::blocks),
                                  part("height", &Output::height, 1)};
  };
  struct Expected {
    Index least_height = 0;
    Index total = 0;  ///< of all requests, rounded up
  };
  static constexpr std::array fills{Fill::exact};

  static Problem problem_of(const std::filesystem::path&);
  static const Corners corners;
  /// Requests, the plan, and the orders and maps of the oracle.
  static double footprint(const Problem& p) { return 160 * static_cast<double>(p.blocks); }
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// Blocks that share no byte are a plan whatever their lives.
  static Cost cost(const Problem& p) {
    Cost out = FromParts::cost(p);
    out.avoidable_bytes = 2 * static_cast<double>(p.blocks) * sizeof(Index);
    return out;
  }
  static void salt(const Problem&, const Input&, std::string_view part, Index at,
                   memory_pool::Request& element, Setting&);
  /// The height, "height 1,056,768 bytes, lower bound 1,048,576 bytes, gap 0.78 %": no plan is more than the
  /// gap lower than this one, and the best may be this one.
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);
};

extern template class detail::TypedOperation<MemoryPoolValidate>;
extern template class detail::TypedOperation<MemoryPoolPlan>;

}  // namespace assay

namespace assay::allocator_trace {

/// Longest list that is taken: reading stops with an Error at the line after it.
inline constexpr Index most_requests = Index{1} << 20;

/// Calls `take` for each request of `file`, in its order, and returns how many there are.
///
/// The file is text with commas. Its first line names the columns, in any order: one of `lower`, `start` and
/// `begin`; one of `upper` and `end`; `size`, in bytes. `upper` is the first step at which the bytes are no
/// longer needed, `end` the last at which they are: there the life is [begin, end + 1). Other columns are
/// ignored, except `alignment` and `gaps`, which would change what a valid plan is and are refused. Lines end
/// with LF or CRLF; blank lines are skipped.
///
/// Throws Error naming file and line for: a file that cannot be read or holds no request; a column that is
/// missing, or given twice; a line with more or fewer fields than the first, or of more than 4,095
/// characters; a number that is no integer below 2^62; a life that starts before 0, or does not end after its
/// start; a size that is not positive; sizes that sum to more than 2^62; more than most_requests. Memory does
/// not grow with the file.
Index for_each_request(const std::filesystem::path& file,
                       const std::function<void(const memory_pool::Request&)>& take);

inline Index count_requests(const std::filesystem::path& file) {
  return for_each_request(file, [](const memory_pool::Request&) {});
}

}  // namespace assay::allocator_trace
