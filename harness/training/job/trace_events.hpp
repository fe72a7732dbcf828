/// The events of a trace in Chrome's format, one at a time, without ever holding the trace.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// The fields that are read of an event.
struct TraceEvent {
  std::string phase;     ///< `ph`: X is an event with a duration
  std::string category;  ///< `cat`
  std::string name;
  double begin = 0;     ///< `ts` in microseconds, as it stands in the file
  double duration = 0;  ///< `dur` in microseconds
  bool has_begin = false, has_duration = false;
  std::vector<std::pair<std::string, double>> numbers;  ///< those that stand in `args` by themselves

  /// A number of `args`; nothing where there is none of that name.
  std::optional<double> number(std::string_view argument) const;
};

/// The facts that a trace states about itself.
struct TraceHeader {
  std::map<std::string, int> devices;  ///< names under `deviceProperties`, with how often each is there
};

/// Reads a trace, packed with gzip or not: an object with `traceEvents`, or a list of events alone. Calls
/// `take` for each event, in the order of the file. Throws Error naming the file for what is no JSON, is cut
/// off, or holds no list of events.
TraceHeader read_trace(const std::filesystem::path& file, const std::function<void(const TraceEvent&)>& take);

}  // namespace assay
