#include "bench/exchange/read_results.hpp"

#include "bench/exchange/foreign_results.hpp"
#include "bench/exchange/google_benchmark.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace assay {
namespace {

bool has_keys(const std::string& text, std::initializer_list<std::string_view> keys) {
  return std::ranges::all_of(keys, [&](std::string_view key) {
    return text.find('"' + std::string(key) + '"') != std::string::npos;
  });
}

}  // namespace

Results read_any_results(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::string where = file.string();
  // Formats are told by their keys before anything is parsed, since Google Benchmark's may be no JSON at all
  // (bare NaN). Ours begins with its schema.
  const std::size_t first_key = text.find('"');
  if (first_key != std::string::npos && std::string_view(text).substr(first_key).starts_with("\"schema\""))
    return results_from_json(text, where);
  if (has_keys(text, {"context", "benchmarks"})) return results_from_google_benchmark(text, where);
  if (has_keys(text, {"machine_info", "benchmarks"})) return results_from_pytest_benchmark(text, where);
  if (has_keys(text, {"benchmarks", "states"})) return results_from_nvbench(text, file);
  if (has_keys(text, {"results", "command"})) return results_from_hyperfine(text, where);
  if (text.starts_with("perf,") || text.find("\nperf,") != std::string::npos ||
      text.starts_with("Output template: "))
    return results_from_benchdnn(text, where);
  return results_from_json(text, where);
}

}  // namespace assay
