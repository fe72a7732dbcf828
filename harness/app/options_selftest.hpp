/// Options of `selftest`.
#pragma once

#include "app/options.hpp"

namespace CLI {
class App;
}

namespace assay {

/// After those that say what is gated: suite, filter and inputs.
void add_selftest_options(CLI::App& selftest, Options& options);

}  // namespace assay
