/// `bundle.json`, as files have it.
#pragma once

#include "core/json/fields.hpp"

#include <string>
#include <vector>

namespace assay {

/// One program of a side.
struct BundledLink {
  std::string file;  ///< from the bundle's folder
  std::uint64_t hash = 0;
};

struct BundledSide {
  std::string name, commit, layout_remark;
  bool foreign = false;
  std::vector<BundledLink> links;
};

struct BundleFile {
  std::string processor;                      ///< on which it was made
  std::vector<std::string> instruction_sets;  ///< that it has
  BundledSide base, head;
};

void describe(Fields& f, BundledLink& link);
void describe(Fields& f, BundledSide& side);
void describe(Fields& f, BundleFile& bundle);

}  // namespace assay
