/// Times for files that stay in a repository.
#pragma once

namespace assay {

/// Seven digits: a tick of 1 ns in a slice of 0.1 ms and more is the fifth, and shorter numbers halve the
/// file.
double shortened(double value);

}  // namespace assay
