// Launches: process starts that sample, and the JSON they are asked and answer with.

#include "assay/error.hpp"
#include "assay/measure.hpp"
#include "measure/scratch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace assay {

// Found by nlohmann-json through argument-dependent lookup.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasurePolicy, launches, slices, slice_seconds, calls_per_slice,
                                   trial_seconds, seed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialRequest, key, operation, variant, problem, threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchRequest, policy, index, trials)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Slice, seconds, cpu_seconds, calls)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialSample, key, slices, allocations_per_call, allocated_bytes_per_call,
                                   workspace_bytes)

namespace {

using Json = nlohmann::json;

/// OpenBLAS's worker spins for 2^26 cycles after a call by default, on the core that the next trial's second
/// thread needs. 2^18 cycles still cover back-to-back calls.
void quiet_other_thread_pools() { setenv("OPENBLAS_THREAD_TIMEOUT", "18", /*overwrite=*/0); }

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void become_launch(const std::string& request, const std::string& answer) {
  quiet_other_thread_pools();
  execl("/proc/self/exe", "assay", "launch", request.c_str(), answer.c_str(), nullptr);
  _exit(127);
}

}  // namespace

std::string to_json(const LaunchRequest& request) { return Json(request).dump(); }

std::vector<TrialSample> sample_in_new_process(const LaunchRequest& request, const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto request_file = (scratch.path() / "request.json").string();
  const auto answer_file = (scratch.path() / "answer.json").string();
  write_file(request_file, to_json(request));
  hooks.say(fmt::format("launch {} of {}", request.index + 1, request.policy.launches));
  const pid_t child = fork();
  if (child < 0) throw Error("launch", std::strerror(errno), "free memory or raise the process limit");
  if (child == 0) become_launch(request_file, answer_file);
  const int status = wait_for(child);
  if (WIFSIGNALED(status)) {
    throw std::runtime_error(
        fmt::format("a launch was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
  }
  if (!std::filesystem::exists(answer_file)) {
    throw std::runtime_error(fmt::format("a launch ended with status {} and no answer", WEXITSTATUS(status)));
  }
  return Json::parse(read_file(answer_file)).get<std::vector<TrialSample>>();
}

void serve_launch(const Registry& registry, const std::filesystem::path& request,
                  const std::filesystem::path& answer, const Hooks& hooks) {
  LaunchRequest wanted;
  try {
    wanted = Json::parse(read_file(request)).get<LaunchRequest>();
  } catch (const Json::exception& failure) {
    throw Error(request.string(), failure.what(), "`launch` is for the program itself; use `assay run`");
  }
  write_file(answer, Json(sample_here(registry, wanted, hooks)).dump());
}

}  // namespace assay
