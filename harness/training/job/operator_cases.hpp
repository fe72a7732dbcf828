/// The cases of contracts that operators of PyTorch are, each by its arguments or several together, in a
/// trace with shapes.
#pragma once

#include "training/job/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A case that an operator is, or is a part of.
struct OperatorCase {
  std::string operation, problem;
  int operators = 1;   ///< of different names that are the case together, each a part of its call
  std::string note{};  ///< what was assumed; of no operation: why no contract has the call
};

/// The cases that one call is together; none where no contract has it, for the types, the layout or the
/// options of this call.
///
/// Products take the transposes that the strides say. A gradient of a convolution is one case for each output
/// that was asked for. The parts of a softmax with its loss are one case.
std::vector<OperatorCase> cases_of(std::string_view name, const std::vector<TraceArgument>& arguments);

/// An operator that was called, or a note of the loop or the user; times in microseconds.
struct OperatorCall {
  Span span;
  std::string_view name;
  std::vector<OperatorCase> cases{};                      ///< none, or of no operation, without a contract
  const std::vector<TraceArgument>* arguments = nullptr;  ///< of those that may be a part of a case
  bool is_note = false;
  bool is_case() const { return !cases.empty() && !cases.front().operation.empty(); }
};

/// Whether composed() reads the arguments of calls of this name.
bool is_part(std::string_view name);

/// Returns calls to put around those of these that are one case together. These are of one thread, by their
/// begin. Attention is two products with a softmax, no dropout and no other work between, a layer of an LSTM
/// is its steps, and the step of any optimizer is its operators, by tensors, by lists or fused. Adam and
/// AdamW go by the number of tensors and the size that gives all parameters. SGD goes by one array of all,
/// and is no case without momentum, in its first step, or dampened.
std::vector<OperatorCall> composed(const std::vector<OperatorCall>& calls);

}  // namespace assay
