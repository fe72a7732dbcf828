/// Memory that several processes map at one address, the same pages, caches and offsets for every build; and
/// turn-taking between these processes without spinning: whoever is not at its turn sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

namespace assay {

/// Pages that exist once they are written to. Whoever is given descriptor() maps the same ones.
class SharedRegion {
 public:
  /// Makes one of at most `bytes`. Throws Error.
  static SharedRegion made(std::size_t bytes);
  /// Maps one that another process made, at the same address. Throws Error when the address is taken.
  static SharedRegion mapped(int descriptor);

  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) = delete;
  ~SharedRegion();

  /// Inherited by child processes.
  int descriptor() const { return descriptor_; }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  SharedRegion(int descriptor, std::size_t bytes);
  int descriptor_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// Hands out a region from its start to its end. Processes that ask for the same sizes in the same order get
/// the same addresses.
class Arena : public std::pmr::memory_resource {
 public:
  Arena(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}
  /// Everything that was handed out is free again. Pages keep their content.
  void reset() { used_ = 0; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::byte* begin_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

/// Each side has a bit by which it is woken.
inline constexpr int most_sides = 32;

/// The state that the sides share. Lives in shared memory, all zero at the start.
struct Board {
  std::atomic<std::uint32_t> step;  ///< the step that may run
  std::int64_t calls;               ///< per slice, as the first side calibrated it
  std::int64_t rounds;              ///< each side has two slices per round
  double call_seconds;
  double first_seconds;  ///< that the first side took for the first calls; 0: it does not say
  std::int64_t slice;    ///< that was drawn for last, counted from 1 through all trials
  std::uint64_t seed;    ///< of that slice on all sides
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// The seed of slice number `slice`, from 1: drawn by the side that comes to it first, and the same for all
/// others. The board does not hold it while a side is at its slice: its kernel would know what changes, and
/// which call is the last. Sides of builds from before there was this change nothing for the others.
class SliceSeed {
 public:
  SliceSeed(Board& board, std::int64_t slice);
  ~SliceSeed() { board_.seed = value_; }
  SliceSeed(const SliceSeed&) = delete;
  SliceSeed& operator=(const SliceSeed&) = delete;
  std::uint64_t value() const { return value_; }

 private:
  Board& board_;
  std::uint64_t value_;
};

/// One side's view of the turns. Every side walks through the same sequence of steps, and does those that are
/// its own.
class Baton {
 public:
  /// `longest`: that another side may take for its step; a kernel that never returns would hold up all
  /// others.
  Baton(Board& board, int side, std::chrono::seconds longest = std::chrono::minutes(20))
      : board_(board), side_(side), longest_(longest) {}

  /// The next step belongs to `whose`: when that is this side, waits for the turn, calls `work`, and passes
  /// the turn on to `next`, the side that the step after belongs to. Throws Error when the turn does not
  /// come.
  template <class Work>
  void step(int whose, int next, const Work& work) {
    if (whose == side_) {
      wait();
      work();
      pass_to(next);
    }
    ++step_;
  }

 private:
  void wait();
  void pass_to(int next);

  Board& board_;
  int side_;
  std::chrono::seconds longest_;
  std::uint32_t step_ = 0;
};

}  // namespace assay
