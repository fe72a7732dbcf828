// The threaded product with a vector, above the size from which it divides its work.

#include "threaded_test.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedGemv, AgreesWhereItsPartsAreOfUnlikeSize) {
  for (const std::string problem : {"m=521,n=1031", "m=521,n=1031,trans=t", "m=3,n=100003", "m=100003,n=3",
                                    "m=3,n=100003,trans=t", "m=100003,n=3,trans=t"}) {
    expect_threaded_agreement("gemv", problem);
  }
}

}  // namespace
}  // namespace assay
