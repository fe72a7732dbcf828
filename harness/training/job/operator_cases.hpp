/// The cases of contracts that operators of PyTorch are, by the arguments that a trace with shapes holds.
#pragma once

#include "assay/problem.hpp"
#include "training/job/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A case that an operator is, or is a part of.
struct OperatorCase {
  std::string operation, problem;
  double calls = 1;  ///< 0 for a part whose kin counts the call
};

/// The elements of an array of these extents; 0 where it has none, or more than fit into any memory.
Index elements_of(const std::vector<Index>& extents);

/// The cases that one call is, each with an equal part of its time; none where no contract has it, for the
/// types, the layout or the options of this call.
///
/// Products take the transposes that the strides say. A gradient of a convolution is one case for each output
/// that was asked for. The parts of a softmax with its loss are one case.
std::vector<OperatorCase> cases_of(std::string_view name, const std::vector<TraceArgument>& arguments);

/// Attention that is composed: the product of queries and keys, of such arguments, and the product with the
/// values after a softmax; none where they do not belong together.
std::vector<OperatorCase> attention_cases(const std::vector<TraceArgument>& scores,
                                          const std::vector<TraceArgument>& values, bool causal);

/// A layer of an LSTM that is composed: the product with the inputs of all steps, and that with the first
/// hidden state; none where they do not belong together.
std::vector<OperatorCase> lstm_cases(const std::vector<TraceArgument>& inputs,
                                     const std::vector<TraceArgument>& hidden);

}  // namespace assay
