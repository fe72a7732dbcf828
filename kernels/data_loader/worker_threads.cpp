// The idea: threads load batches ahead into a bounded number of slots while the caller computes on the
// previous batch. If loading takes less time than the step, it costs only the processors of the threads.

#include "data_loader/loader.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  add_loader(r, "worker_threads", "threads load batches ahead, one copy per record", Reading::plain);
}};

}  // namespace assay
