/// Operators of PyTorch as cases of contracts.
#pragma once

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

/// Whether any arguments of an operator of that name make it a case.
bool may_be_case(std::string_view name);
/// The cases that one call is, each with an equal part of its time; none where no contract has it, for the
/// types, the layout or the options of this call.
std::vector<OperatorCase> cases_of(std::string_view name, const std::vector<TraceArgument>& arguments);

/// Attention that is composed: the product of queries and keys, of such extents, and the product with the
/// values after a softmax; nothing where they do not belong together.
std::vector<OperatorCase> attention_of(const std::vector<TraceArgument>& scores,
                                       const std::vector<TraceArgument>& values, bool causal);

}  // namespace assay
