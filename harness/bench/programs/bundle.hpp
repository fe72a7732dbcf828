/// Bundles: both sides of a gate, built once and in one folder, for the jobs that measure them elsewhere.
#pragma once

#include "bench/programs/revision.hpp"
#include "core/json/fields.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct Bundle {
  Programs base, head;
  ProgramUse use{};
  std::string target{};  ///< that made them, where they are not assay's
};

/// Copies the programs of both sides into `folder`, which may be absent, empty or an older bundle, and writes
/// their list last. Throws Error if it holds anything else.
void write_bundle(const std::filesystem::path& folder, const Bundle& bundle);

/// Throws Error when the folder holds no bundle, or one whose programs are missing, changed or made for a
/// processor that can do more than this one.
Bundle read_bundle(const std::filesystem::path& folder);

// `bundle.json`, as files have it.

/// One program of a side.
struct BundledLink {
  std::string file;  ///< from the bundle's folder
  std::uint64_t hash = 0;
};

struct BundledSide {
  Programs side{};  ///< but for its links
  std::vector<BundledLink> links;
};

struct BundleFile {
  std::string processor;                      ///< on which it was made
  std::vector<std::string> instruction_sets;  ///< that it has
  BundledSide base, head;
  ProgramUse use{};
  std::string target{};
};

void describe(Fields& f, BundledLink& link);
void describe(Fields& f, BundledSide& side);
void describe(Fields& f, BundleFile& bundle);

}  // namespace assay
