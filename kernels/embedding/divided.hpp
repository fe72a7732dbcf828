// The best variants here of the operations beside each other, on so many threads that have been started.
#pragma once

#include "assay/ops/embedding.hpp"

namespace assay::embedding {

/// Ids divided. Defined in prefetched.cpp.
Variant<Embedding>::Kernel prefetched(const Problem& p, int threads);
/// Columns divided. Defined in sorted.cpp.
Variant<EmbeddingBackward>::Kernel sorted(const Problem& p, int threads);
/// Elements divided. Defined in simd.cpp.
Variant<Dropout>::Kernel dropped(const Dropout::Problem& p, int threads);

}  // namespace assay::embedding
