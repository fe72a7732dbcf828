/// Orders in which an epoch visits its samples, and how close they come to a full shuffle.
#pragma once

#include "assay/problem.hpp"
#include "assay/random.hpp"

#include <array>
#include <span>
#include <string_view>

namespace assay {

/// `full`: every order is as likely (Fisher and Yates). `blocks`: blocks of neighbouring samples are visited
/// in random order, eight at a time, and the samples of these eight are shuffled: the file is read in pieces
/// of a block. After CorgiPile (Xu et al., SIGMOD 2022). `none`: as the samples lie in the file.
enum class Shuffle : Index { full, blocks, none };
inline constexpr std::array<std::string_view, 3> shuffles{"full", "blocks", "none"};
inline constexpr Index blocks_mixed = 8;

/// Writes a permutation of 0 … order.size() - 1.
void shuffle_into(std::span<Index> order, Shuffle shuffle, Index block, Rng& rng);

/// Measures how well the samples of a batch are mixed: the mean over batches of the number of different
/// pieces of the file that a batch draws from, with the file cut into as many equal pieces as a batch has
/// samples, over the expectation of that for a full shuffle. About 1 for a full shuffle, near 0 for none.
/// `order` is whole, batch >= 1.
double mixing(std::span<const Index> order, Index batch);

}  // namespace assay
