#include "app/options_checks.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>

namespace assay {

CLI::Validator between(double least, double most) {
  const std::string range = fmt::format("[{:g} - {:g}]", least, most);
  const auto fault = [=](const std::string& text) -> std::string {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
    if (is_number && value >= least && value <= most) return "";
    return fmt::format("{} is no number in {}", text, range);
  };
  return {fault, "FLOAT in " + range};
}

CLI::Validator not_empty() {
  const auto fault = [](const std::string& text) -> std::string {
    return text.empty() ? "is empty: is a variable unset? Give it a value, or leave the option away" : "";
  };
  return {fault, ""};
}

}  // namespace assay
