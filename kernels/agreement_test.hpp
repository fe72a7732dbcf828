// For tests of problems beyond the corner cases: agreement of the variants of an operation, by name.
#pragma once

#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Checks every variant whose name begins with one of `names`, with each number of threads, under each fill,
/// one element off alignment, and expects agreement. Returns the number of trials that agreed. A plan is
/// called once; corner cases call every plan twice.
inline int agreeing(const Operation& operation, const std::string& problem,
                    const std::vector<std::string>& names, const std::vector<int>& threads,
                    std::span<const Fill> fills) {
  constexpr std::uint64_t seed = 42;
  int agreed = 0;
  for (const Fill fill : fills) {
    const auto workload = operation.open(problem, {fill, Rng(seed), {.skew = 1}});
    for (std::size_t v = 0; v < operation.variants().size(); ++v) {
      const std::string& variant = operation.variants()[v].name;
      const auto begins = [&](const std::string& prefix) { return variant.starts_with(prefix); };
      if (std::ranges::none_of(names, begins)) continue;
      for (const int count : threads) {
        if (operation.unfit(v, problem, {count})) continue;
        const Agreement agreement = workload->check(v, {count}, Workload::no_rehearsal);
        EXPECT_TRUE(agreement.agrees) << operation.name() << "/" << variant << "/" << problem << "#" << count
                                      << ", seed " << seed << ": " << agreement.detail;
        agreed += agreement.agrees ? 1 : 0;
      }
    }
  }
  return agreed;
}

}  // namespace assay
