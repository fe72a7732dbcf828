#include "app/output.hpp"

#include "assay/results.hpp"

#include <fmt/format.h>

namespace assay {

void put(const Options& options, const std::string& text, const std::string& json) {
  if (options.json == "-") {
    fmt::print("{}\n", json);
    return;
  }
  if (!options.json.empty()) write_file(options.json, json + "\n");
  fmt::print("{}", text);
}

}  // namespace assay
