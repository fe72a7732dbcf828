// The threaded layer: rows of the batch that no number of threads divides, fewer rows than threads, and one.

#include "threaded_test.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedLstm, AgreesForEveryNumberOfThreads) {
  for (const std::string operation : {"lstm", "lstm_backward"}) {
    for (const std::string problem :
         {"steps=4,batch=13,inputs=67,hidden=65", "steps=9,batch=2,inputs=129,hidden=64",
          "steps=2,batch=1,inputs=257,hidden=130", "steps=1,batch=65,inputs=31,hidden=97"}) {
      expect_threaded_agreement(operation, problem);
    }
  }
}

}  // namespace
}  // namespace assay
