#include "bench/measure/turns.hpp"

#include "assay/check.hpp"
#include "assay/error.hpp"
#include "assay/random.hpp"
#include "assay/suite.hpp"
#include "bench/measure/placing.hpp"
#include "bench/measure/planted.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/measure/sampler.hpp"
#include "core/code/calls.hpp"
#include "core/machine/clock.hpp"

#include <fmt/format.h>

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace assay {
namespace {

/// Far from where Linux puts programs, heaps, libraries and stacks, and from what sanitizers reserve.
constexpr std::uintptr_t address = 0x2000'0000'0000;

/// Bytes that the process has mapped there, of which this one may be a copy.
std::size_t inherited = 0;

[[noreturn]] void fail(const char* what) {
  throw Error("shared memory", std::string(what) + ": " + std::strerror(errno),
              "free memory, or lift the limit on address space (ulimit -v)");
}

/// One bit per side: exactly the one whose turn comes is woken. Another one that woke only to sleep again
/// would do so within a slice, since all share a core.
std::uint32_t bit(int side) { return 1U << side; }

/// The deadline of a wait is absolute, by the monotonic clock.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, std::uint32_t bits,
           const timespec* deadline = nullptr) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, deadline, nullptr,
                 bits);
}

/// The Board has the first page for itself: no buffer shares a line with it.
constexpr std::size_t board_bytes = 4096;

/// Records of sides follow the Board in that page.
constexpr std::size_t records_begin = 1024;

/// A call this long needs no call before it to warm what the other side evicted.
constexpr double warm_call_seconds = 1e-3;

/// Bounds on the slices of each side, two per round. Quartiles of fewer than six say little, but six calls of
/// a long one would take all the time there is.
Index rounds_for(double call_seconds, const TurnPolicy& policy, double patience) {
  const Index fewest = call_seconds < 0.01 ? 3 : call_seconds < 0.05 ? 2 : 1;
  const double slice = std::max(call_seconds, policy.slice_seconds);
  const Index usual = std::clamp(static_cast<Index>(policy.side_seconds / (2 * slice)), fewest, Index{32});
  return std::max(usual, static_cast<Index>(std::llround(patience * static_cast<double>(usual))));
}

/// Waits until the thread pool of the side before stops spinning on cores that this side is about to use.
void let_others_fall_asleep() {
  constexpr std::chrono::microseconds pools_look{150};
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < pools_look) {
  }
}

class Side {
 public:
  Side(const Registry& registry, const TurnsRequest& request, SharedRegion& region)
      : registry_(registry),
        request_(request),
        region_(region),
        board_(*reinterpret_cast<Board*>(region.data())),
        arena_(region.data() + board_bytes, region.bytes() - board_bytes, std::pmr::null_memory_resource()),
        baton_(board_, request.side),
        order_(request.order),
        record_(request.record >= 0 ? std::make_unique<SharedRecord>(request.record) : nullptr),
        reporter_(record_ ? record_->get() : record_of_side(region, static_cast<std::size_t>(request.side))),
        placing_(request.core),
        everybody_(static_cast<std::size_t>(request.sides)) {
    std::iota(everybody_.begin(), everybody_.end(), 0);
  }

  std::vector<TurnSample> walk(const Hooks& hooks, const std::function<void(const TurnSample&)>& taken) {
    const auto& trials = request_.trials;
    std::vector<TurnSample> out;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      hooks.say("measure " + trials[i].trial.key);
      if (i == 0 || !trials[i].trial.same_case(trials[i - 1].trial)) open(trials[i].trial);
      out.push_back(sample(trials[i], i, taken));
    }
    return out;
  }

 private:
  /// Each step of `sides` in order; whoever comes next after the last is `after`.
  template <class Work>
  void in_turn(std::span<const int> sides, int after, const Work& work) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      baton_.step(sides[i], i + 1 < sides.size() ? sides[i + 1] : after, work);
    }
  }

  void open(const TrialRequest& trial) {
    workload_.reset();
    arena_.release();  // pages keep their content
    operation_ = &registry_.at(trial.operation);
    file_ = trial.file;
    fields_ = fields_of(*operation_, trial.problem, file_);
    const Cost cost = operation_->cost(fields_);
    in_turn(everybody_, 0, [&] {
      region_.map_pages(board_bytes + static_cast<std::size_t>(cost.bytes_read + cost.bytes_written));
      workload_ = operation_->open(fields_, setting(&arena_));
      static_cast<void>(workload_->timed(0, {}));  // makes the output that all variants share
    });
  }

  Setting setting(std::pmr::memory_resource* memory) const {
    return {.fill = operation_->fills().back(),
            .rng = Rng(request_.policy.seed),
            .placement = {.memory = memory, .shared = true},
            .file = file_};
  }

  TurnSample sample(const TurnTrial& wanted, std::size_t position,
                    const std::function<void(const TurnSample&)>& taken) {
    const TrialRequest& trial = wanted.trial;
    TurnSample out{.key = trial.key};
    const auto named = operation_->variant_named(trial.variant);
    if (!named) throw Error(trial.key, "is unknown to this program", "ask it for trials that it describes");
    const std::size_t variant = *named;
    const Context context{.threads = trial.threads};

    std::unique_ptr<Timed> timed;
    std::unique_ptr<AuditedSlices> slices;
    double first_call = 0, limit = 0;
    in_turn(everybody_, 0, [&] {
      const auto start = std::chrono::steady_clock::now();
      limit = call_limit();
      if (request_.check) {
        placing_.lift();  // placed, nobody could be seen to change where threads run
        reporter_.call(position, limit, [&] { judge(variant, context, limit / 4, out); });
      }
      if (out.agrees) {
        reporter_.call(position, limit, [&] {
          placing_.place(trial.threads, [&] {
            const Surroundings before = Surroundings::now();
            timed = planted(workload_->timed(variant, context),
                            wanted.slowdown + slowdown_of_build(trial.operation, trial.variant));
            // Judging takes as long as slices, and the first launch has looked closely.
            const auto judging = request_.check ? AuditedSlices::Judging::some : AuditedSlices::Judging::few;
            slices = std::make_unique<AuditedSlices>(*timed, trial.threads, before, judging);
            first_call = request_.policy.audited ? slices->take(1, false).seconds : seconds_for(*timed, 1);
          });
          if (!slices->audit().fault.empty()) return;
          out.allocations = allocations_of_one_call(*timed);
        });
      }
      if (request_.side == 0) board_.first_seconds = seconds_since(start);
    });
    // A kernel that was found at fault is not called again: it would spoil the restored input.
    const auto is_sound = [&] { return timed && slices->audit().fault.empty(); };
    calibrate(is_sound() ? timed.get() : nullptr, first_call, for_threads(trial.threads, request_.policy),
              wanted.patience, [&](const auto& kernel) { reporter_.call(position, limit, kernel); });
    const auto turns = drawn_turns(rounds_);
    in_turn(turns, 0, [&] {
      ++slice_;
      if (trial.threads > 1) let_others_fall_asleep();
      if (is_sound()) reporter_.call(position, limit, [&] { take_slice(*timed, *slices, out); });
    });
    if (out.agrees && slices) {
      std::string fault = slices->audit().fault;
      if (fault.empty()) fault = other_figures(out.figures, slices->audit().figures);
      out.agrees = fault.empty();
      if (!out.agrees) out.disagreement = "in a slice that was timed: " + fault;
    }
    if (slices && operation_->variants()[variant].precision.empty() &&
        operation_->fills().back() == Fill::uniform) {
      out.rms_error = slices->audit().rms_error();
      out.rounded = slices->audit().rounded;
    }
    if (taken) taken(out);
    return out;
  }

  /// The first side goes first, and the others are held against what it took.
  double call_limit() const {
    const bool known = request_.side != 0 && board_.first_seconds > 0;
    return step_limit(request_.policy.time_limit,
                      known ? std::optional<double>(board_.first_seconds) : std::nullopt,
                      operation_->cost(fields_));
  }

  /// Equal numbers of calls on all sides, as the first one finds them. Nobody reads them before all have come
  /// here, and nobody changes them before all have come to the next trial.
  template <class Call>
  void calibrate(Timed* timed, double first_call, const TurnPolicy& policy, double patience,
                 const Call& calling) {
    constexpr std::array first{0};
    constexpr double unknown = 1e-3;
    in_turn(first, 0, [&] {
      double call = std::max(first_call, unknown);
      double renewal = 0;
      if (timed != nullptr) {
        calling([&] {
          call = calibrated(*timed, first_call, policy.slice_seconds);
          if (policy.audited) renewal = renewal_seconds(*timed);
        });
      }
      board_.call_seconds = call;
      board_.calls = calls_per_slice(call + renewal, policy.slice_seconds);
      board_.rounds = rounds_for(call + renewal, policy, patience);
    });
    // Where the first side does nothing, its calls are too many for one that does its work.
    constexpr double far_slower = 4;
    in_turn(everybody_, first_of_turns(), [&] {
      // Later on a kernel of another side may have written to the board.
      rounds_ = board_.rounds;
      call_seconds_ = board_.call_seconds;
      if (timed != nullptr && first_call >= far_slower * call_seconds_) {
        calling([&] {
          const double call = calibrated(*timed, first_call, policy.slice_seconds);
          if (call < far_slower * call_seconds_) return;  // its first call alone was slow
          board_.calls = std::min(board_.calls, calls_per_slice(call, policy.slice_seconds));
        });
      }
      calls_ = std::max<std::int64_t>(board_.calls, 1);
    });
  }

  void judge(std::size_t variant, const Context& context, double longest_rehearsal, TurnSample& out) const {
    Agreement found = agreement_of_declaration(operation_->variants()[variant]);
    if (found.agrees) {
      Setting fenced = setting(nullptr);
      fenced.placement.fenced = true;
      found = operation_->open(fields_, fenced)
                  ->check(variant, context, std::min(rehearsal_seconds(), longest_rehearsal));
    }
    out.agrees = found.agrees;
    out.disagreement = std::move(found.detail);
    out.figures = std::move(found.figures);
  }

  /// Sides that are to do alike rehearse alike: none, where one of them is from before there was any.
  double rehearsal_seconds() const {
    if (!request_.policy.audited) return Workload::no_rehearsal;
    // Few of the slices that are timed next are judged, where a trial is decided soon.
    return std::min(5 * Workload::short_rehearsal,
                    rehearsal_before_timing(*operation_, fields_, request_.trials.size()));
  }

  /// Returns the side that drawn_turns() is about to draw first.
  int first_of_turns() const {
    Rng copy = order_;
    return static_cast<int>(copy.integer(0, request_.sides - 1));
  }

  /// Draws rounds there and back, `B H C C H B`: drift that is linear in time falls on all sides alike. The
  /// side that begins is drawn.
  std::vector<int> drawn_turns(Index rounds) {
    std::vector<int> out;
    for (Index r = 0; r < rounds; ++r) {
      std::vector<int> there = everybody_;
      for (std::size_t i = 0; i < there.size(); ++i) {
        const auto last = static_cast<Index>(there.size()) - 1;
        std::swap(there[i], there[static_cast<std::size_t>(order_.integer(static_cast<Index>(i), last))]);
      }
      out.insert(out.end(), there.begin(), there.end());
      out.insert(out.end(), there.rbegin(), there.rend());
    }
    return out;
  }

  void take_slice(Timed& timed, AuditedSlices& slices, TurnSample& out) const {
    const bool warm = call_seconds_ < warm_call_seconds;
    // A side that came to its calibration after this one may have lowered them.
    const std::int64_t calls = out.calls = std::clamp<std::int64_t>(board_.calls, 1, calls_);
    if (request_.policy.audited) {
      const SliceSeed seed(board_, slice_);
      out.seconds.push_back(slice_of(slices.take(calls, warm, seed.value())).seconds);
      return;
    }
    if (warm) timed.repeat(1);
    out.seconds.push_back(seconds_for(timed, calls) / static_cast<double>(calls));
  }

  const Registry& registry_;
  const TurnsRequest& request_;
  SharedRegion& region_;
  Board& board_;
  /// Hands out the region from its start on: who asks alike, in the same order, gets the same addresses.
  std::pmr::monotonic_buffer_resource arena_;
  Baton baton_;
  Rng order_;
  std::unique_ptr<SharedRecord> record_;
  StepReporter reporter_;
  Placing placing_;
  std::vector<int> everybody_;
  std::int64_t slice_ = 0;               ///< that this side is at, counted as in Board
  std::int64_t calls_ = 1, rounds_ = 1;  ///< as the board had them before any slice
  double call_seconds_ = 0;              ///< the same
  const Operation* operation_ = nullptr;
  std::filesystem::path file_;  ///< that holds the problem of the workload, as Case
  std::string fields_;          ///< of that problem
  std::unique_ptr<Workload> workload_;
};

}  // namespace

SharedRegion::SharedRegion(Descriptor file, std::size_t bytes) : descriptor_(std::move(file)), bytes_(bytes) {
  void* found = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor(), 0);
  if (found == MAP_FAILED) fail("cannot be mapped at its address");
  inherited = bytes;
  data_ = static_cast<std::byte*>(found);
}

SharedRegion::~SharedRegion() {
  munmap(data_, bytes_);
  inherited = 0;
}

SharedRegion SharedRegion::made(std::size_t bytes) {
  Descriptor memory(memfd_create("assay", 0));
  if (memory.value() < 0) fail("cannot be made");
  if (ftruncate(memory.value(), static_cast<off_t>(bytes)) != 0) fail("cannot be given its size");
  return {std::move(memory), bytes};
}

SharedRegion SharedRegion::mapped(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail("is not what was handed over");
  if (inherited > 0) munmap(reinterpret_cast<void*>(address), inherited);
  return {Descriptor(descriptor), static_cast<std::size_t>(status.st_size)};
}

void SharedRegion::map_pages(std::size_t bytes) {
  const std::size_t wanted = std::min(bytes, bytes_);
  if (wanted <= mapped_bytes_) return;
  mapped_bytes_ = wanted;
#ifdef MADV_POPULATE_WRITE
  madvise(data_, wanted, MADV_POPULATE_WRITE);
#endif
}

SliceSeed::SliceSeed(Board& board, std::int64_t slice)
    : board_(board), value_(board.slice == slice ? board.seed : secret()) {
  board.slice = slice;
  board.seed = 0;
}

void Baton::wait() {
  timespec deadline{};
  for (std::uint32_t now = board_.step.load(std::memory_order_acquire); now != step_;
       now = board_.step.load(std::memory_order_acquire)) {
    if (deadline.tv_sec == 0) {
      clock_gettime(CLOCK_MONOTONIC, &deadline);
      deadline.tv_sec += longest_.count();
    }
    if (futex(board_.step, FUTEX_WAIT_BITSET, now, bit(side_), &deadline) == 0 || errno != ETIMEDOUT)
      continue;
    throw Error("turns", fmt::format("another side did not end its turn within {} s", longest_.count()),
                "a kernel of one of the builds hangs: find it with `check`");
  }
}

void Baton::pass_to(int next) {
  board_.step.store(step_ + 1, std::memory_order_release);
  if (next != side_) futex(board_.step, FUTEX_WAKE_BITSET, 1, bit(next));
}

TurnPolicy for_threads(int threads, TurnPolicy policy) {
  if (threads > 1) {
    policy.slice_seconds *= 5;
    policy.side_seconds *= 2;
  }
  return policy;
}

StepRecord* record_of_side(const SharedRegion& region, std::size_t side) {
  constexpr std::size_t most = (board_bytes - records_begin) / sizeof(StepRecord);
  static_assert(sizeof(Board) <= records_begin);
  if (side >= most) return nullptr;
  return reinterpret_cast<StepRecord*>(region.data() + records_begin) + side;
}

std::vector<TurnSample> take_turns(const Registry& registry, const TurnsRequest& request, const Hooks& hooks,
                                   const std::function<void(const TurnSample&)>& taken) {
  SharedRegion region = SharedRegion::mapped(request.descriptor);
  return Side(registry, request, region).walk(hooks, taken);
}

// The files of requests and answers; the other side may be an older program.
void describe(Fields& f, TurnTrial& wanted) {
  describe(f, wanted.trial);
  f("slowdown", wanted.slowdown);
  f("patience", wanted.patience, {.optional = true});
}

void describe(Fields& f, TurnsRequest& request) {
  constexpr Index most_descriptors = 1 << 20;
  f("side", request.side, {.low = 0, .high = most_sides - 1});
  f("sides", request.sides, {.low = 1, .high = most_sides});
  f("descriptor", request.descriptor, {.low = 0, .high = most_descriptors});
  f("answers", request.answers, {.optional = true, .low = -1, .high = most_descriptors});
  f("record", request.record, {.optional = true, .low = -1, .high = most_descriptors});
  f("core", request.core, {.low = 0, .high = most_threads});
  ASSAY_FIELDS(f, request, order, check);
  ASSAY_FIELDS(f, request.policy, slice_seconds, side_seconds, seed);
  f("time_limit", request.policy.time_limit, {.optional = true});
  if (f.reads()) request.policy.audited = false;
  f("audited", request.policy.audited, {.optional = true});
  f("trials", request.trials);
}

void describe(Fields& f, TurnSample& sample) {
  ASSAY_FIELDS(f, sample, key, seconds);
  f("calls", sample.calls, {.low = 1});
  f("allocations_per_call", sample.allocations.count);
  f("allocated_bytes_per_call", sample.allocations.bytes);
  ASSAY_FIELDS(f, sample, agrees, disagreement);
  f("rms_error", sample.rms_error, {.optional = true, .least = 0, .most = most_amount});
  f("rounded", sample.rounded, {.optional = true, .low = 0});
  f("figures", sample.figures, {.terse = true});
}

void serve_turns(const Registry& registry, const std::filesystem::path& request,
                 const std::filesystem::path& answer, const Hooks& hooks) {
  const auto wanted = value_from<TurnsRequest>(read_file(request), request.string(),
                                               "`turns` is for the program itself; use `assay gate --base`");
  leave_crashes_to_parent();
  look_like_all_others();
  if (wanted.answers < 0) {
    write_file(answer, to_value(take_turns(registry, wanted, hooks)).dump());
    return;
  }
  const Answers to_parent(wanted.answers);
  guard_descriptor(wanted.answers);
  take_turns(registry, wanted, hooks,
             [&](const TurnSample& sample) { to_parent.send(to_value(sample).dump()); });
  leave_sealed(to_parent);
}

}  // namespace assay
