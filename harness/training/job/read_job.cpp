#include "training/job/read_job.hpp"

#include "assay/error.hpp"
#include "training/job/gzip_stream.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

/// The beginning of a file, which tells its kind: schemas stand first, and lists of devices before the events
/// of a trace are short.
struct Beginning {
  explicit Beginning(const std::filesystem::path& file) : text(unpacked(file, 1 << 18)) {
    const std::size_t at = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (at != std::string::npos) first = text[at];
  }
  bool has(const char* word) const { return text.find(word) != std::string::npos; }
  bool has_events() const { return has("\"traceEvents\"") || has("\"ph\"") || has("\"schemaVersion\""); }

  std::string text;
  char first = '\0';  ///< 0 of an empty file
};

}  // namespace

bool is_chrome_trace(const std::filesystem::path& file) {
  const Beginning beginning(file);
  return (beginning.first == '[' || beginning.first == '{') && beginning.has_events();
}

JobFile kind_of_file(const std::filesystem::path& file) {
  const Beginning beginning(file);
  if (beginning.first == '\0') throw Error(file.string(), "is empty", "write it again, or name another file");
  if (beginning.first == '[') return JobFile::trace;
  if (beginning.first != '{') return JobFile::table;
  if (beginning.has("\"assay.job")) return JobFile::phases;
  if (beginning.has("\"assay.") || (beginning.has("\"context\"") && beginning.has("\"benchmarks\"")))
    return JobFile::results;
  if (beginning.has_events()) return JobFile::trace;
  if (beginning.has("\"phases\"") || beginning.has("\"windows\"")) return JobFile::phases;
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
