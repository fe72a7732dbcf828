// A primitive of oneDNN 2 or 3 that runs on the arrays of a call, and the registration of the variants
// `onednn`.
#pragma once

#include "gemm/blocked.hpp"

#include "assay/registry.hpp"

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The shape of a source and its result, which version 2 takes once and version 3 for each.
#if DNNL_VERSION_MAJOR == 2
#define ASSAY_ONEDNN_BOTH(shape) shape
#else
#define ASSAY_ONEDNN_BOTH(shape) shape, shape
#endif

namespace assay::onednn {

using Shape = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

inline void demand(dnnl_status_t status) { dnnl::error::wrap_c_api(status, "oneDNN fails in a call"); }

inline Shape described(std::initializer_list<Index> extents, Tag tag) {
  return {extents, dnnl::memory::data_type::f32, tag};
}

/// Sets the number of threads. oneDNN takes as many threads as OpenMP would, a setting of the calling thread:
/// a primitive reads it when it is made and again when it runs, a product when it is called.
inline void use_threads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

inline void multiply(const blocked::Product& p, int threads) {
  use_threads(threads);
  demand(dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, p.alpha, p.a,
                    p.lda, p.b, p.ldb, p.beta, p.c, p.ldc));
}

/// A primitive on the arrays of a contract. An array that the primitive wants in another layout is converted
/// in each call, before it or after it.
class Plan {
 public:
  enum class Role { source, result };

  /// Throws dnnl::error, as the other functions do, where oneDNN refuses.
  explicit Plan(int threads) : threads_(threads) { use_threads(threads); }

  /// The description of a primitive by the words of its class.
  template <class Primitive, class... Words>
  typename Primitive::primitive_desc describe(const Words&... words) const {
#if DNNL_VERSION_MAJOR == 2
    return {typename Primitive::desc(words...), engine_};
#else
    return {engine_, words...};
#endif
  }
  /// The same of a backward pass, which needs the description of its forward pass.
  template <class Primitive, class Forward, class... Words>
  typename Primitive::primitive_desc describe_after(const Forward& forward, const Words&... words) const {
#if DNNL_VERSION_MAJOR == 2
    return {typename Primitive::desc(words...), engine_, forward};
#else
    return {engine_, words..., forward};
#endif
  }
  void set_primitive(const dnnl::primitive_desc_base& description) {
    primitive_ = dnnl::primitive(description.get());
  }
  /// A product of matrices, whose arrays are a, b and c.
  void set_matmul(const Shape& a, const Shape& b, const Shape& c) {
    set_primitive(describe<dnnl::matmul>(a, b, c));
    add(DNNL_ARG_SRC, a);
    add(DNNL_ARG_WEIGHTS, b);
    add(DNNL_ARG_DST, c);
  }
  void add(int argument, const Shape& shape) {
    Array& array = arrays_.emplace_back();
    array.plain = dnnl::memory(shape, engine_, DNNL_MEMORY_NONE);
    arguments_.push_back({argument, array.plain.get()});
  }
  /// Adds an array that the primitive takes as `preferred`.
  void add(int argument, const Shape& shape, const Shape& preferred, Role role) {
    add(argument, shape);
    if (shape == preferred) return;
    Array& array = arrays_.back();
    array.preferred = dnnl::memory(preferred, engine_);
    arguments_.back().memory = array.preferred.get();
    const bool in = role == Role::source;
    const dnnl::memory &from = in ? array.plain : array.preferred, &to = in ? array.preferred : array.plain;
    array.reorder = dnnl::reorder(from, to);
    array.from_to = {{{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}}};
    (in ? before_ : after_).push_back(arrays_.size() - 1);
  }

  /// Converts the source at position `at`, which does not change, once for all calls.
  void keep(std::size_t at, const float* data) {
    place(arrays_[at], data);
    if (std::erase(before_, at) > 0) convert(arrays_[at]);
    demand(dnnl_stream_wait(stream_.get()));
  }

  /// Takes the arrays in the order of add(). Further ones are left out.
  void run(std::initializer_list<const float*> data) const {
    assert(data.size() >= arrays_.size());
    use_threads(threads_);
    auto at = data.begin();
    for (const Array& array : arrays_) place(array, *at++);
    for (const std::size_t source : before_) convert(arrays_[source]);
    demand(dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()),
                                  arguments_.data()));
    for (const std::size_t result : after_) convert(arrays_[result]);
    demand(dnnl_stream_wait(stream_.get()));
  }

 private:
  /// An array of the contract, and its copy in the layout of the primitive if that differs.
  struct Array {
    dnnl::memory plain, preferred;
    dnnl::primitive reorder;
    std::array<dnnl_exec_arg_t, 2> from_to{};
  };

  static void place(const Array& array, const float* data) {
    dnnl_memory_set_data_handle(array.plain.get(), const_cast<float*>(data));  // the interface knows no const
  }
  void convert(const Array& array) const {
    demand(dnnl_primitive_execute(array.reorder.get(), stream_.get(), 2, array.from_to.data()));
  }

  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::primitive primitive_;
  std::vector<Array> arrays_;
  std::vector<std::size_t> before_, after_;  ///< positions of arrays that are converted
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// Registers the peer of Op with `words`. plan_of(problem, input, threads, way) returns a shared pointer to
/// its plan; the input is null if the question is only whether oneDNN refuses. A call is run(plan, in, out).
/// If there are several ways, from 0 up, the fastest of them in trial calls is taken when the variant is
/// prepared. Where oneDNN refuses all of them, `hint` is added to its reason.
template <class Op, class PlanOf, class Run>
void add_peer(Registry& r, Variant<Op> words, const PlanOf& plan_of, const Run& run, int ways = 1,
              const char* hint = "") {
  using Input = typename Op::Input;
  using Output = typename Op::Output;
  using Problem = typename Op::Problem;
  const auto plans_of = [plan_of, ways](const Problem& p, const Input* in, int threads) {
    std::vector<decltype(plan_of(p, in, threads, 0))> plans;
    for (int way = 0; way < ways && (in != nullptr || plans.empty()); ++way) {
      try {
        plans.push_back(plan_of(p, in, threads, way));
      } catch (const dnnl::error&) {
        if (plans.empty() && way == ways - 1) throw;
      }
    }
    return plans;
  };
  words.name = "onednn";
  words.libraries = {"onednn"};
  words.threaded = true;
  words.prepare = [plans_of, run](const Problem& p, const Input& prepared, const Context& context) {
    const auto plans = plans_of(p, &prepared, context.threads);
    auto fastest = plans.front();
    if (plans.size() > 1) {
      Output out = Op::make_output(p, prepared, {});
      double least = std::numeric_limits<double>::infinity();
      const double begin = omp_get_wtime();
      for (int turn = 0; turn < 2 || (turn < 10 && omp_get_wtime() - begin < 0.1); ++turn) {
        for (const auto& plan : plans) {
          const double start = omp_get_wtime();
          run(*plan, prepared, out);
          const double seconds = omp_get_wtime() - start;
          if (turn == 0 || seconds >= least) continue;  // the first call is a warm-up
          least = seconds;
          fastest = plan;
        }
      }
    }
    return [fastest, run](const Input& in, Output& out) { run(*fastest, in, out); };
  };
  words.unfit = [plans_of, hint, own = words.unfit](const Problem& p,
                                                    const Context& context) -> std::optional<std::string> {
    if (auto reason = own ? own(p, context) : std::nullopt) return reason;
    const int threads = omp_get_max_threads();
    std::optional<std::string> reason;
    try {
      plans_of(p, nullptr, context.threads);
    } catch (const dnnl::error& refused) {
      const std::string why = refused.what();
      reason = "oneDNN refuses the problem: " + why.substr(0, why.find('.')) + hint;  // the first sentence
    }
    omp_set_num_threads(threads);
    return reason;
  };
  r.add<Op>(std::move(words));
}

}  // namespace assay::onednn
