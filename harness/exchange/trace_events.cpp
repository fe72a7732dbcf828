#include "exchange/trace_events.hpp"

#include "assay/error.hpp"
#include "exchange/gzip_stream.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <istream>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Follows the nesting of the document, and fills one event at a time. The names are nlohmann's.
class Handler {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Handler(std::string where, const std::function<void(const TraceEvent&)>& take)
      : where_(std::move(where)), take_(take) {}

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t value) { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) { return number(value); }
  bool binary(binary_t&) { return true; }

  bool string(string_t& value) {
    if (in_event()) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
    } else if (in_device_ && depth_ == 3 && key_ == "name") {
      ++header_.devices[value];
    }
    return true;
  }
  bool start_object(std::size_t) {
    ++depth_;
    if (depth_ == event_depth_) event_ = {};
    return true;
  }
  bool end_object() {
    if (depth_ == event_depth_) take_(event_);
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    ++depth_;
    const bool list = depth_ == 1 || (depth_ == 2 && key_ == "traceEvents");
    if (list) {
      event_depth_ = depth_ + 1;
      found_ = true;
    }
    in_device_ = in_device_ || (depth_ == 2 && key_ == "deviceProperties");
    return true;
  }
  bool end_array() {
    if (depth_ + 1 == event_depth_) event_depth_ = none;
    if (depth_ == 2) in_device_ = false;
    --depth_;
    return true;
  }
  bool key(string_t& value) {
    // Deeper keys are those of arguments; what they hold is passed over.
    if (depth_ <= 3) key_ = value;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    std::string_view detail = error.what();
    if (detail.find("unexpected end of input") != std::string_view::npos) {
      throw Error(where_, fmt::format("ends in the middle, after {} characters", position),
                  "the trace is cut off: export it again");
    }
    if (const auto at = detail.find("syntax error"); at != std::string_view::npos) detail.remove_prefix(at);
    throw Error(where_, fmt::format("invalid JSON at character {}: {}", position, detail),
                "mend the trace or export it again");
  }

  const TraceHeader& header() const { return header_; }
  bool found() const { return found_; }

 private:
  static constexpr int none = -1;

  bool in_event() const { return depth_ == event_depth_; }
  bool number(double value) {
    if (!in_event()) return true;
    if (key_ == "ts") {
      event_.begin = value;
      event_.has_begin = true;
    } else if (key_ == "dur") {
      event_.duration = value;
      event_.has_duration = true;
    }
    return true;
  }

  std::string where_;
  const std::function<void(const TraceEvent&)>& take_;
  TraceHeader header_;
  TraceEvent event_;
  std::string key_;
  int depth_ = 0, event_depth_ = none;
  bool found_ = false, in_device_ = false;
};

}  // namespace

TraceHeader read_trace(const std::filesystem::path& file,
                       const std::function<void(const TraceEvent&)>& take) {
  GzipStream pieces(file);
  std::istream in(&pieces);
  Handler handler(file.string(), take);
  nlohmann::json::sax_parse(in, &handler);
  if (!handler.found()) {
    throw Error(file.string(), "has no list traceEvents", "export the trace with export_chrome_trace()");
  }
  return handler.header();
}

}  // namespace assay
