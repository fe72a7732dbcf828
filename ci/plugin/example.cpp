// A plug-in in C++: the same interface, a kernel for layernorm of assay, with two passes over each row.
//
//     c++ -std=c++20 -O3 -march=native -fPIC -shared -o libexample.so example.cpp
//     assay --plugin ./libexample.so check -k layernorm/two_passes
#include <assay/plugin.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace {

std::int64_t field(const assay_problem& problem, std::string_view name) {
  for (const assay_field& one : std::span(problem.fields, problem.field_count)) {
    if (one.name == name) return one.value;
  }
  return 0;
}

template <class T>
T* data(std::span<const assay_tensor> tensors, std::string_view name) {
  for (const assay_tensor& one : tensors) {
    if (one.name == name) return static_cast<T*>(one.data);
  }
  return nullptr;
}

// x[rows, cols], gamma and beta[cols] to y[rows, cols], mean and rstd[rows].
int two_passes(void*, const assay_problem* problem, const assay_tensor* tensors, std::size_t count) {
  const std::span all(tensors, count);
  const std::int64_t rows = field(*problem, "rows"), cols = field(*problem, "cols");
  const auto* x = data<const float>(all, "x");
  const auto* gamma = data<const float>(all, "gamma");
  const auto* beta = data<const float>(all, "beta");
  auto* y = data<float>(all, "y");
  auto* mean = data<float>(all, "mean");
  auto* rstd = data<float>(all, "rstd");
  if (x == nullptr || gamma == nullptr || beta == nullptr || y == nullptr || mean == nullptr ||
      rstd == nullptr)
    return 1;
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < cols; ++i) sum += x[i];
    const double middle = sum / static_cast<double>(cols);
    for (std::int64_t i = 0; i < cols; ++i) squares += (x[i] - middle) * (x[i] - middle);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + 1e-5);
    for (std::int64_t i = 0; i < cols; ++i) {
      y[i] = static_cast<float>((x[i] - middle) * scale * gamma[i] + beta[i]);
    }
    mean[r] = static_cast<float>(middle);
    rstd[r] = static_cast<float>(scale);
  }
  return 0;
}

const assay_kernel kernel{.size = sizeof(assay_kernel),
                          .threaded = 0,
                          .operation = "layernorm",
                          .name = "two_passes",
                          .summary = "mean, then squares of the differences, in double precision",
                          .libraries = nullptr,
                          .precision = nullptr,
                          .unfit = nullptr,
                          .prepare = nullptr,
                          .run = two_passes,
                          .release = nullptr,
                          .synchronize = nullptr,
                          .seconds = nullptr,
                          .failure = nullptr};

}  // namespace

const assay_plugin* assay_plugin_v1() {
  static const assay_kernel* const kernels[]{&kernel};
  static const assay_plugin plugin{.abi = ASSAY_PLUGIN_ABI,
                                   .size = sizeof(assay_plugin),
                                   .provider = "example",
                                   .revision = nullptr,
                                   .operation_count = 0,
                                   .operations = nullptr,
                                   .kernel_count = 1,
                                   .kernels = kernels};
  return &plugin;
}
