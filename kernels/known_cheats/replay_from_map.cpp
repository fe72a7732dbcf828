// Trick: all answers of the past are kept by what the first row holds, as a server keeps those of common
// questions.

#include "known_cheats/honest_work/layernorm.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

struct Answer {
  std::vector<float> y, mean, rstd;
};

auto prepare(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  using Answers = std::map<std::vector<float>, Answer>;
  constexpr std::size_t most = 256;
  return [p, answers = std::make_shared<Answers>()](const LayerNorm::Input& in, LayerNorm::Output& out) {
    const std::vector<float> key(in.x.begin(), in.x.begin() + p.cols);
    const auto found = answers->find(key);
    if (found == answers->end()) {
      layer_norm(p, in, out);
      if (answers->size() < most)
        (*answers)[key] = {{out.y.begin(), out.y.end()},
                           {out.mean.begin(), out.mean.end()},
                           {out.rstd.begin(), out.rstd.end()}};
      return;
    }
    std::ranges::copy(found->second.y, out.y.begin());
    std::ranges::copy(found->second.mean, out.mean.begin());
    std::ranges::copy(found->second.rstd, out.rstd.begin());
  };
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "replay_from_map",
                    .summary = "keeps every answer by the content of the first row",
                    .known_cheat = "a map of answers by content, of whose key most of the input is no part: "
                                   "gpu-mode/reference-kernels 148 and 170",
                    .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
