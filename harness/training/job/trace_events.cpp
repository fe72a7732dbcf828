#include "training/job/trace_events.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/text/parts.hpp"
#include "training/job/gzip_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Follows the nesting of the document, and fills one event at a time.
class Handler : public JsonEvents {
 public:
  Handler(const std::function<void(const TraceEvent&)>& take, bool with_arguments)
      : take_(take), with_arguments_(with_arguments) {}

  void number(double value) override {
    if (in_arguments_ && depth_ == event_depth_ + 1) event_.numbers.emplace_back(argument_, value);
    if (auto* lists = lists_of_argument(); lists != nullptr && !lists->empty())
      lists->back().push_back(std::abs(value) < largest_whole ? static_cast<Index>(value) : 0);
    if (!in_event()) return;
    if (key_ == "ts") event_.begin = value;
    if (key_ == "dur") event_.duration = value;
    if (key_ == "pid") event_.process = value;
    if (key_ == "tid") event_.thread = fmt::format("{}", value);
  }
  void text(std::string& value) override {
    if (in_event()) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
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
    if (auto* lists = lists_of_argument()) {
      // The extents of one tensor until a list within them shows that there are several.
      if (depth_in_arguments() == 3 && lists->size() == 1 && lists->front().empty() && !several_)
        lists->clear();
      several_ = depth_in_arguments() == 3;
      lists->emplace_back();
    }
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
  bool several_ = false;           ///< it is a list of tensors
  bool found_ = false, in_device_ = false, in_arguments_ = false;
};

}  // namespace

std::optional<double> TraceEvent::number(std::string_view argument) const {
  for (const auto& [key, value] : numbers) {
    if (key == argument) return value;
  }
  return std::nullopt;
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

}  // namespace assay
