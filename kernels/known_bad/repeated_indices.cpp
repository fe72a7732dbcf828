// Published: records are fetched in ascending order of their indices, and the order of the request is
// restored by `places = [indices.index(i) for i in ascending]; batch = fetched[argsort(places)]`. index()
// finds the first place of an index that is there twice, both copies get the same rank, and the sort puts
// them behind one another: [5, 3, 5] comes back as [5, 5, 3]. It is right without repeats, and takes n^2
// comparisons.

#include "assay/ops/batch_retrieval.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay {
namespace {

void run(const BatchRetrieval::Problem& p, const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
  const auto indices = in.window();
  std::vector<Index> ascending(indices.begin(), indices.end());
  std::ranges::sort(ascending);
  std::vector<std::pair<Index, Index>> places;  // in the request, and in the sorted indices
  for (const Index i : ascending) {
    places.emplace_back(std::ranges::find(indices, i) - indices.begin(), static_cast<Index>(places.size()));
  }
  std::ranges::sort(places);
  std::byte* to = out.batch.data();
  for (const auto& [first_place, rank] : places) {
    const Index i = ascending[static_cast<std::size_t>(rank)];
    std::memcpy(to, in.records.file.record(i), static_cast<std::size_t>(p.bytes));
    to += p.bytes;
  }
  in.records.end_call();
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "repeated_indices",
                         .summary = "sorted fetch, order restored by looking up each index",
                         .known_bad = "ADR-003: an index that is requested twice finds the first place twice",
                         .run = run});
}};

}  // namespace
}  // namespace assay
