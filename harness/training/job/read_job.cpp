#include "training/job/read_job.hpp"

#include "assay/error.hpp"
#include "training/job/gzip_stream.hpp"
#include "training/job/kineto.hpp"
#include "training/job/phases_json.hpp"
#include "training/job/step_csv.hpp"

#include <fmt/format.h>

namespace assay {

namespace {

/// Schemas stand first, and lists of devices before the events of a trace are short.
constexpr std::size_t telling_bytes = 1 << 18;

std::size_t first_character(const std::string& text) { return text.find_first_not_of(" \t\r\n\xef\xbb\xbf"); }

bool says_trace(const std::string& text) {
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  return has("\"traceEvents\"") || has("\"ph\"") || has("\"schemaVersion\"");
}

}  // namespace

bool is_chrome_trace(const std::filesystem::path& file) {
  const std::string text = beginning_of(file, telling_bytes);
  const std::size_t start = first_character(text);
  return start != std::string::npos && (text[start] == '[' || text[start] == '{') && says_trace(text);
}

JobFile kind_of_file(const std::filesystem::path& file) {
  const std::string text = beginning_of(file, telling_bytes);
  const std::size_t start = first_character(text);
  if (start == std::string::npos)
    throw Error(file.string(), "is empty", "write it again, or name another file");
  if (text[start] == '[') return JobFile::trace;
  if (text[start] != '{') return JobFile::table;
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (has("\"assay.job")) return JobFile::phases;
  if (has("\"assay.") || (has("\"context\"") && has("\"benchmarks\""))) return JobFile::results;
  if (says_trace(text)) return JobFile::trace;
  if (has("\"phases\"") || has("\"windows\"")) return JobFile::phases;
  throw Error(
      file.string(), "is JSON, but neither results, nor a job, nor a trace",
      fmt::format("a job begins with \"schema\": \"{}\", a trace has a list traceEvents", job_schema));
}

Job read_job(const std::filesystem::path& file, const std::string& unit) {
  const JobFile kind = kind_of_file(file);
  if (!unit.empty() && kind != JobFile::table) {
    throw Error("--unit", fmt::format("{} is no table of step times", file.string()), "leave it out");
  }
  switch (kind) {
    case JobFile::phases: return read_phases_json(unpacked(file), file.string());
    case JobFile::trace: return read_kineto(file);
    case JobFile::table: return read_step_csv(unpacked(file), file.string(), unit);
    case JobFile::results: break;
  }
  throw Error(file.string(), "holds times of kernels, not of a training job",
              "give it alone to predict, or name a job, a trace or a table of step times");
}

}  // namespace assay
