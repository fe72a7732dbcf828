/// The width of tables for a terminal.
#pragma once

#include <cstddef>

namespace assay {

inline constexpr std::size_t terminal_width = 80;

}  // namespace assay
