/// The checks of a variant that is kept to show what they reject.
#pragma once

#include "assay/check.hpp"
#include "core/json/fields.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Rejection {
  std::string name;
  std::string published;  ///< what sets it apart: where it was seen, and what it gets wrong
  std::size_t checks = 0, rejected = 0;
  std::optional<CornerCheck> first;  ///< the first check that it failed
};
void describe(Fields& f, Rejection& one);

/// Returns the rejections of each variant, by name.
std::vector<Rejection> rejections(const Registry& registry, const std::vector<CornerCheck>& checks);

}  // namespace assay
