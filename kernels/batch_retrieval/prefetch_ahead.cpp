// The idea: while a record is copied, the cache lines of the next records are already in flight. A copy at a
// random place waits for memory, and the processor looks ahead only as far as its window of instructions.

#include "batch_retrieval/records.hpp"

namespace assay {
namespace {

void run(const BatchRetrieval::Problem&, const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
  copy_ahead(in.records.file, in.window(), out.batch.data());
  in.records.end_call();
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "prefetch_ahead",
                         .summary = "software prefetch of the records that are copied next",
                         .run = run,
                         .unfit = without_such_file});
}};

}  // namespace
}  // namespace assay
