/// Measuring: variants of one case sampled in mixed order, in short slices, in several process starts.
#pragma once

#include "assay/audit.hpp"
#include "assay/failure.hpp"
#include "assay/hooks.hpp"
#include "assay/registry.hpp"
#include "assay/results.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct MeasurePolicy {
  int launches = 1;
  int slices = 15;              ///< per trial and launch
  double slice_seconds = 5e-4;  ///< at least; a longer call is a slice by itself
  Index calls_per_slice = 0;    ///< a fixed number of calls; 0 leaves it to slice_seconds
  double trial_seconds = 0.15;  ///< per launch: fewer slices of longer calls, though never fewer than 3
  std::uint64_t seed = 42;
  double time_limit = 0;  ///< seconds that a kernel may take; 0: by what naive takes
  /// Each case has a process of its own, in which kernels that are timed may start nothing and change nothing
  /// of the process.
  bool strict = false;
  bool judge_every = false;  ///< every slice, whatever it costs, and not as many as cost little
};

/// A call longer than this is timed three times in all, and no more.
inline constexpr double long_call_seconds = 2;

/// The work of a launch for one trial.
struct TrialRequest {
  std::string key, operation, variant, problem;
  int threads = 1;
  std::filesystem::path file{};  ///< that holds the problem, as Case

  bool same_case(const TrialRequest& other) const {
    return operation == other.operation && problem == other.problem;
  }
};

/// The samples of one trial from one launch.
struct TrialSample {
  std::string key;
  Launch slices;
  FigureValues figures;  ///< of measured_figures()
  Audit audit;
  std::optional<Failure> failure;  ///< it came to no end, and has no slices
};

/// The figures that a launch measures besides times, in the order in which readers see them. Whoever measures
/// one stores its value by the tag; results, files, merges and reports take it from there.
const std::vector<Figure>& measured_figures();

/// One launch: `index` counts from 0. Trials come case by case.
struct LaunchRequest {
  MeasurePolicy policy;
  int index = 0;
  std::vector<TrialRequest> trials;
  int record = -1;   ///< descriptor of memory in which a launch says where it is; -1: nowhere
  int answers = -1;  ///< descriptor that takes the samples; -1: a file does
};

/// Samples in this process. After an interrupt, trials that were not finished have no slices. `taken` is
/// given samples as soon as they are there, while nothing but the timed kernels themselves has run.
std::vector<TrialSample> sample_here(const Registry& registry, const LaunchRequest& request,
                                     const Hooks& hooks,
                                     const std::function<void(std::span<const TrialSample>)>& taken = {});

/// Samples in a fresh process of the running program, by its verb `launch`. A launch is a process start, so
/// that address-space layout and page placement are drawn anew. A trial that ends the process or hangs is
/// said to have failed, and what had not been sampled by then is sampled in another process.
std::vector<TrialSample> sample_in_new_process(const LaunchRequest& request, const Hooks& hooks);

/// Writes the file that a launch is asked with.
std::string to_json(const LaunchRequest& request);

/// The verb `launch`: reads a request, samples here, and sends the samples, after which the process ends at
/// once; or writes them to the file `answer` where the request names no descriptor for them.
void serve_launch(const Registry& registry, const std::filesystem::path& request,
                  const std::filesystem::path& answer, const Hooks& hooks);

using Sample = std::function<std::vector<TrialSample>(const LaunchRequest&, const Hooks&)>;

/// Measures the trials of `results` that agreed and were not skipped, by `policy.launches` calls of `sample`,
/// and stores slices, allocations and remarks in them. One that fails in any launch has no samples. Sets
/// `partial` when it was interrupted.
void measure(Results& results, const MeasurePolicy& policy, const Sample& sample, const Hooks& hooks);

}  // namespace assay
