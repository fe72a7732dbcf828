/// The networks that a training step trains: their extents, and where each of their parameters lies in one
/// flat vector.
#pragma once

#include "assay/problem.hpp"
#include "assay/random.hpp"

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::training {

/// The classes of an image: the ten digits, or the ten classes of CIFAR-10.
inline constexpr Index classes = 10;

/// `classifier`: conv 3 x 3 -> relu -> conv 3 x 3, stride 2, twice the filters -> relu -> dense.
/// `transformer`: patches -> one pre-norm block of attention and MLP -> mean over tokens -> dense.
enum class Kind : Index { classifier, transformer };
/// The tokens that a token attends to: all, or those up to itself.
enum class Mask : Index { full, causal };
inline constexpr std::array<std::string_view, 2> kinds{"classifier", "transformer"}, masks{"full", "causal"};

/// Images of channels x side x side pixels in, logits of `classes` classes out.
struct Network {
  Kind kind = Kind::classifier;
  Index channels = 3, side = 16;
  Index width = 16;  ///< filters of the first convolution, or numbers per token
  // The next three are of the transformer alone.
  Index patch = 4;  ///< pixels per side of the square that becomes a token
  Index heads = 4;
  Mask mask = Mask::full;

  Index pixels() const { return channels * side * side; }
  /// Rows and columns after the convolution of stride 2.
  Index half_side() const { return (side + 1) / 2; }
  Index tokens() const { return (side / patch) * (side / patch); }
  Index patch_pixels() const { return channels * patch * patch; }
  /// Numbers per token inside the MLP: four times the width, as in Vaswani et al. (2017), section 3.3.
  Index hidden() const { return 4 * width; }
};

/// Throws Error naming the field: a patch that does not divide the side, heads that do not divide the width.
void require_valid(const Network& network);

/// Parameters that belong together, row-major in the flat vector.
struct Segment {
  std::string_view name;
  std::vector<Index> extents;
  Index begin = 0, count = 0;
  /// The inputs that each output of weights sums over; 0 for biases and other added parameters, 1 for
  /// scales.
  Index fan_in = 0;
};

/// The flat vector: segments one after the other, without gaps.
///
/// classifier, with F = width:
///   conv1.weight[F, channels, 3, 3]  conv1.bias[F]  conv2.weight[2 F, F, 3, 3]  conv2.bias[2 F]
///   dense.weight[2 F half_side^2, 10]  dense.bias[10]
/// transformer, with D = width:
///   embed.weight[channels patch^2, D]  position[tokens, D]
///   norm1.gamma[D]  norm1.beta[D]  attention.weight[D, 3 D]  project.weight[D, D]  project.bias[D]
///   norm2.gamma[D]  norm2.beta[D]  expand.weight[D, 4 D]  expand.bias[4 D]  contract.weight[4 D, D]
///   contract.bias[D]  head.weight[D, 10]  head.bias[10]
/// Weights of dense layers are stored [inputs, outputs]. attention.weight holds queries, keys and values side
/// by side, and has no bias: that of the keys shifts all scores of a query alike, so that its gradient is
/// zero but for rounding, which AdamW would blow up to steps of full length.
class Segments {
 public:
  explicit Segments(const Network& network);

  const std::vector<Segment>& all() const& { return all_; }
  std::vector<Segment> all() && { return std::move(all_); }  // for a loop over those of a temporary
  Index total() const { return total_; }
  /// `vector` from the segment of that name on. The name must be one of the network's.
  template <class T>
  T* in(T* vector, std::string_view name) const {
    return vector + begin_of(name);
  }

 private:
  Index begin_of(std::string_view name) const;
  void add(std::string_view name, std::vector<Index> extents, Index fan_in);

  std::vector<Segment> all_;
  Index total_ = 0;
};

/// Writes parameters to start from: weights with the variance 1 / fan_in (LeCun, Bottou, Orr and Mueller,
/// Efficient BackProp, 1998, section 4.6), uniform; scales in [0.9, 1.1); added parameters in
/// [-0.1, 0.1) and not 0, so that a variant that leaves them out is seen.
void initialize(const Network& network, Rng& rng, std::span<float> parameters);

/// Multiply-adds of the products in one forward pass over an image; and in a backward pass, which forms two
/// products for each but no gradient of the pixels.
double forward_multiply_adds(const Network& network);
double backward_multiply_adds(const Network& network);

/// Images with their classes. Neither array belongs to it.
struct Batch {
  const float* pixels = nullptr;  ///< [n, channels, side, side]
  const Index* labels = nullptr;  ///< [n], each in [0, classes)
  Index n = 0;
};

}  // namespace assay::training
