/// Options of `gate` that are about two builds.
#pragma once

#include "app/options.hpp"

namespace CLI {
class App;
}

namespace assay {

/// After those of a gate against a stored baseline, which they exclude where they would be ignored.
void add_two_builds_options(CLI::App& gate, Options& options);

}  // namespace assay
