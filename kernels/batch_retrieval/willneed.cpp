// The idea: all pages of the batch are requested before the first record is copied, so the disk serves many
// requests at once in place of one missing page after the other. Requests are sorted: pages that touch are
// one request.

#include "batch_retrieval/records.hpp"

#include <optional>
#include <utility>

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;

auto prepare(const Problem& p, const BatchRetrieval::Input& input, const Context&) {
  std::optional<RecordFile> own;  // mapping of a cold file without read-ahead
  if (p.state() == FileState::cold) own.emplace(input.records.file.again(RecordFile::Pages::at_random));
  return [own = std::move(own), requests = PageRequests(p.batch)](const auto& in, auto& out) mutable {
    const RecordFile& file = own ? *own : in.records.file;
    const auto indices = in.window();
    requests.ask(file, indices);
    file.copy(indices, out.batch.data());
    in.records.end_call(file);
  };
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "willneed",
                         .summary = "asks for all pages of the batch (MADV_WILLNEED) before it copies",
                         .prepare = prepare,
                         .unfit = without_such_file});
}};

}  // namespace
}  // namespace assay
