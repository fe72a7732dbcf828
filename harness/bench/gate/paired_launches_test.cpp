#include "bench/gate/two_builds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

std::vector<std::size_t> links_of(std::uint64_t seed, int first) {
  std::vector<std::size_t> out;
  for (int launch = first; launch < first + 8; ++launch) out.push_back(link_of(seed, launch, 8));
  return out;
}

TEST(Links, ComeOnceEachBeforeAnyComesAgain) {
  std::set<std::vector<std::size_t>> orders;
  for (const std::uint64_t seed : {1U, 42U}) {
    for (const int first : {0, 8, 136}) {
      const auto links = links_of(seed, first);
      EXPECT_EQ(std::set<std::size_t>(links.begin(), links.end()).size(), 8U);
      orders.insert(links);
    }
  }
  EXPECT_GT(orders.size(), 1U) << "orders are drawn";
  EXPECT_EQ(link_of(42, 5, 1), 0U);
}

}  // namespace
}  // namespace assay
