#include "app/today.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace assay {

Date today() {
  constexpr const char* variable = "ASSAY_TODAY";
  const char* const given = std::getenv(variable);
  if (given == nullptr) return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const auto day = date_from(given);
  if (!day) {
    throw Error(variable, fmt::format("is \"{}\", which is no day", given),
                "unset it, or write it as 2026-10-01");
  }
  fmt::print(stderr, "today is taken to be {}, as {} says\n", date_text(*day), variable);
  return *day;
}

}  // namespace assay
