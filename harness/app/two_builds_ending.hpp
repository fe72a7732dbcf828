/// What a gate of two builds prints, and how it exits: the same from samples just taken and from stored ones.
#pragma once

#include "app/options.hpp"
#include "compare/two_builds.hpp"

namespace assay {

int end_two_builds(const Options& options, const TwoBuilds& run);

}  // namespace assay
