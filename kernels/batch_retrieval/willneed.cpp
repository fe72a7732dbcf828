// The idea: all pages of the batch are asked for before the first record is copied, so that the disk serves
// many requests at once and not one missing page after the other. Sorted, pages that touch are one request.

#include "batch_retrieval/page_requests.hpp"

#include "assay/ops/batch_retrieval.hpp"
#include "assay/registry.hpp"

#include <cstring>
#include <memory>
#include <optional>

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;

struct Plan {
  std::optional<RecordFile> own;  ///< of a cold file: nothing is to be read around a page besides
  PageRequests requests;
};

auto prepare(const Problem& p, const BatchRetrieval::Input& input, const Context&) {
  const auto plan = std::make_shared<Plan>(Plan{std::nullopt, PageRequests(p.batch)});
  if (p.state() == FileState::cold) plan->own.emplace(input.records.file.again(RecordFile::Pages::at_random));
  return [p, plan](const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
    const RecordFile& file = plan->own ? *plan->own : in.records.file;
    const auto indices = in.next_window();
    plan->requests.ask(file, indices);
    std::byte* to = out.batch.data();
    for (const Index i : indices) {
      std::memcpy(to, file.record(i), static_cast<std::size_t>(p.bytes));
      to += p.bytes;
    }
    in.records.end_call(file);
  };
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>(
      {.name = "willneed",
       .summary = "asks for all pages of the batch (MADV_WILLNEED) before it copies",
       .prepare = prepare,
       .unfit = [](const Problem& p, const Context&) { return no_such_file_state(p.state()); }});
}};

}  // namespace
}  // namespace assay
