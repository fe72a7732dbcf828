#include "core/machine/clock.hpp"

#include <fmt/chrono.h>

#include <ctime>

namespace assay {

std::string utc_now() { return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace assay
