// The idea: workers do not wait record by record. On a hot file each prefetches the records that it copies
// next; on a cold file each requests all pages of its batch, so the disk has workers x batch requests at
// once.

#include "data_loader/loader.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  r.add<DataLoader>({.name = "worker_threads_prefetch",
                     .summary = "threads that ask for the lines or pages of a batch before they copy",
                     .helpers = [](const DataLoader::Problem& p) { return p.workers; },
                     .prepare = [](const DataLoader::Problem& p, const DataLoader::Input& in,
                                   const Context&) { return prepare_loader(p, in, Reading::ahead); },
                     .unfit = without_such_file});
}};

}  // namespace assay
