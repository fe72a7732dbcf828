// For tests of threaded variants: agreement on a problem with numbers of threads that divide nothing evenly.
#pragma once

#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <span>
#include <stdexcept>
#include <string>

namespace assay {

/// Position of the variant `threaded`. Throws std::logic_error when there is none.
inline std::size_t threaded_variant(const Operation& operation) {
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (operation.variants()[v].name == "threaded") return v;
  }
  throw std::logic_error(std::string(operation.name()) + " has no variant named threaded");
}

/// Expects agreement with 1, 2, 3 and 7 threads, under every fill of the operation, one element off
/// alignment. With 3 threads a plan is called twice; corner cases call every plan twice.
inline void expect_threaded_agreement(const Operation& operation, const std::string& problem) {
  for (const Fill fill : operation.fills()) {
    const auto workload = operation.open(problem, {fill, Rng(42), {.skew = 1}});
    for (const int threads : {1, 2, 3, 7}) {
      const Agreement agreement =
          workload->check(threaded_variant(operation), {threads},
                          threads != 3 ? Workload::no_rehearsal : Workload::short_rehearsal);
      EXPECT_TRUE(agreement.agrees) << problem << "#" << threads << ", seed 42: " << agreement.detail;
    }
  }
}

inline void expect_threaded_agreement(const std::string& name, const std::string& problem) {
  const Registry registry = Registry::linked();
  expect_threaded_agreement(registry.at(name), problem);
}

}  // namespace assay
