/// The contract `train_step`: one step of training a small network, composed of the other hot paths.
#pragma once

#include "assay/ops/network.hpp"
#include "assay/ops/rounded.hpp"
#include "assay/ops/trainer.hpp"
#include "assay/registry.hpp"

#include <vector>

namespace assay {

/// From pixels x[batch, channels, side, side], labels[batch] and the state p, m, v of a network:
///   loss = mean over the batch of -log(softmax(logits(p, x))[label])
///   g = the gradient of loss by p                      forward and backward pass
///   norm = |g|,  y = min(1, 1 / (norm + 1e-6)) g       gradient_clip
///   p', m', v' = step t of adamw, the form of the paper, with the gradients y
/// All are f32 and outputs; p, m and v are inputs and stay, so that every call takes the same step. (A
/// Trainer updates them in place.) The networks are in model.hpp, the layout of the
/// vectors p, m, v and g in network.hpp: named segments without gaps. `width` stands for the filters of the
/// classifier and the numbers per token of the transformer; patch, heads and mask are of the transformer, and
/// patch must divide side, heads width.
///
/// Undefined: pixels, parameters and moments that are not finite.
///
/// Bound. A step is judged in parts, each from the parts written before it, since a bound on p' alone would
/// say nothing: AdamW divides m by the root of v, and where g is small beside its own rounding error the
/// sign of the update is arbitrary.
/// * loss and g: |fl(x) - x| <= 8 s, where s is the deviation that Rounded carries along with x through the
///   text of the reference: running error analysis with roundings as independent errors (Higham (2002),
///   section 3.3; Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019). It is the same for every order of the
///   sums, with or without FMA, and takes the activations at the bounds of their own contracts. Where a
///   relu's operand is closer to 0 than its bound, either branch is right, and all that depends on it may be
///   off by what it lets through.
///   The 8 is empirical: independence is assumed. Over 100 seeds of every corner case, naive and composed on
///   one thread and two, no element was further away than 1.2 s, and rounded_test.cpp, train_step_test.cpp
///   and training_test.cpp hold that no more than 2 s are needed. Bounds are mostly between 1e-5 and 1e-2 of
///   the root mean square of their segment, where no relu is open; wrong terms are of the order of 1.
/// * norm is judged as in gradient_clip, |fl(norm) - norm| <= g(36) norm of the written g.
/// * y meets 5 more roundings, as there, from the written g and norm, and is not written. So m', v' and p'
///   are judged by adamw's bound with those 5 added wherever y stands: once in m, twice in v, once in the
///   numerator and, halved by the root, once in the divisor of the update:
///     m': g(9) (beta1 |m| + (1 - beta1) |y|),  v': g(15) v',
///     p': g(3) |p - lr wd p| + g(29) F M / D,
///   F, M and D as in adamw, and each plus underflow. Even if g is right, an update that
///   is not that of the written g is rejected.
///
/// Source: the networks' own; stochastic gradient descent by backpropagation, Rumelhart, Hinton and Williams,
/// Nature 323, 1986; clipping and optimiser as in gradient_clip and adamw.
struct TrainStep : FromParts<TrainStep> {
  static constexpr std::string_view name = "train_step";
  static constexpr std::string_view about =
      "one training step of a small network: forward, loss, backward, clip, AdamW, f32";

  struct Problem {
    Index network = 0;  ///< position in training::kinds
    Index batch = 1;
    Index channels = 3, side = 16, width = 16;
    Index patch = 4, heads = 4, mask = 0;
    Index t = 1;  ///< step, counted from 1
    static constexpr Listed fields{choice("network", &Problem::network, training::kinds),
                                   field("batch", &Problem::batch),
                                   option("channels", &Problem::channels, 3, 1, 3),
                                   option("side", &Problem::side, 16, 8, 32),
                                   option("width", &Problem::width, 16, 1, 1024),
                                   option("patch", &Problem::patch, 4, 1, 32),
                                   option("heads", &Problem::heads, 4, 1, 64),
                                   choice("mask", &Problem::mask, training::masks),
                                   option("t", &Problem::t, 1, 1, 100000)};
    Index parameters() const { return training::Segments(network_of(*this)).total(); }
  };
  /// Throws Error as require_valid() does, and when a field of the transformer is set for a classifier.
  static training::Network network_of(const Problem& problem);

  struct Input {
    Buffer<float> pixels;
    Buffer<Index> labels;
    Buffer<float> p, m, v;
    static constexpr Listed parts{
        part("pixels", &Input::pixels, &Problem::batch, &Problem::channels, &Problem::side, &Problem::side),
        part("labels", &Input::labels, &Problem::batch), permuted("p", &Input::p, &Problem::parameters),
        permuted("m", &Input::m, &Problem::parameters), permuted("v", &Input::v, &Problem::parameters)};
    training::Batch batch() const { return {pixels.data(), labels.data(), labels.size()}; }
  };
  struct Output {
    Buffer<float> loss, norm, g, p, m, v;
    static constexpr Listed parts{part("loss", &Output::loss, 1),
                                  part("norm", &Output::norm, 1),
                                  part("g", &Output::g, &Problem::parameters),
                                  part("p", &Output::p, &Problem::parameters),
                                  part("m", &Output::m, &Problem::parameters),
                                  part("v", &Output::v, &Problem::parameters)};
  };
  struct Expected {
    Rounded loss;
    std::vector<double> g, bound;
  };

  static const Corners corners;
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// Operations: two for each multiply-add of the products of both passes, and those of clipping and AdamW.
  /// Activations are no part of the definition.
  static double flops(const Problem&);

  /// Does one step with a trainer of the problem's network, as every variant does.
  static void run(training::Trainer& trainer, const Problem& problem, const Input& input, Output& output);
};

extern template class detail::TypedOperation<TrainStep>;

}  // namespace assay
