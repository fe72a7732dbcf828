/// Suites: tables of cases with how often each occurs in one training step.
#pragma once

#include "assay/registry.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// One row of a suite: an operation on one problem.
struct Case {
  std::string operation;
  std::string problem;  ///< canonical text; begins with `trace=FILE` where a file holds the problem
  double per_step = 0;  ///< occurrences in one training step; 0 for a case outside any network
  std::string note;
  std::filesystem::path file{};  ///< that file, from the root; empty where the fields say all
};

/// Returns the fields of a problem as its operation knows them: its text or, where `file` holds the problem,
/// what is in there and the fields after `trace=FILE`. Throws Error where the file cannot be used.
std::string fields_of(const Operation& operation, const std::string& problem,
                      const std::filesystem::path& file);

struct Suite {
  std::string name;
  std::string about;           ///< model, batch, and where the shapes come from
  double steps_per_epoch = 0;  ///< 0 when the suite is no network: then no epoch is predicted
  std::vector<Case> cases;
};

/// Reads and validates a suite file. In place of its path there may be the name of one of the project's
/// suites, or cases as core/plan/suite.hpp has them. Throws Error naming the file and the line and column,
/// key or case at fault: unreadable, invalid JSON, wrong types, unknown keys, operations or fields, extents
/// out of range, repeated cases, and files of cases that cannot be used or lie outside its folder.
Suite load_suite(const std::filesystem::path& file, const Registry& registry);

}  // namespace assay
