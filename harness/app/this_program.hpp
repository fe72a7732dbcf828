/// The program that runs.
#pragma once

#include <filesystem>

namespace assay {

/// Its file. Throws Error when that is gone, as after a rebuild while it runs.
std::filesystem::path this_program();

}  // namespace assay
