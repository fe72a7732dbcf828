/// Traces of the PyTorch profiler (Kineto), in Chrome's format, read as jobs.
#pragma once

#include "training/job/job.hpp"

#include <filesystem>

namespace assay {

/// One window of the steps that the trace holds, with the phases of each.
///
/// A step lasts from its `ProfilerStep#N` to the next one, or to its own end where none follows. Markers of
/// the same N in rows of the accelerator repeat those of the processor and are not counted. Without markers a
/// step lasts from one fetch of the data loader to the next; the last one has no end and is dropped.
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
/// Throws Error when there are neither markers nor fetches, or when steps overlap.
Job read_kineto(const std::filesystem::path& file);

}  // namespace assay
