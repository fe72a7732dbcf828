// Owners of oneDNN's handles, a primitive that runs on the arrays of a call, and the registration of the
// variants `onednn`.
#pragma once

#include "gemm/blocked.hpp"

#include "assay/registry.hpp"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::onednn {

template <class Handle, dnnl_status_t (*destroy)(Handle)>
struct Destroy {
  using pointer = Handle;
  void operator()(Handle handle) const { destroy(handle); }
};
using Engine = std::unique_ptr<dnnl_engine_t, Destroy<dnnl_engine_t, dnnl_engine_destroy>>;
using Stream = std::unique_ptr<dnnl_stream_t, Destroy<dnnl_stream_t, dnnl_stream_destroy>>;
using Memory = std::unique_ptr<dnnl_memory_t, Destroy<dnnl_memory_t, dnnl_memory_destroy>>;
using Primitive = std::unique_ptr<dnnl_primitive_t, Destroy<dnnl_primitive_t, dnnl_primitive_destroy>>;
using Description =
    std::unique_ptr<dnnl_primitive_desc_t, Destroy<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>>;

struct Refused : std::runtime_error {
  explicit Refused(dnnl_status_t status)
      : std::runtime_error("oneDNN refuses the problem with status " + std::to_string(status)) {}
};
inline void demand(dnnl_status_t status) {
  if (status != dnnl_success) throw Refused(status);
}

/// Calls create(&handle) and owns the new handle.
template <class Owner, class Create>
Owner make(const Create& create) {
  typename Owner::pointer handle = nullptr;
  demand(create(&handle));
  return Owner(handle);
}

inline dnnl_memory_desc_t described(std::initializer_list<Index> extents, dnnl_format_tag_t tag) {
  dnnl_dims_t dims = {};
  int count = 0;
  for (const Index extent : extents) dims[count++] = extent;
  dnnl_memory_desc_t out;
  demand(dnnl_memory_desc_init_by_tag(&out, count, dims, dnnl_f32, tag));
  return out;
}

/// Sets the number of threads. oneDNN takes as many threads as OpenMP would, a setting of the calling thread:
/// a primitive reads it when it is made and again when it runs, a product when it is called.
inline void use_threads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

/// dnnl_sgemm of a product.
inline void multiply(const blocked::Product& p, int threads) {
  use_threads(threads);
  demand(dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, p.alpha, p.a,
                    p.lda, p.b, p.ldb, p.beta, p.c, p.ldc));
}

/// The reason why oneDNN refuses plan(), or nothing.
template <class MakePlan>
std::optional<std::string> refusal(const MakePlan& plan) {
  const int threads = omp_get_max_threads();
  std::optional<std::string> reason;
  try {
    plan();
  } catch (const Refused& refused) {
    reason = refused.what();
  }
  omp_set_num_threads(threads);
  return reason;
}

/// A primitive on the arrays of a contract. An array that the primitive wants in another layout is converted
/// in each call, before it or after it.
class Plan {
 public:
  enum class Role { source, result };

  explicit Plan(int threads) : threads_(threads) {
    use_threads(threads);
    engine_ = make<Engine>([](auto* to) { return dnnl_engine_create(to, dnnl_cpu, 0); });
    stream_ = make<Stream>(
        [&](auto* to) { return dnnl_stream_create(to, engine_.get(), dnnl_stream_default_flags); });
  }

  /// A backward pass needs `forward`, the description of its forward pass.
  template <class Operation>
  Description describe(const Operation& operation, const_dnnl_primitive_desc_t forward = nullptr) const {
    return make<Description>([&](auto* to) {
      return dnnl_primitive_desc_create(to, &operation, nullptr, engine_.get(), forward);
    });
  }
  void set_primitive(const Description& description) {
    primitive_ = make<Primitive>([&](auto* to) { return dnnl_primitive_create(to, description.get()); });
  }
  void add(int argument, const dnnl_memory_desc_t& shape) {
    Array& array = arrays_.emplace_back();
    array.plain = memory(shape, DNNL_MEMORY_NONE);
    arguments_.push_back({argument, array.plain.get()});
  }
  /// Adds an array that the primitive takes as `preferred`.
  void add(int argument, const dnnl_memory_desc_t& shape, const dnnl_memory_desc_t& preferred, Role role) {
    add(argument, shape);
    if (dnnl_memory_desc_equal(&shape, &preferred) != 0) return;
    Array& array = arrays_.back();
    array.preferred = memory(preferred, DNNL_MEMORY_ALLOCATE);
    arguments_.back().memory = array.preferred.get();
    const bool in = role == Role::source;
    const auto reorder = make<Description>([&](auto* to) {
      return dnnl_reorder_primitive_desc_create(to, in ? &shape : &preferred, engine_.get(),
                                                in ? &preferred : &shape, engine_.get(), nullptr);
    });
    array.reorder = make<Primitive>([&](auto* to) { return dnnl_primitive_create(to, reorder.get()); });
    const dnnl_memory_t plain = array.plain.get(), other = array.preferred.get();
    array.from_to = {{{DNNL_ARG_FROM, in ? plain : other}, {DNNL_ARG_TO, in ? other : plain}}};
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
    Memory plain, preferred;
    Primitive reorder;
    std::array<dnnl_exec_arg_t, 2> from_to{};
  };

  Memory memory(const dnnl_memory_desc_t& shape, void* data) const {
    return make<Memory>([&](auto* to) { return dnnl_memory_create(to, &shape, engine_.get(), data); });
  }
  static void place(const Array& array, const float* data) {
    dnnl_memory_set_data_handle(array.plain.get(),
                                const_cast<float*>(data));  // the C interface knows no const
  }
  void convert(const Array& array) const {
    demand(dnnl_primitive_execute(array.reorder.get(), stream_.get(), 2, array.from_to.data()));
  }

  int threads_;
  Engine engine_;
  Stream stream_;
  Primitive primitive_;
  std::vector<Array> arrays_;
  std::vector<std::size_t> before_, after_;  ///< positions of arrays that are converted
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// Registers the peer of Op with `words`. plan_of(problem, input, threads) returns a shared pointer to its
/// plan; the input is null if the question is only whether oneDNN refuses, to which reason `hint` is added. A
/// call is run(plan, in, out).
template <class Op, class PlanOf, class Run>
void add_peer(Registry& r, Variant<Op> words, const PlanOf& plan_of, const Run& run, const char* hint = "") {
  using Input = typename Op::Input;
  words.name = "onednn";
  words.libraries = {"onednn"};
  words.threaded = true;
  words.prepare = [plan_of, run](const typename Op::Problem& p, const Input& prepared,
                                 const Context& context) {
    return [plan = plan_of(p, &prepared, context.threads), run](const Input& in, typename Op::Output& out) {
      run(*plan, in, out);
    };
  };
  words.unfit = [plan_of, hint, own = words.unfit](const typename Op::Problem& p,
                                                   const Context& context) -> std::optional<std::string> {
    if (auto reason = own ? own(p, context) : std::nullopt) return reason;
    auto reason = refusal([&] { plan_of(p, static_cast<const Input*>(nullptr), context.threads); });
    if (reason) *reason += hint;
    return reason;
  };
  r.add<Op>(std::move(words));
}

}  // namespace assay::onednn
