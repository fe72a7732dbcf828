// The work that cheats leave out, delay or hide: a step of the optimizer, plain and right.
#pragma once

#include "assay/ops/adamw.hpp"

namespace assay::known_cheats {

inline void adamw_step(const AdamWPaper::Problem& p, const AdamWPaper::Input& in, AdamWPaper::Output& out) {
  const adamw::Constants<float> constants(p.t);
  for (Index i = 0; i < p.n; ++i) {
    const auto next = adamw::step<adamw::Paper, float>(in.g[i], {out.p[i], out.m[i], out.v[i]}, constants);
    out.p[i] = next.p;
    out.m[i] = next.m;
    out.v[i] = next.v;
  }
}

}  // namespace assay::known_cheats
