/// Suites as files hold them; cases given as words of a command line instead; and cases whose problem a file
/// of its own holds, such as a trace of the memory that a program asked for: `trace=FILE`.
#pragma once

#include "assay/suite.hpp"
#include "core/json/fields.hpp"

#include <string>
#include <string_view>

namespace assay {

/// load_suite() asks the operations about the cases as well.
void describe(Fields& f, Suite& suite);

/// Whether a text names cases: `gemm/m=512,n=512,k=512`, and not a file.
bool names_shapes(std::string_view text);

/// A suite of the cases that `text` names, separated by spaces, in its order:
///   gemm/m=512,n=512,k=64..4096:x2    fields of the operation; `first..last:xFACTOR` and `first..last:+STEP`
///                                     stand for several extents, `64|128|100` for these
///   matmul/512x256:256x1024           a descriptor of oneDNN's benchdnn: gemm, or batched_gemm of 3D tensors
///   conv/mb1ic64ih56oc64oh56kh3ph1    the same for conv2d
/// The suite is named for its text, in letters that file names may have. Throws Error naming the word at
/// fault.
Suite suite_of_shapes(const std::string& text, const Registry& registry);

}  // namespace assay
