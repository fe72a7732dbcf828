// The idea: the file is read in ascending order, and each record goes to its place in the batch at once.
// Neighbours share pages, and repeated records are in a cache the second time. The sort remembers where each
// index stood, so that there is no order to restore afterwards, and repeated indices need no care.

#include "assay/ops/batch_retrieval.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;

auto prepare(const Problem& p, const BatchRetrieval::Input&, const Context&) {
  using Request = std::pair<Index, Index>;  // record, place in the batch
  const auto requests = std::make_shared<std::vector<Request>>(static_cast<std::size_t>(p.batch));
  return [p, requests](const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
    Index place = 0;
    for (const Index i : in.next_window()) {
      (*requests)[static_cast<std::size_t>(place)] = {i, place};
      ++place;
    }
    // Places are different, so that equal indices stay in their order: a stable sort without its memory.
    std::ranges::sort(*requests);
    for (const auto& [i, b] : *requests) {
      std::memcpy(out.batch.data() + b * p.bytes, in.records.file.record(i),
                  static_cast<std::size_t>(p.bytes));
    }
    in.records.end_call();
  };
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>(
      {.name = "sorted",
       .summary = "reads in ascending order and scatters into the batch",
       .prepare = prepare,
       .unfit = [](const Problem& p, const Context&) { return no_such_file_state(p.state()); }});
}};

}  // namespace
}  // namespace assay
