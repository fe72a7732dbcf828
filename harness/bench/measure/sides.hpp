/// Launches of two builds, or of one in several environments: fresh copies of their programs, started
/// together, taking turns on shared data.
#pragma once

#include "assay/failure.hpp"
#include "assay/hooks.hpp"
#include "assay/plan.hpp"
#include "assay/random.hpp"
#include "assay/registry.hpp"
#include "bench/measure/turns.hpp"
#include "core/files/child_process.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// A question to a program before it is compared: for its build, and the trials it has for given cases.
struct DescriptionRequest {
  std::vector<Case> cases;  ///< in canonical form; operations that a program does not know are left out by it
  std::vector<int> threads;  ///< of threaded variants; empty means 1 and all cores
  std::uint64_t seed = 42;
  /// Keys of trials that are about to be timed: they are given back, and no others, with the verdict on their
  /// corner cases. Empty: all trials without one.
  std::vector<std::string> corners{};
  double time_limit = 0;  ///< seconds that a kernel may take there, as in Containment
};

struct DescribedTrial {
  TrialRequest trial;
  std::string workload;  ///< other inputs or another meaning: not comparable
  std::string code;      ///< hash of the variant's machine code; empty when unknown
  std::string skipped;   ///< why it cannot run here; empty when it can

  std::string wrong{};  ///< how it failed a corner case; empty where it passed, and in older programs
  std::optional<Failure> failure{};  ///< where its process ended there
};

/// The description that a program gives of itself.
struct Description {
  std::string commit;
  std::vector<Fact> facts;
  std::vector<DescribedTrial> trials;
  bool renews = true;  ///< gives each call new content and judges slices; older programs do not
};

/// `passed_corners` is the file of kernels whose corner cases passed; empty: none did.
Description describe(const Registry& registry, const DescriptionRequest& request,
                     const std::filesystem::path& passed_corners = {}, const Hooks& hooks = {});

/// The verb `describe`: reads a request, writes a description.
void serve_description(const Registry& registry, const std::filesystem::path& request,
                       const std::filesystem::path& answer, const std::filesystem::path& passed_corners,
                       const Hooks& hooks);

std::string to_json(const DescriptionRequest& request);
/// Throws Error naming `where`.
Description description_from_json(const std::string& text, const std::string& where);

struct SideProgram {
  std::string name;  ///< for messages: "base", "head", "control"
  /// A program, or a plug-in that a copy of this program loads. It is copied before it runs, since the place
  /// of a file's pages moves a kernel by percents.
  std::filesystem::path program;
  Variables environment;           ///< its own, where sides differ in that
  std::filesystem::path known_as;  ///< to the user, where `program` is a copy
};

/// A kernel that ended a side of a launch, or did not come back in it.
struct SideFailure : ChildCrash {
  SideFailure(std::size_t at, std::string of_trial, Failure how, const ChildCrash& said)
      : ChildCrash(said), side(at), key(std::move(of_trial)), failure(std::move(how)) {}
  std::size_t side;  ///< as a position in PairRequest::sides
  std::string key;
  Failure failure;
};

struct PairRequest {
  std::vector<SideProgram> sides;  ///< the first one calibrates
  std::vector<TrialRequest> trials;
  /// Slow-downs by side and trial; empty, or one row per side.
  std::vector<std::vector<double>> slowdowns;
  std::vector<double> patience;  ///< by trial: times the usual number of slices; empty for that number
  TurnPolicy policy;
  std::uint64_t draw = 0;  ///< seed of what is random in this launch, and equal on all sides
  bool check = false;
  std::size_t shared_bytes = 0;  ///< the most that a case may take
};

/// A PairRequest::draw for each launch, from the seed of the run: the same run draws the same.
std::uint64_t draw_of(std::uint64_t seed, int launch);

/// 0 to count - 1 in an order that is drawn.
std::vector<std::size_t> drawn_permutation(std::size_t count, Rng& rng);

/// A variable that pads the environment, whose size moves the stack: new in each launch, equal on all sides.
std::pair<std::string, std::string> drawn_padding(Rng& rng);

PairRequest with_one_trial(const PairRequest& request, std::size_t trial);

using SampleSides = std::function<std::vector<std::vector<TurnSample>>(const PairRequest&, const Hooks&)>;

/// The samples of each side. A trial against which something is held is sampled again in processes of its
/// own, and so are the others until one is at fault there: only those are named. Throws SideFailure where a
/// kernel is at fault, and Error naming the side when one fails; an empty answer after an interrupt.
std::vector<std::vector<TurnSample>> sample_sides(const PairRequest& request, const Hooks& hooks);

/// The same by this `sample` of all trials of a request together.
std::vector<std::vector<TurnSample>> sample_accused_alone(const PairRequest& request,
                                                          const SampleSides& sample, const Hooks& hooks);

/// Returns the description that a program gives of itself in this environment. Throws Error when it is no
/// program of assay, or one from before it could, and Stopped after an interrupt.
Description described_by(const std::filesystem::path& program, const DescriptionRequest& request,
                         const Hooks& hooks, const Variables& environment = {});

}  // namespace assay
