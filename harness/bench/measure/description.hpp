/// The description that a program gives of itself before it is compared with another: its build, and the
/// trials it has for given cases.
#pragma once

#include "assay/failure.hpp"
#include "assay/hooks.hpp"
#include "assay/plan.hpp"
#include "assay/registry.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

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
  std::string key, operation, variant, problem;
  int threads = 1;
  std::filesystem::path file{};  ///< that holds the problem, as Case

  std::string workload;  ///< other inputs or another meaning: not comparable
  std::string code;      ///< hash of the variant's machine code; empty when unknown
  std::string skipped;   ///< why it cannot run here; empty when it can

  std::string wrong{};  ///< how it failed a corner case; empty where it passed, and in older programs
  std::optional<Failure> failure{};  ///< where its process ended there
};

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

}  // namespace assay
