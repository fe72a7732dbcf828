#include "app/output.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"

#include <fmt/format.h>

namespace assay {

void put(const std::string& where, const std::string& text, const std::string& json) {
  if (where == "-") {
    fmt::print("{}\n", json);
    return;
  }
  fmt::print("{}", text);
  if (!where.empty()) write_file(where, json + "\n");
}

std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder) {
  const auto here = folder / report.machine.key;
  std::error_code failure;
  std::filesystem::create_directories(here, failure);
  if (failure) throw Error(here.string(), "cannot be made: " + failure.message(), "name another folder");
  write_file(here / (report.suite + ".md"), to_markdown(report));
  write_file(here / (report.suite + ".json"), to_json(report) + "\n");
  return here / (report.suite + ".md");
}

}  // namespace assay
