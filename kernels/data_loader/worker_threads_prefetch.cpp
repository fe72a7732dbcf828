// The idea: workers do not wait record by record. On a hot file each prefetches the records that it copies
// next; on a cold file each requests all pages of its batch, so the disk has workers x batch requests at
// once.

#include "data_loader/loader.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  add_loader(r, "worker_threads_prefetch",
             "threads that ask for the lines or pages of a batch before they copy", Reading::ahead);
}};

}  // namespace assay
