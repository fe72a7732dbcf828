#include "assay/detail/typed.hpp"

#include <limits>

namespace assay::detail {

void blame_for_guards(Agreement& outcome, std::string_view part) {
  if (!outcome.agrees) return;
  outcome.agrees = false;
  outcome.worst_error = std::numeric_limits<double>::infinity();
  outcome.detail = "wrote outside " + std::string(part) + ": the guard bytes before or after it changed";
}

void throw_takes_no_file(std::string_view operation, const std::filesystem::path& file) {
  throw Error(std::string(operation), "takes no file", "leave " + file.string() + " out");
}

}  // namespace assay::detail
