// The idea: MADV_RANDOM on the mapping. By default the kernel reads the surroundings of a missing page, as
// much as the disk's read-ahead says; for random records nearly all of that is never used.

#include "assay/ops/data_loader.hpp"

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;

auto prepare(const Problem&, const BatchRetrieval::Input& input, const Context&) {
  // A mapping of its own: on the input's mapping, the advice would hold for every variant.
  return [file = input.records.file.again(RecordFile::Pages::at_random)](const auto& in, auto& out) {
    file.copy(in.window(), out.batch.data());
    in.records.end_call(file);
  };
}

std::optional<std::string> unfit(const Problem& p, const Context&) {
  if (p.state() == FileState::hot) return "MADV_RANDOM changes nothing where no page is missing";
  return no_such_file_state(p.state());
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "random_advice",
                         .summary = "a mapping with MADV_RANDOM: nothing is read around a missing page",
                         .prepare = prepare,
                         .unfit = unfit});
}};

}  // namespace
}  // namespace assay
