// The variants of convolution where corner cases are too small: more than one block in each direction, and
// more threads than images, filters or channels.

#include "agreement_test.hpp"

#include "assay/ops/conv2d.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace assay {
namespace {

constexpr std::array operations{"conv2d", "conv2d_data_gradient", "conv2d_weight_gradient"};

/// Returns how many trials agreed, over all operations and problems.
int agreeing(const std::vector<std::string>& problems, const std::vector<std::string>& names,
             const std::vector<int>& threads) {
  constexpr std::array fills{Fill::exact, Fill::uniform};
  const Registry registry = Registry::linked();
  int agreed = 0;
  for (const char* const name : operations) {
    for (const std::string& problem : problems) {
      agreed += agreeing(registry.at(name), problem, names, threads, fills);
    }
  }
  return agreed;
}

TEST(ConvolutionBlocks, AgreeWhereALayerIsCutIntoThem) {
  const std::vector<std::string> problems{
      // Few pixels under many weights, of y and of dx.
      "n=1,c=477,f=33,h=3,w=3,kernel=3,pad=1",
      "n=1,c=33,f=477,h=3,w=3,kernel=3,pad=1",
      // A dy of more than 2048 pixels, cut by rows, in a batch that is cut by images.
      "n=3,c=2,f=3,h=59,w=47,kernel=3,pad=1",
      // More floats than are taken at once for dw.
      "n=5,c=61,f=2,h=67,w=64,kernel=1,stride=2",
      // Rows of the window longer than a block of columns, and of more taps than one has rows.
      "n=1,c=2,f=2,h=3,w=530,kernel=3,pad=1",
      "n=1,c=2,f=3,h=18,w=17,kernel=17,pad=1",
  };
  EXPECT_GE(agreeing(problems, {"direct@", "implicit_gemm@", "im2col_gemm"}, {1}), 100);
}

TEST(ConvolutionBlocks, OfBroadcastPixelsAgree) {
  // For second-level caches up to 1 MiB.
  const std::vector<std::string> problems{
      "n=1,c=64,f=32,h=41,w=39,kernel=3,stride=2,pad=1",  // more places than a strip of resident weights
      "n=4,c=128,f=128,h=6,w=6,kernel=3,pad=1",           // weights that are turned a panel at a time
      "n=5,c=512,f=272,h=14,w=14,kernel=1,stride=2",      // the same for a few images at a time
      "n=2,c=512,f=272,h=24,w=24,kernel=1,stride=2",      // weights and an image that are both too large
      // Panels of two to five vectors, with and without a rest of rows, of y and then of dx.
      "n=2,c=16,f=47,h=9,w=10,kernel=3,pad=1", "n=2,c=24,f=79,h=9,w=10,kernel=3,pad=1",
      "n=2,c=80,f=95,h=9,w=10,kernel=3,pad=1", "n=2,c=47,f=24,h=9,w=10,kernel=3,stride=2,pad=1",
      // Planes of y a multiple of 4096 bytes apart.
      "n=1,c=16,f=64,h=32,w=32,kernel=3,pad=1", "n=1,c=9,f=48,h=34,w=34,kernel=3"};
  EXPECT_GE(agreeing(problems, {"direct@"}, {1}), 3 * 10 * 2);
}

TEST(ThreadedConvolution, AgreesForEveryDivisionOfALayer) {
  const std::vector<std::string> problems{
      "n=1,c=23,f=97,h=17,w=15,kernel=3,pad=1",           // filters, in whole panels
      "n=6,c=37,f=31,h=11,w=13,kernel=3,stride=2,pad=1",  // images, or channels of dw
      "n=2,c=41,f=67,h=13,w=29,kernel=1",                 // products, by rows
      "n=3,c=7,f=9,h=71,w=67,kernel=1",                   // products, by pixels
      "n=13,c=5,f=6,h=23,w=21,kernel=3,pad=1",            // more images than threads, not a multiple
      "n=1,c=80,f=80,h=17,w=15,kernel=3,pad=1",           // places, or vectors of filters
      "n=2,c=16,f=160,h=5,w=5,kernel=3,pad=1",            // panels of filters, not images
      "n=1,c=3,f=35,h=33,w=34,kernel=5,stride=2,pad=2",   // rows of places: fewer channels of dx than vectors
      "n=1,c=64,f=3,h=31,w=29,kernel=3,dilation=2,pad=2",  // the same for y
      "n=10,c=64,f=96,h=7,w=7,kernel=1",                   // products of few pixels
      "n=10,c=64,f=96,h=1,w=2,kernel=1",                   // none, since pixels do not fill vectors
      "n=3,c=41,f=67,h=23,w=19,kernel=1,stride=2",         // columns, by filters and channels
      "n=1,c=160,f=96,h=57,w=31,kernel=1,stride=2",        // the same, y by places
      "n=2,c=150,f=96,h=9,w=10,kernel=1,stride=3,pad=1",   // the same, zeros among them
      // Groups: more than threads, two of many filters, fewer than channels; one per channel.
      "n=2,c=128,f=128,h=9,w=11,kernel=3,pad=1,groups=32", "n=3,c=34,f=144,h=13,w=15,kernel=3,pad=1,groups=2",
      "n=5,c=48,f=72,h=17,w=19,kernel=1,groups=3", "n=3,c=70,f=140,h=31,w=33,kernel=3,pad=1,groups=70",
      "n=6,c=3,f=3,h=130,w=131,kernel=5,stride=2,pad=2,groups=3"};
  EXPECT_EQ(agreeing(problems, {"threaded"}, {1, 2, 3, 5}), 3 * 19 * 2 * 4);
}

}  // namespace
}  // namespace assay
