/// Bundles: both sides of a gate, built once and in one folder, for the jobs that measure them elsewhere.
#pragma once

#include "bench/programs/revision.hpp"

#include <filesystem>

namespace assay {

struct Bundle {
  Programs base, head;
};

/// Copies the programs of both sides into `folder`, which may be there as an older bundle or empty, and
/// writes what they are beside them, last. Throws Error when it holds anything else.
void write_bundle(const std::filesystem::path& folder, const Bundle& bundle);

/// Throws Error when the folder holds no bundle, or one whose programs are missing, changed or made for a
/// processor that can do more than this one.
Bundle read_bundle(const std::filesystem::path& folder);

}  // namespace assay
