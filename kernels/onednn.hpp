// Owners of oneDNN's handles, and a primitive that runs on the arrays of a call, for the variants `onednn`.
#pragma once

#include "gemm/blocked.hpp"

#include "assay/problem.hpp"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <cassert>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
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

/// A primitive on arrays in the layouts of the contract.
class Plan {
 public:
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
    memories_.push_back(make<Memory>(
        [&](auto* to) { return dnnl_memory_create(to, &shape, engine_.get(), DNNL_MEMORY_NONE); }));
    arguments_.push_back({argument, memories_.back().get()});
  }

  /// Takes the arrays in the order of add().
  void run(std::initializer_list<const float*> data) const {
    assert(data.size() == memories_.size());
    use_threads(threads_);
    auto memory = memories_.begin();
    for (const float* const at : data) {
      dnnl_memory_set_data_handle((memory++)->get(),
                                  const_cast<float*>(at));  // the C interface knows no const
    }
    demand(dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()),
                                  arguments_.data()));
    demand(dnnl_stream_wait(stream_.get()));
  }

 private:
  int threads_;
  Engine engine_;
  Stream stream_;
  Primitive primitive_;
  std::vector<Memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

}  // namespace assay::onednn
