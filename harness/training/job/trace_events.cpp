#include "training/job/trace_events.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/text/parts.hpp"
#include "training/job/gzip_stream.hpp"

#include <fmt/format.h>

#include <istream>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Follows the nesting of the document, and fills one event at a time.
class Handler : public JsonEvents {
 public:
  explicit Handler(const std::function<void(const TraceEvent&)>& take) : take_(take) {}

  void number(double value) override {
    if (in_arguments_ && depth_ == event_depth_ + 1) event_.numbers.emplace_back(argument_, value);
    if (!in_event()) return;
    if (key_ == "ts") event_.begin = value;
    if (key_ == "dur") event_.duration = value;
    if (key_ == "pid") event_.process = value;
  }
  void text(std::string& value) override {
    if (in_event()) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
      // Some profilers write times as texts.
      if (key_ == "ts") event_.begin = number_from<double>(value);
      if (key_ == "dur") event_.duration = number_from<double>(value);
    } else if (in_device_ && depth_ == 3 && key_ == "name") {
      ++devices_[value];
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

  bool in_event() const { return depth_ == event_depth_; }
  const std::function<void(const TraceEvent&)>& take_;
  std::map<std::string, int> devices_;
  TraceEvent event_;
  std::string key_, argument_;
  int depth_ = 0, event_depth_ = none;
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
                                      const std::function<void(const TraceEvent&)>& take) {
  JsonMender mender;
  GzipStream pieces(file, &mender);
  std::istream in(&pieces);
  Handler handler(take);
  scan_json(in, handler, file.string());
  if (!handler.found()) {
    throw Error(file.string(), "has no list traceEvents", "export the trace with export_chrome_trace()");
  }
  return handler.devices();
}

}  // namespace assay
