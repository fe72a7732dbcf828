// Lookups and their gradient with duplicates lost or ids cut off, and dropout that is not scaled.

#include "assay/ops/embedding.hpp"

#include <algorithm>

namespace assay {
namespace {

// Common in data prepared for GPT-2, whose ids fit: they are stored as unsigned numbers of 16 bits. Of a
// larger vocabulary, as Llama 3 has it, other rows are read.
void ids_of_16_bits(const embedding::Problem& p, const Embedding::Input& in, Embedding::Output& out) {
  for (Index i = 0; i < p.n; ++i) {
    const float* const row = in.table.data() + static_cast<std::uint16_t>(in.ids[i]) * p.d;
    std::copy_n(row, p.d, out.y.data() + i * p.d);
  }
}

// Common in ports to NumPy: dtable[ids] += dy reads all rows before it writes one, so that of the ids that
// name a row the last one counts.
void duplicates_lost(const embedding::Problem& p, const EmbeddingBackward::Input& in,
                     EmbeddingBackward::Output& out) {
  std::ranges::fill(out.dtable, 0.0F);
  for (Index i = 0; i < p.n; ++i) {
    std::copy_n(in.dy.data() + i * p.d, p.d, out.dtable.data() + in.ids[i] * p.d);
  }
}

// Published: Srivastava et al. (2014), figure 2, scale the weights in use and nothing in training. A network
// that is used as it was trained then has activations that are too large.
void scaled_in_use(const Dropout::Problem& p, const Dropout::Input& in, Dropout::Output& out) {
  for (Index i = 0; i < p.n; ++i) out.y[i] = in.x[i] * static_cast<float>(in.keep[i]);
}

const Register registered{[](Registry& r) {
  r.add<Embedding>({.name = "ids_of_16_bits",
                    .summary = "ids as they are stored for small vocabularies",
                    .known_bad = "token files of 16 bits, read with a vocabulary of 128,256 rows",
                    .run = ids_of_16_bits});
  r.add<EmbeddingBackward>({.name = "duplicates_lost",
                            .summary = "rows of dy stored, not added",
                            .known_bad = "dtable[ids] += dy in NumPy: one of the ids that name a row counts",
                            .run = duplicates_lost});
  r.add<Dropout>({.name = "scaled_in_use",
                  .summary = "numbers are kept as they are",
                  .known_bad = "JMLR 15, 2014, figure 2: scaled when the network is used, not in training",
                  .run = scaled_in_use});
}};

}  // namespace
}  // namespace assay
