/// The step of a training loop that the PyTorch profiler traced with shapes: which operators are cases of
/// contracts, which of its time goes to these, and by what name the rest goes.
#pragma once

#include "training/job/operator_cases.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

/// The kinds of things that take parts of a step.
enum class StepShare {
  covered,      ///< operators that are a case of a contract
  not_covered,  ///< operators of this name, which no contract has
  autograd,     ///< the engine of the backward pass, beside the operators that it calls
  loading,      ///< fetches from the data loader
  python,       ///< no operator runs: the interpreter, and whatever the profiler does not see
  rest          ///< neither an operator nor the marker of a step, between steps
};

struct StepPart {
  StepShare share = StepShare::covered;
  std::string name;                 ///< of the operator in PyTorch, `aten::mm`
  std::vector<OperatorCase> cases;  ///< that one call is together; none unless it is covered
  std::string text;                 ///< of these, `gemm/m=8,n=8,k=8`, with ` + ` between
  double per_step = 0;              ///< calls
  double seconds = 0;               ///< of a mean step; those of all parts sum to it
  double call_seconds = 0;          ///< median of calls
};

struct TracedStep {
  std::string source;
  Index steps = 0;
  double seconds = 0;           ///< mean of a step
  std::vector<StepPart> parts;  ///< those that are covered first, each kind by its seconds, the longest first
  std::vector<std::string> notes;
  bool has_memory = false;  ///< events of allocators

  double seconds_of(StepShare share) const;
};

/// Reads a trace with shapes (`record_shapes=True`), packed with gzip or not. A time at which operators of
/// several threads run belongs to the thread that is busiest.
///
/// A part with a case that makes `require` throw Error, or without its call or its kin in the steps, as some
/// of a loss, is not covered, and a note says why.
///
/// Throws Error naming the file and what to do where there are no shapes, no steps, or no operator that a
/// contract has, of two processes, and where the parts miss the step by more than 1 %, as they do where
/// operators of one thread overlap.
TracedStep read_traced_step(const std::filesystem::path& file,
                            const std::function<void(const OperatorCase&)>& require = {});

/// The suite whose cases are the covered parts, as JSON, and a plan of the requests in the file of that name
/// beside it, if there is one. `name` is that of its file.
std::string suite_json(const TracedStep& step, const std::string& name, Index steps_per_epoch,
                       const std::string& requests = "");

}  // namespace assay
