// The idea: all pages of the batch are requested before the first record is copied, so the disk serves many
// requests at once in place of one missing page after the other. Requests are sorted: pages that touch are
// one request.

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
  std::optional<RecordFile> own;  ///< mapping of a cold file without read-ahead
  PageRequests requests;
};

auto prepare(const Problem& p, const BatchRetrieval::Input& input, const Context&) {
  const auto plan = std::make_shared<Plan>(Plan{std::nullopt, PageRequests(p.batch)});
  if (p.state() == FileState::cold) plan->own.emplace(input.records.file.again(RecordFile::Pages::at_random));
  return [p, plan](const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
    const RecordFile& file = plan->own ? *plan->own : in.records.file;
    const auto indices = in.window();
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
