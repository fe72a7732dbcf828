#include "bench/gate/hot_symbols.hpp"

#include "assay/error.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace assay {
namespace {

/// Long enough for a thousand samples, few of which are of filling inputs.
constexpr MeasurePolicy profiled{.slices = 500, .slice_seconds = 1e-3, .trial_seconds = 0.5};

}  // namespace

std::vector<HotSymbol> hot_symbols_from(const std::string& report) {
  std::vector<HotSymbol> out;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' '), percent = line.find('%'),
                      mode = line.find("[.] ");  // of user code; [k] is the kernel's
    if (first == std::string::npos || percent == std::string::npos || mode == std::string::npos) continue;
    double share = 0;
    const auto [end, failure] = std::from_chars(line.data() + first, line.data() + percent, share);
    if (failure != std::errc() || end != line.data() + percent) continue;
    std::string name = line.substr(mode + 4);
    name.erase(std::min(name.size(), name.find("  ")));  // padding, and columns that some versions add
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) out.push_back({std::move(name), share / 100});
  }
  return out;
}

std::optional<std::vector<HotSymbol>> hot_symbols(const std::filesystem::path& program,
                                                  const TrialRequest& trial, std::uint64_t seed,
                                                  const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto file = [&](const char* name) { return (scratch.path() / name).string(); };
  LaunchRequest request{.policy = profiled, .trials = {trial}};
  request.policy.seed = seed;
  write_file(file("request"), to_json(request));
  const auto answers = [&](std::vector<std::string> words) -> std::optional<std::string> {
    try {
      Answer answer = ask_child({.words = std::move(words), .folder = scratch.path()}, hooks);
      if (answer.exit_code == 0) return std::move(answer.output);
    } catch (const Error&) {
    } catch (const Stopped&) {
    }
    return std::nullopt;
  };
  // cpu-clock works on virtual machines without counters as well, and in user code without privileges.
  if (!answers({"perf", "record", "-q", "-e", "cpu-clock:u", "-F", "3000", "-o", file("samples"), "--",
                std::filesystem::absolute(program).string(), "launch", file("request"), file("answer")})) {
    return std::nullopt;
  }
  const auto report = answers(
      {"perf", "report", "-q", "--stdio", "--no-children", "--sort", "symbol", "-i", file("samples")});
  if (!report) return std::nullopt;
  std::vector<HotSymbol> out = hot_symbols_from(*report);
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace assay
