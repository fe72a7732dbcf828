#include "training/job/trace.hpp"

#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <istream>
#include <iterator>
#include <memory>
#include <streambuf>
#include <system_error>

namespace assay {
namespace {

/// A file read front to back in pieces, unpacked on the way when it is gzip. Holds one piece at a time,
/// however long it is. `mender` makes JSON of what it holds.
class GzipStream : public std::streambuf {
 public:
  explicit GzipStream(const std::filesystem::path& file, JsonMender* mender = nullptr)
      : file_(nullptr, gzclose_r), name_(file.string()), mender_(mender) {
    std::error_code ignored;
    const auto status = std::filesystem::status(file, ignored);
    if (!std::filesystem::exists(status)) throw Error(name_, "there is no such file", "check the name");
    if (std::filesystem::is_directory(status)) throw Error(name_, "is a folder", "name a file in it");
    errno = 0;
    file_.reset(gzopen(name_.c_str(), "rb"));
    if (file_ == nullptr) {
      throw Error(name_, "cannot open: " + std::generic_category().message(errno), "check its permissions");
    }
  }

 protected:
  int_type underflow() override {
    const int count = gzread(file_.get(), piece_.data(), static_cast<unsigned>(piece_.size()));
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) {
      throw Error(name_, "ends in the middle of its compressed data", "the file is cut off: copy it again");
    }
    if (count < 0 || code != Z_OK) {
      throw Error(name_, fmt::format("cannot be unpacked: {}", message),
                  "the file is damaged: copy it again");
    }
    if (count == 0) return traits_type::eof();
    if (mender_ == nullptr) {
      setg(piece_.data(), piece_.data(), piece_.data() + count);
    } else {
      mended_ = mender_->mended({piece_.data(), static_cast<std::size_t>(count)});
      if (mended_.empty()) return underflow();
      setg(mended_.data(), mended_.data(), mended_.data() + mended_.size());
    }
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::string name_;
  JsonMender* mender_;
  std::array<char, 1 << 16> piece_;
  std::string mended_;
};

/// Follows the nesting of the document, and fills one event at a time.
class Handler : public JsonEvents {
 public:
  Handler(const std::function<void(const TraceEvent&)>& take, bool with_arguments)
      : take_(take), with_arguments_(with_arguments) {}

  void number(double value) override {
    if (in_arguments_ && depth_ == event_depth_ + 1) event_.numbers.emplace_back(argument_, value);
    if (auto* lists = lists_of_argument()) {
      if (lists->empty()) lists->emplace_back();
      lists->back().push_back(std::abs(value) < largest_whole ? static_cast<Index>(value) : 0);
    }
    if (!in_event()) return;
    if (key_ == "ts") event_.begin = value;
    if (key_ == "dur") event_.duration = value;
    if (key_ == "pid") event_.process = fmt::format("{}", value);
    if (key_ == "tid") event_.thread = fmt::format("{}", value);
  }
  void text(std::string& value) override {
    if (in_event()) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
      if (key_ == "pid") event_.process = value;
      if (key_ == "tid") event_.thread = value;
      // Some profilers write times as texts.
      if (key_ == "ts") event_.begin = number_from<double>(value);
      if (key_ == "dur") event_.duration = number_from<double>(value);
    } else if (in_device_ && depth_ == 3 && key_ == "name") {
      ++devices_[value];
    } else if (depth_in_arguments() == 1 && (argument_ == "Input type" || argument_ == "Concrete Inputs")) {
      next_argument();
      (argument_ == "Input type" ? event_.arguments[at_].type : event_.arguments[at_].value) = value;
    }
  }
  void start_object() override {
    if (in_event() && key_ == "args") in_arguments_ = true;
    ++depth_;
    if (depth_ == event_depth_) event_ = {};
  }
  void end_object() override {
    if (depth_ == event_depth_) take_(event_);
    --depth_;
    if (in_event()) in_arguments_ = false;
  }
  void start_array() override {
    ++depth_;
    const bool list = depth_ == 1 || (depth_ == 2 && key_ == "traceEvents");
    if (list) {
      event_depth_ = depth_ + 1;
      found_ = true;
    }
    in_device_ = in_device_ || (depth_ == 2 && key_ == "deviceProperties");
    if (depth_in_arguments() == 1) at_ = before_first;
    if (depth_in_arguments() == 2) next_argument();
    if (depth_in_arguments() == 3)
      if (auto* lists = lists_of_argument()) lists->emplace_back();  // of one tensor among several
  }
  void end_array() override {
    if (depth_ + 1 == event_depth_) event_depth_ = none;
    if (depth_ == 2) in_device_ = false;
    --depth_;
  }
  void key(std::string& name) override {
    if (in_arguments_) {
      if (depth_ == event_depth_ + 1) argument_ = name;
      if (name == "Input Dims") event_.has_shapes = true;
    } else if (depth_ <= 3) {
      key_ = name;
    }
  }

  const std::map<std::string, int>& devices() const { return devices_; }
  bool found() const { return found_; }

 private:
  static constexpr int none = -1;
  static constexpr double largest_whole = 0x1p53;  ///< below which a double holds every integer
  static constexpr std::size_t before_first = static_cast<std::size_t>(-1);

  bool in_event() const { return depth_ == event_depth_; }
  /// 1 within the list of one of an operator's properties, 2 within the extents of an argument, 3 within
  /// those of one tensor of a list; 0 where they are not asked for.
  int depth_in_arguments() const {
    const bool asked = with_arguments_ && in_arguments_ &&
                       (argument_.starts_with("Input ") || argument_ == "Concrete Inputs");
    return asked ? std::max(0, depth_ - event_depth_ - 1) : 0;
  }
  void next_argument() {
    ++at_;
    if (event_.arguments.size() <= at_) event_.arguments.resize(at_ + 1);
  }
  /// The extents or strides that are being read; null elsewhere.
  std::vector<std::vector<Index>>* lists_of_argument() {
    if (depth_in_arguments() < 2) return nullptr;
    if (argument_ == "Input Dims") return &event_.arguments[at_].extents;
    return argument_ == "Input Strides" ? &event_.arguments[at_].strides : nullptr;
  }

  const std::function<void(const TraceEvent&)>& take_;
  const bool with_arguments_;
  std::map<std::string, int> devices_;
  TraceEvent event_;
  std::string key_, argument_;
  int depth_ = 0, event_depth_ = none;
  std::size_t at_ = before_first;  ///< the argument whose property is read
  bool found_ = false, in_device_ = false, in_arguments_ = false;
};

constexpr double too_many_bytes = 0x1p62;

struct MemoryChange {
  double time = 0, bytes = 0, address = 0;
  std::optional<double> allocated, reserved;
  Index number = 0;  ///< of its kind in the file, for messages
};

class Allocator {
 public:
  void take(const MemoryChange& change, const std::string& where) {
    const double bytes = change.bytes, address = change.address;
    const Index step = ++steps_;
    note_most(out_.most_allocated, change.allocated, where);
    note_most(out_.most_reserved, change.reserved, where);
    if (bytes > 0) {
      const auto [given, is_new] = live_.try_emplace(address, out_.lives.size());
      if (!is_new) {
        throw Error(where, fmt::format("gives address {:.0f} a second time, without a free between", address),
                    "record the trace again: events of it are lost");
      }
      count(bytes, where);
      out_.lives.push_back({.bytes = static_cast<Index>(bytes), .start = step});
    } else if (const auto found = live_.find(address); found != live_.end()) {
      BlockLife& block = out_.lives[found->second];
      if (static_cast<double>(block.bytes) != -bytes) {
        throw Error(where,
                    fmt::format("frees {:.0f} bytes at address {:.0f}, where {} were given", -bytes, address,
                                block.bytes),
                    "record the trace again: events of it are lost");
      }
      block.end = step;
      live_.erase(found);
    } else if (bytes < 0) {
      count(-bytes, where);
      out_.lives.push_back({.bytes = static_cast<Index>(-bytes), .start = 0, .end = step});
      ++out_.from_before;
    }
  }

  MemoryEvents finished(std::string device) {
    out_.device = std::move(device);
    out_.never_freed = static_cast<Index>(live_.size());
    for (const auto& [address, block] : live_) out_.lives[block].end = steps_ + 1;
    std::map<Index, Index> changes;  // by step
    for (const BlockLife& block : out_.lives) {
      changes[block.start] += block.bytes;
      changes[block.end] -= block.bytes;
    }
    Index live = 0;
    for (const auto& [step, bytes] : changes) {
      live += bytes;
      out_.most_live = std::max(out_.most_live, live);
    }
    return std::move(out_);
  }

 private:
  void count(double bytes, const std::string& where) {
    total_ += bytes;
    if (total_ >= too_many_bytes)
      throw Error(where, "sizes up to here sum to 2^62 bytes and more", "check the trace");
  }

  static void note_most(Index& most, std::optional<double> value, const std::string& where) {
    if (!value) return;
    if (!(*value < too_many_bytes))
      throw Error(where, fmt::format("counts {:g} bytes", *value), "check the trace");
    most = std::max(most, static_cast<Index>(*value));
  }

  MemoryEvents out_;
  std::map<double, std::size_t> live_;  ///< blocks by address
  Index steps_ = 0;
  double total_ = 0;
};

}  // namespace

std::string unpacked(const std::filesystem::path& file, std::size_t most) {
  GzipStream in(file);
  std::string out;
  for (std::istreambuf_iterator<char> next(&in), end; next != end && out.size() < most; ++next) out += *next;
  return out;
}

std::optional<double> TraceEvent::number(std::string_view argument) const {
  const auto found = std::ranges::find(numbers, argument, &std::pair<std::string, double>::first);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::string, int> read_trace(const std::filesystem::path& file,
                                      const std::function<void(const TraceEvent&)>& take,
                                      bool with_arguments) {
  JsonMender mender;
  GzipStream pieces(file, &mender);
  std::istream in(&pieces);
  Handler handler(take, with_arguments);
  scan_json(in, handler, file.string());
  if (!handler.found()) {
    throw Error(file.string(), "has no list traceEvents", "export the trace with export_chrome_trace()");
  }
  return handler.devices();
}

void BusyTime::add(double begin, double end) {
  if (end <= begin) return;
  // Half a megabyte before the first merge; then whenever as many were added as remained, so that merging
  // costs a constant number of sorts per interval.
  constexpr std::size_t slack = 32768;
  spans_.push_back({begin, end});
  if (spans_.size() > 2 * merged_ + slack) merge();
}

void BusyTime::merge() {
  std::ranges::sort(spans_, {}, &Span::begin);
  std::size_t kept = 0;
  for (const Span& span : spans_) {
    if (kept > 0 && span.begin <= spans_[kept - 1].end) {
      spans_[kept - 1].end = std::max(spans_[kept - 1].end, span.end);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
  merged_ = kept;
}

const std::vector<Span>& BusyTime::spans() {
  merge();
  return spans_;
}

std::vector<double> BusyTime::within(std::span<const Span> windows) {
  merge();
  std::vector<double> out;
  auto next = spans_.begin();
  for (const Span& window : windows) {
    while (next != spans_.end() && next->end <= window.begin) ++next;
    double busy = 0;
    for (auto one = next; one != spans_.end() && one->begin < window.end; ++one) {
      busy += std::min(one->end, window.end) - std::max(one->begin, window.begin);
    }
    out.push_back(busy);
  }
  return out;
}

std::optional<Index> step_number(std::string_view name) {
  constexpr std::string_view marker = "ProfilerStep#";
  return name.starts_with(marker) ? number_from<Index>(name.substr(marker.size())) : std::nullopt;
}

bool is_fetch(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)#") && name.ends_with("__next__");
}

std::optional<Span> TraceSteps::place(const TraceEvent& event) {
  constexpr double most = most_seconds * 1e6, most_begin = 1e18;  // 1970 is 1.8e15 µs ago
  const double length = event.duration.value_or(-1);
  const bool has_place = event.begin && std::abs(*event.begin) <= most_begin && length >= 0 && length <= most;
  if (event.phase != "X" || !has_place) {
    drop(event.phase == "M" ? "that name processes and threads"
         : event.phase != "X"
             ? "without a duration, such as arrows"
             : "without a time, or with a duration that is negative or of more than 30 years");
    return std::nullopt;
  }
  // Rows of an accelerator belong to processes of other numbers.
  if (event.category == "cpu_op" || event.category == "Operator" || is_fetch(event.name)) {
    if (process_.empty()) process_ = event.process;
    if (process_ != event.process)
      throw Error(file_.string(), fmt::format("two processes take part, {} and {}", process_, event.process),
                  "pass one file per rank");
  }
  // Times since 1970 in microseconds leave a double few digits for their sums.
  if (!origin_) origin_ = event.begin;
  const double begin = *event.begin - *origin_;
  return Span{begin, begin + length};
}

void TraceSteps::add_marker(Index number, Span span) {
  // The processor's marker begins first: the accelerator repeats it when it reaches the step.
  const auto [at, is_new] = markers_.try_emplace(number, span);
  if (!is_new) ++repeated_;
  if (span.begin < at->second.begin) at->second = span;
}

std::vector<Span> TraceSteps::spans(std::size_t events) {
  std::vector<Span> out;
  Index previous = 0;
  for (const auto& [number, span] : markers_) {
    if (!out.empty()) {
      // Markers are rounded to microseconds.
      if (span.begin + 1 < out.back().end) {
        throw Error(file_.string(),
                    fmt::format("ProfilerStep#{} begins before ProfilerStep#{} ends", number, previous),
                    "the trace holds several processes: export one of each");
      }
      if (number == previous + 1) {
        out.back().end = span.begin;
      } else {
        missing_ += number - previous - 1;
      }
    }
    out.push_back(span);
    previous = number;
  }
  if (!markers_.empty()) return out;
  if (fetches_.size() < 2) {
    throw Error(file_.string(),
                fmt::format("there is no step in its {}: neither ProfilerStep#N nor two fetches "
                            "enumerate(DataLoader)#...__next__",
                            quantity_text(static_cast<std::int64_t>(events), "event")),
                "call profiler.step() after each step, and record more than one");
  }
  std::ranges::sort(fetches_);
  for (std::size_t i = 1; i < fetches_.size(); ++i) out.push_back({fetches_[i - 1], fetches_[i]});
  return out;
}

std::vector<std::string> TraceSteps::notes() const {
  std::vector<std::string> out;
  for (const auto& [what, count] : dropped_)
    out.push_back(fmt::format("dropped {} {}", quantity_text(count, "event"), what));
  if (repeated_ > 0)
    out.push_back(fmt::format("{} step markers repeat others and were counted once", repeated_));
  if (missing_ > 0) {
    out.push_back(
        fmt::format("{} steps between the others have no marker; the step before such a gap ends "
                    "with its own marker",
                    missing_));
  }
  if (markers_.empty()) {
    out.push_back(
        "there is no ProfilerStep#N: a step lasts from one fetch of the loader to the next, and the "
        "last fetch was dropped");
  }
  return out;
}

MemoryEvents read_memory_events(const std::filesystem::path& file) {
  std::map<std::pair<double, double>, std::vector<MemoryChange>> devices;
  Index events = 0;
  const auto place = [&](Index number) {
    return fmt::format("{}: event {} of [memory]", file.string(), number);
  };
  read_trace(file, [&](const TraceEvent& event) {
    if (event.name != "[memory]") return;
    const std::string where = place(++events);
    const auto bytes = event.number("Bytes"), address = event.number("Addr");
    if (!bytes) throw Error(where, "has no number \"Bytes\" in \"args\"", "check the trace");
    if (!address) {
      throw Error(where, "has no number \"Addr\" in \"args\", by which frees are told apart",
                  "record it with PyTorch 1.10 or later");
    }
    if (*bytes != std::floor(*bytes) || !(std::abs(*bytes) < too_many_bytes)) {
      throw Error(where, fmt::format("\"Bytes\" is {:g}, must be a whole number below 2^62", *bytes),
                  "check the trace");
    }
    devices[{event.number("Device Type").value_or(0), event.number("Device Id").value_or(-1)}].push_back(
        {.time = event.begin.value_or(0),
         .bytes = *bytes,
         .address = *address,
         .allocated = event.number("Total Allocated"),
         .reserved = event.number("Total Reserved"),
         .number = events});
  });
  if (devices.empty()) {
    throw Error(file.string(), "holds no event [memory]", "record it with profile(profile_memory=True)");
  }
  MemoryEvents out;
  std::vector<std::string> others;
  for (auto& [device, changes] : devices) {
    // Traces may list one thread after the other, and a block that one thread gives another may free.
    std::ranges::stable_sort(changes, {}, &MemoryChange::time);
    Allocator allocator;
    for (const MemoryChange& change : changes) allocator.take(change, place(change.number));
    MemoryEvents next = allocator.finished(
        device.first == 0 ? "the processor" : fmt::format("accelerator {:.0f}", device.second));
    if (out.device.empty() || next.most_live > out.most_live) std::swap(out, next);
    if (!next.device.empty()) others.push_back(next.device);
  }
  out.others = std::move(others);
  if (out.lives.empty())
    throw Error(file.string(), "gives no block of any bytes", "record a step that needs memory");
  return out;
}

std::string requests_csv(const MemoryEvents& events) {
  std::string out = "id,lower,upper,size\n";
  Index id = 0;
  for (const BlockLife& block : events.lives)
    out += fmt::format("{},{},{},{}\n", id++, block.start, block.end, block.bytes);
  return out;
}

}  // namespace assay
