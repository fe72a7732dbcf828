#include "bench/exchange/read_results.hpp"

#include "bench/exchange/google_benchmark.hpp"

namespace assay {

Results read_any_results(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  // Ours begins with its schema. Google Benchmark's has no such word and may be no JSON at all (bare NaN), so
  // it is told by its two keys before anything is parsed.
  const std::size_t schema = text.find("\"schema\""), context = text.find("\"context\"");
  const bool theirs = context != std::string::npos && text.find("\"benchmarks\"") != std::string::npos &&
                      (schema == std::string::npos || context < schema);
  return theirs ? results_from_google_benchmark(text, file.string()) : results_from_json(text, file.string());
}

}  // namespace assay
