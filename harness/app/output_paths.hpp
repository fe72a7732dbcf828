/// Checks the places where a command line wants its files, before anything is built or measured.
#pragma once

#include "app/option_list.hpp"

namespace assay {

/// Throws Error naming the option and the path where a file or folder could not be written, and where two
/// options name one file. Writes nothing, and leaves what is there as it is.
void require_writable_outputs(const OptionList& options);

}  // namespace assay
