/// Jobs from whatever somebody measured them with.
#pragma once

#include "training/job/job.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

enum class JobFile {
  results,  ///< of this program or of Google Benchmark: times of kernels, not of a job
  phases,   ///< JSON that a person can write
  trace,    ///< of the PyTorch profiler
  table     ///< of step times
};

/// Told by content, whatever the name, packed with gzip or not. Throws Error for JSON that is none of them.
JobFile kind_of_file(const std::filesystem::path& file);

/// Whether any file is a trace in Chrome's format, such as the PyTorch profiler writes.
bool is_chrome_trace(const std::filesystem::path& file);

/// Phases, a trace or a table; `unit` is that of a table. Throws Error, also for results.
Job read_job(const std::filesystem::path& file, const std::string& unit = "");

inline constexpr std::string_view job_schema = "assay.job/1";
class Fields;
void describe(Fields& f, Job& job);

/// Reads a job as JSON. training/README.md describes every key. An unknown key is refused with the keys that
/// may have been meant, and every message names file and key. Times below zero pass, since they are a finding
/// of lint(), not a fault of the form. Throws Error.
Job read_phases_json(const std::string& text, const std::string& where);

/// Reads a trace of the PyTorch profiler (Kineto), in Chrome's format: one window of the steps that it holds,
/// with the phases of each.
///
/// Steps lie as TraceSteps finds them: the last fetch of a loader has no end and is dropped, and markers of
/// the same N in rows of the accelerator repeat those of the processor and are not counted.
///
/// The time of a step is told apart in this order, so that the parts sum to the step: fetching from the
/// loader (`enumerate(DataLoader)#...__next__`), the optimizer's calls (`Optimizer.step#...`,
/// `Optimizer.zero_grad#...`), kernels, copies, operators on the processor, other. Each is the union of its
/// intervals, clipped to the step. "accelerator busy" is the union of kernels and copies, beside all of
/// these.
///
/// Categories of 2021 (`Operator`, `Kernel`, `Memcpy`, `Memset`) and of today (`cpu_op`, `user_annotation`,
/// `kernel`, `gpu_memcpy`, `gpu_memset`) are read. All else is dropped, and Job::notes says how much of what.
///
/// Throws Error when there are neither markers nor fetches, when steps overlap, or for two processes.
Job read_kineto(const std::filesystem::path& file);

/// Reads times of single steps as a table of comma-separated values. One row per step, in order; separated by
/// commas, semicolons or tabs; lines may end in CR LF.
///
/// With a header, a column of times is named for its unit (`seconds`, `ms`, `step_ms`) or `time`, `duration`
/// or `step_time`; `load_...` is the loading time of the same step; `batch_time` and `data_time` of timm and
/// mmengine are the same; `step` is its number, and a first number above 0 means that start-up is not in the
/// table; `unit` holds the unit of each row. Other columns are dropped, with a note. Without a header there
/// is one column of times, or a number and a time.
///
/// `unit` is the unit of columns that name none, or empty. Throws Error naming the line that cannot
/// be read, and when no unit is known or two contradict each other.
Job read_step_csv(const std::string& text, const std::string& where, const std::string& unit = "");

}  // namespace assay
