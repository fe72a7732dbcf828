/// Jobs from whatever somebody measured them with.
#pragma once

#include "training/job/job.hpp"

#include <filesystem>
#include <string>

namespace assay {

enum class JobFile {
  results,  ///< of this program or of Google Benchmark: times of kernels, not of a job
  phases,   ///< phases_json.hpp
  trace,    ///< kineto.hpp
  table     ///< step_csv.hpp
};

/// Told by content, whatever the name, packed with gzip or not. Throws Error for JSON that is none of them.
JobFile kind_of_file(const std::filesystem::path& file);

/// Whether a file that need be none of these is a trace in Chrome's format, such as the PyTorch profiler
/// writes.
bool is_chrome_trace(const std::filesystem::path& file);

/// Phases, a trace or a table; `unit` is that of a table. Throws Error, also for results.
Job read_job(const std::filesystem::path& file, const std::string& unit = "");

}  // namespace assay
