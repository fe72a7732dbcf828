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
  std::optional<double> begin;                          ///< `ts` in microseconds, as it stands in the file
  std::optional<double> duration;                       ///< `dur` in microseconds
  std::optional<double> process;                        ///< `pid`, where it is a number
  bool has_shapes = false;                              ///< of the operator's inputs
  std::vector<std::pair<std::string, double>> numbers;  ///< the numbers directly in `args`

  /// A number of `args`; nothing where there is none of that name.
  std::optional<double> number(std::string_view argument) const;
};

/// Reads a trace, packed with gzip or not: an object with `traceEvents`, or a list of events alone. Calls
/// `take` for each event, in the order of the file. Throws Error naming the file if it is no JSON, is cut
/// off, or holds no list of events. Returns the names of `deviceProperties`, with the number of each.
std::map<std::string, int> read_trace(const std::filesystem::path& file,
                                      const std::function<void(const TraceEvent&)>& take);

}  // namespace assay
