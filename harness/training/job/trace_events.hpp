/// The events of a trace in Chrome's format, one at a time, without ever holding the trace.
#pragma once

#include "assay/problem.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

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
  std::optional<double> process;                        ///< `pid`, where it is a number
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

}  // namespace assay
