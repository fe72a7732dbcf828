// The threaded adapter: products of one phase that are cut differently, and more threads than parts.

#include "threaded_test.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedLora, AgreesForEveryNumberOfThreads) {
  for (const std::string operation : {"lora", "lora_backward"}) {
    for (const std::string problem : {"m=16,n=257,k=129,r=8", "m=301,n=65,k=67,r=3,scale=-1",
                                      "m=1,n=1031,k=1033,r=16,scale=4", "m=1031,n=1,k=257,r=2"}) {
      expect_threaded_agreement(operation, problem);
    }
  }
}

}  // namespace
}  // namespace assay
