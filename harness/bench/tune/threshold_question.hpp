/// The question of `tune threshold`, checked against the registry: one operation, one field that grows,
/// two variants.
#pragma once

#include "assay/machine.hpp"
#include "assay/registry.hpp"

#include <string>
#include <vector>

namespace assay {

/// The request as somebody typed it.
struct ThresholdRequest {
  std::string subject;  ///< an operation with the fields that stay: `layernorm/cols=768`
  std::string vary;     ///< the field that grows: `rows`
  Index from = 0, to = 0;
  double step = 1.1;         ///< from one size to the next, about
  std::string between;       ///< two variants: `naive,simd@avx2` or `threaded#1,threaded#2`
  std::vector<int> threads;  ///< of those two where they do not say; one number stands for both
};

/// One of the two variants.
struct Contestant {
  std::size_t variant = 0;
  int threads = 1;
  std::string name;  ///< `simd@avx2`, `threaded#2`
};

/// Sizes that cannot be measured, with the reason at the first of them.
struct RefusedSizes {
  std::string by;  ///< the operation, a variant, or memory
  std::string why;
  std::vector<Index> sizes;
};

struct ThresholdQuestion {
  const Operation* operation = nullptr;
  std::string subject;  ///< as typed
  std::string fixed;    ///< its fields alone; may be empty
  std::string vary;
  Contestant first, second;
  std::vector<Index> sizes;  ///< both variants can be measured at these; growing
  std::vector<RefusedSizes> refused;

  /// Canonical text.
  std::string problem_at(Index size) const;
};

/// Throws Error naming the option at fault, with similar names where a name is unknown: of the operation, the
/// field or a variant; a range or thread counts that cannot be; when the contract refuses all sizes, or one
/// alone is left. When variants refuse all, `sizes` is empty: they do not run here.
ThresholdQuestion question_of(const ThresholdRequest& request, const Registry& registry,
                              const Machine& machine);

}  // namespace assay
