/// Traces in Chrome's format, as the PyTorch profiler writes them: their events one at a time, without ever
/// holding the trace, the times at which something was busy, where the steps of the training loop lie, and
/// the lives of blocks of memory, from the events of allocators (profile_memory=True).
#pragma once

#include "assay/problem.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// The first `most` bytes, unpacked where they are gzip; fewer when the file is shorter. Throws Error when
/// the file cannot be opened or read, and when it is gzip that ends in the middle or is damaged.
std::string unpacked(const std::filesystem::path& file,
                     std::size_t most = std::numeric_limits<std::size_t>::max());

inline constexpr double microsecond = 1e-6;  ///< the unit of times in a trace, in seconds

/// An argument of an operator, as `record_shapes=True` notes it.
struct TraceArgument {
  std::string type;                         ///< `float`, `Scalar`, …; empty for none
  std::string value;                        ///< of what is no tensor, as `[1, 1]`
  std::vector<std::vector<Index>> extents;  ///< of a tensor, or of each tensor of a list; empty for a scalar
  std::vector<std::vector<Index>> strides;  ///< likewise
};

/// The fields that are read of an event.
struct TraceEvent {
  std::string phase;     ///< `ph`: X is an event with a duration
  std::string category;  ///< `cat`
  std::string name;
  std::optional<double> begin;                          ///< `ts` in microseconds, as it stands in the file
  std::optional<double> duration;                       ///< `dur` in microseconds
  std::string process;                                  ///< `pid`
  std::string thread;                                   ///< `tid`
  bool has_shapes = false;                              ///< of the operator's inputs
  std::vector<std::pair<std::string, double>> numbers;  ///< the numbers directly in `args`
  std::vector<TraceArgument> arguments;                 ///< of an operator, where they are asked for

  /// A number of `args`; nothing where there is none of that name.
  std::optional<double> number(std::string_view argument) const;
};

/// Reads a trace, packed with gzip or not: an object with `traceEvents`, or a list of events alone. Calls
/// `take` for each event, in the order of the file. Throws Error naming the file if it is no JSON, is cut
/// off, or holds no list of events. Returns the names of `deviceProperties`, with the number of each.
std::map<std::string, int> read_trace(const std::filesystem::path& file,
                                      const std::function<void(const TraceEvent&)>& take,
                                      bool with_arguments = false);

/// [begin, end).
struct Span {
  double begin = 0, end = 0;
};

/// Intervals may come in any order and overlap. Overlaps are merged every so often, so that memory grows with
/// the number of separate busy times, not with the number of intervals.
class BusyTime {
 public:
  void add(double begin, double end);
  void add(const std::vector<Span>& spans) {
    for (const Span& one : spans) add(one.begin, one.end);
  }
  /// Disjoint and in order.
  const std::vector<Span>& spans();
  /// Returns how much of each window was busy; windows are disjoint and in order.
  std::vector<double> within(std::span<const Span> windows);

 private:
  void merge();
  std::vector<Span> spans_;
  std::size_t merged_ = 0;  ///< spans that were left by the last merge
};

/// N of `ProfilerStep#N`.
std::optional<Index> step_number(std::string_view name);
/// `enumerate(DataLoader)#...__next__`
bool is_fetch(std::string_view name);

/// A step lasts from its marker to the next one, or to its own end where none follows; without markers from
/// one fetch of the data loader to the next. Times are microseconds since the first event that has a place.
class TraceSteps {
 public:
  explicit TraceSteps(const std::filesystem::path& file) : file_(file) {}

  /// Nothing, and a note, for an event without a time, or with a duration that is negative or of more than 30
  /// years. Throws Error where operators or fetches are of two processes.
  std::optional<Span> place(const TraceEvent& event);
  void add_marker(Index number, Span span);
  void repeat_marker() { ++repeated_; }
  void add_fetch(Span span) { fetches_.push_back(span.begin); }
  void drop(const std::string& what) { ++dropped_[what]; }
  /// In order. Throws Error where there are none of the trace's `events`, or where steps overlap.
  std::vector<Span> spans(std::size_t events);

  /// By number, each until its own end.
  const std::map<Index, Span>& markers() const { return markers_; }
  bool has_fetches() const { return !fetches_.empty(); }
  /// The number of the first marker, or 1: the place of fetches in an epoch is not known.
  Index first() const { return markers_.empty() ? 1 : markers_.begin()->first; }
  /// What was dropped or counted once, and, after spans(), where steps are not what they seem.
  std::vector<std::string> notes() const;

 private:
  const std::filesystem::path& file_;
  std::optional<double> origin_;
  std::map<Index, Span> markers_;
  std::vector<double> fetches_;  ///< when they began
  std::string process_;
  std::map<std::string, Index> dropped_;  ///< events, by what they are
  Index missing_ = 0;                     ///< markers between others
  Index repeated_ = 0;
};

/// A block that lives in the steps [start, end): step n is the n-th event of its allocator in the trace, from
/// 1 on.
struct BlockLife {
  Index bytes = 0;
  Index start = 0;  ///< 0 for one that was there before the trace
  Index end = 0;    ///< the step after the last one for a block that is never freed
};

/// The actions of one allocator, in one trace.
struct MemoryEvents {
  std::string device;  ///< "the processor", "accelerator 0"
  std::vector<BlockLife> lives;
  Index most_live = 0;       ///< bytes of those blocks that live at once at most
  Index most_allocated = 0;  ///< as the allocator counted them, with blocks not in the trace; 0 unknown
  Index most_reserved = 0;   ///< from the system, to serve these; 0 unknown, as for the processor
  Index from_before = 0, never_freed = 0;  ///< blocks
  std::vector<std::string> others;         ///< devices whose events were passed over: they are of fewer bytes
};

/// Reads the events `[memory]` of a trace in Chrome's format, packed with gzip or not, of the device whose
/// blocks need most bytes at once. Throws Error naming the file, and the event where there is one, for: no
/// such events; events without addresses, as PyTorch wrote them before 1.10; an address that is given twice
/// without a free between; a free of another size than was given; sizes that are no whole number of bytes, or
/// sum to 2^62 and more.
MemoryEvents read_memory_events(const std::filesystem::path& file);

/// The lives as the lines of google/minimalloc's traces, `id,lower,upper,size`.
std::string requests_csv(const MemoryEvents& events);

}  // namespace assay
