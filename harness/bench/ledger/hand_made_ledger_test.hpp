/// A ledger with round numbers, for tests that are verified by hand.
#pragma once

#include "bench/ledger/ledger.hpp"

#include <algorithm>
#include <string>

namespace assay::hand_made {

inline constexpr const char* packed = "gemm/packed/m=64#1";
inline constexpr const char* naive = "gemm/naive/m=64#1";

inline Date day(const std::string& text) { return date_from(text).value(); }

/// Commit number `i` of a history.
inline std::string commit(int i) { return "c0ffee" + std::string(1, static_cast<char>('0' + i)); }

/// A step from commit i to i + 1, a tenth of a percent sure.
inline Step step(int i, double log_ratio_of_packed) {
  return {.base = commit(i),
          .head = commit(i + 1),
          .date = day("2026-03-0" + std::to_string(i + 1)),
          .rows = {{naive, {0, 0.001, 40}}, {packed, {log_ratio_of_packed, 0.001, 40}}}};
}

/// Release v1 is commit 0; two steps since, of 1 % each for `packed`.
inline Ledger ledger() {
  return {.suite = "smoke",
          .release = "v1",
          .release_commit = commit(0),
          .released_on = day("2026-03-01"),
          .steps = {step(0, 0.01), step(1, 0.01)}};
}

inline Acceptance acceptance() {
  return {.key = packed,
          .ratio = 1.08,
          .reason = "exact tails",
          .until = day("2026-05-01"),
          .accepted_on = day("2026-03-02"),
          .commit = commit(1),
          .release = "v1"};
}

inline constexpr const char* plan = "memory_pool_plan/by_size/blocks=9#1";

/// The height of a plan, up to 1,300 bytes.
inline Acceptance acceptance_of_height() {
  Acceptance out = acceptance();
  out.key = plan;
  out.figure = "height";
  out.value = 1300;
  out.reason = "fewer searches";
  return out;
}

/// Whether an acceptance ran out or a row crept: a ledger fails a comparison by nothing else.
inline bool ledger_fails(const Comparison& comparison) {
  return !comparison.objections.empty() || std::ranges::any_of(comparison.rows, [](const ComparedRow& row) {
    return !row.crept_since.empty();
  });
}

}  // namespace assay::hand_made
