/// Planted slow-downs: what a gate is tested with. A planted trial takes a known share more *time*, whatever
/// its bottleneck; three percent more work would be one percent more time in some kernels.
#pragma once

#include "assay/operation.hpp"

#include <memory>
#include <string_view>

namespace assay {

class Registry;

/// `timed`, followed in each burst by waiting that takes `slowdown` times as long as the burst did: 0.03 for
/// 3 %. `timed` itself when `slowdown` is 0.
std::unique_ptr<Timed> planted(std::unique_ptr<Timed> timed, double slowdown);

/// Returns the share that this program was built to plant with -DASSAY_PLANT=operation/variant=percent; else
/// 0. Throws Error when that text cannot be read.
double slowdown_of_build(std::string_view operation, std::string_view variant);

/// Reads such a text: empty, or `operation/variant=percent`, separated by commas. `*` is every variant.
double planted_slowdown(std::string_view plants, std::string_view operation, std::string_view variant);

/// Throws Error where such a text names an operation or a variant that is not registered: a gate that is
/// tested with it would pass for nothing.
void require_known_plants(std::string_view plants, const Registry& registry);

}  // namespace assay
