// Winograd's algorithm where corner cases are too small: more than one block of tiles, of either size, and
// all ways to divide a layer among threads.

#include "agreement_test.hpp"

#include "assay/ops/conv2d.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace assay {
namespace {

/// Returns how many trials of the variants of both operations whose names begin with `name` agreed.
int agreeing(const std::vector<std::string>& problems, const std::string& name,
             const std::vector<int>& threads) {
  constexpr std::array fills{Fill::uniform};
  const Registry registry = Registry::linked();
  int agreed = 0;
  for (const char* const of : {"conv2d_winograd", "conv2d_winograd_data_gradient"}) {
    for (const std::string& problem : problems) {
      agreed += agreeing(registry.at(of), problem, {name}, threads, fills);
    }
  }
  return agreed;
}

const std::vector<std::string> layers{
    "n=1,c=24,f=40,h=41,w=75,pad=1",   // blocks of a second-level cache, cut within rows of tiles
    "n=7,c=130,f=70,h=13,w=14,pad=1",  // weights past half of one, and more than one block
    "n=1,c=150,f=150,h=6,w=7,pad=1",   // the same with fewer tiles than a block
    "n=30,c=3,f=20,h=7,w=6,pad=1",     // runs of two tiles
    "n=1,c=1,f=200,h=10,w=11",         // few channels under many filters, and the other way round
    "n=2,c=200,f=1,h=18,w=17,pad=2"};

TEST(WinogradBlocks, AgreeWhereALayerIsCutIntoThem) { EXPECT_GE(agreeing(layers, "winograd@", {1}), 2 * 6); }

TEST(ThreadedWinograd, AgreesForEveryDivisionOfALayer) {
  EXPECT_EQ(agreeing(layers, "threaded", {1, 2, 3, 5}), 2 * 6 * 4);
}

}  // namespace
}  // namespace assay
