/// Names that somebody may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The `most` names that take the fewest insertions, deletions and replacements of single characters to reach
/// from `text`, nearest first.
std::vector<std::string> near_names(std::string_view text, std::span<const std::string> names,
                                    std::size_t most);

}  // namespace assay
