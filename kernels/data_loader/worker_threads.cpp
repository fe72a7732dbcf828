// The idea: threads load batches ahead into a bounded number of slots while the caller computes on the
// previous batch. If loading takes less time than the step, it costs only the processors of the threads.

#include "data_loader/loader.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  r.add<DataLoader>({.name = "worker_threads",
                     .summary = "threads load batches ahead, one copy per record",
                     .helpers = [](const DataLoader::Problem& p) { return p.workers; },
                     .prepare = [](const DataLoader::Problem& p, const DataLoader::Input& in,
                                   const Context&) { return prepare_loader(p, in, Reading::plain); },
                     .unfit = without_such_file});
}};

}  // namespace assay
