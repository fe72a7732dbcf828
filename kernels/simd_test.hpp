// For tests of the tiers of `simd` on problems beyond the corner cases: every tier that runs here must agree.
#pragma once

#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace assay {

/// Expects agreement of every variant simd@<tier>, under every fill of the operation, one element off
/// alignment.
inline void expect_simd_agreement(const Operation& operation, const std::string& problem) {
  for (const Fill fill : operation.fills()) {
    const auto workload = operation.open(problem, {fill, Rng(42), {.skew = 1}});
    int checked = 0;
    for (std::size_t v = 0; v < operation.variants().size(); ++v) {
      const std::string& name = operation.variants()[v].name;
      if (!name.starts_with("simd@") || operation.unfit(v, problem, {})) continue;
      const Agreement agreement = workload->check(v, {}, Workload::no_rehearsal);
      EXPECT_TRUE(agreement.agrees) << name << "/" << problem << ", seed 42: " << agreement.detail;
      ++checked;
    }
    EXPECT_GT(checked, 0) << problem << ": the portable tier runs everywhere";
  }
}

inline void expect_simd_agreement(const std::string& name, std::span<const std::string> problems) {
  const Registry registry = Registry::linked();
  for (const std::string& problem : problems) expect_simd_agreement(registry.at(name), problem);
}

}  // namespace assay
