// The idea: the file is read in ascending order, and each record goes to its place in the batch at once.
// Neighbours share pages, and repeated records are in a cache the second time. The sort keeps the place of
// each index, so no order has to be restored afterwards, and repeated indices need no care.

#include "batch_retrieval/records.hpp"

#include <cstdint>

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;

/// A request as one number, which sorts in half the time of a pair. Both parts are below 2^31, the largest
/// extent.
constexpr int place_bits = 32;

auto prepare(const Problem& p, const BatchRetrieval::Input&, const Context&) {
  return [p, requests = std::vector<std::uint64_t>(static_cast<std::size_t>(p.batch))](
             const BatchRetrieval::Input& in, BatchRetrieval::Output& out) mutable {
    std::uint64_t place = 0;
    for (const Index i : in.window()) {
      requests[place] = static_cast<std::uint64_t>(i) << place_bits | place;
      ++place;
    }
    // Places are different, so equal indices keep their order: a stable sort without extra memory.
    std::ranges::sort(requests);
    for (const std::uint64_t request : requests) {
      const auto i = static_cast<Index>(request >> place_bits);
      const auto b = static_cast<Index>(static_cast<std::uint32_t>(request));
      std::memcpy(out.batch.data() + b * p.bytes, in.records.file.record(i),
                  static_cast<std::size_t>(p.bytes));
    }
    in.records.end_call();
  };
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "sorted",
                         .summary = "reads in ascending order and scatters into the batch",
                         .prepare = prepare,
                         .unfit = without_such_file});
}};

}  // namespace
}  // namespace assay
