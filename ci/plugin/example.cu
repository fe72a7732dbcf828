// A plug-in with kernels for a graphics processor: a matrix product timed with its copies, and by events alone.
//
//     nvcc -O3 -Xcompiler -fPIC -shared -o libcuda_example.so example.cu    # -I where assay/plugin.h lies
//     assay --plugin ./libcuda_example.so check -k 'gemm/cuda'
//     assay --plugin ./libcuda_example.so run gemm/m=2048,n=2048,k=2048 -k 'gemm/(cuda|openblas)'
//
// Inputs change from call to call, so each call copies them. `cuda` pays for that in its time, as a program does
// whose data are not on the device; `cuda_events` says by its own timer what the product alone took there, and
// stands in reports as timed so.
#include <assay/plugin.h>

#include <cuda_runtime.h>

#include <cstring>

namespace {

constexpr int tile = 32;

// c[m, n] = a[m, k] b[k, n], row-major: a block of threads makes a tile of c from tiles of a and b in shared
// memory, the sums in order of k.
__global__ void product(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float a_tile[tile][tile], b_tile[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int l = 0; l < k; l += tile) {
    const int a_column = l + threadIdx.x, b_row = l + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[static_cast<size_t>(row) * k + a_column] : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[static_cast<size_t>(b_row) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sum;
}

int field(const assay_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->field_count; ++i) {
    if (std::strcmp(problem->fields[i].name, name) == 0) return static_cast<int>(problem->fields[i].value);
  }
  return 0;
}

// What prepare() allocates: it is no part of the time.
struct State {
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  double seconds = 0;
  cudaError_t error = cudaSuccess;

  bool passed(cudaError_t result) {
    if (result != cudaSuccess && error == cudaSuccess) error = result;
    return error == cudaSuccess;
  }
};

const char *unfit(const assay_problem *problem) {
  const bool plain = field(problem, "trans") == 0 && field(problem, "alpha") == 1 && field(problem, "beta") == 0;
  return plain ? nullptr : "knows plain products only";
}

void *prepare(const assay_problem *problem, const assay_tensor *, size_t) {
  const size_t m = field(problem, "m"), n = field(problem, "n"), k = field(problem, "k");
  auto *state = new State;
  state->passed(cudaMalloc(&state->a, m * k * sizeof(float)));
  state->passed(cudaMalloc(&state->b, k * n * sizeof(float)));
  state->passed(cudaMalloc(&state->c, m * n * sizeof(float)));
  state->passed(cudaEventCreate(&state->begin));
  state->passed(cudaEventCreate(&state->end));
  return state;
}

int run(void *prepared, const assay_problem *problem, const assay_tensor *t, size_t) {
  auto &s = *static_cast<State *>(prepared);
  const int m = field(problem, "m"), n = field(problem, "n"), k = field(problem, "k");
  s.passed(cudaMemcpy(s.a, t[0].data, t[0].size * sizeof(float), cudaMemcpyHostToDevice));
  s.passed(cudaMemcpy(s.b, t[1].data, t[1].size * sizeof(float), cudaMemcpyHostToDevice));
  s.passed(cudaEventRecord(s.begin));
  product<<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile)>>>(s.a, s.b, s.c, m, n, k);
  s.passed(cudaGetLastError());
  s.passed(cudaEventRecord(s.end));
  s.passed(cudaMemcpy(t[2].data, s.c, t[2].size * sizeof(float), cudaMemcpyDeviceToHost));  // waits for the product
  float milliseconds = 0;
  if (s.passed(cudaEventElapsedTime(&milliseconds, s.begin, s.end))) s.seconds += 1e-3 * milliseconds;
  return s.error == cudaSuccess ? 0 : 1;
}

int synchronize(void *prepared) { return static_cast<State *>(prepared)->passed(cudaDeviceSynchronize()) ? 0 : 1; }

void release(void *prepared) {
  auto *s = static_cast<State *>(prepared);
  cudaFree(s->a), cudaFree(s->b), cudaFree(s->c);
  cudaEventDestroy(s->begin), cudaEventDestroy(s->end);
  delete s;
}

double seconds(void *prepared) {
  auto &s = *static_cast<State *>(prepared);
  const double sum = s.seconds;
  s.seconds = 0;
  return sum;
}

const char *failure(void *prepared) { return cudaGetErrorString(static_cast<State *>(prepared)->error); }

assay_kernel kernel(const char *name, const char *summary) {
  assay_kernel out = {};
  out.size = sizeof out;
  out.operation = "gemm";
  out.name = name;
  out.summary = summary;
  out.libraries = "dlopen gettimeofday threads time";  // what the run-time of CUDA in it reaches
  out.unfit = unfit;
  out.prepare = prepare;
  out.run = run;
  out.release = release;
  out.synchronize = synchronize;  // it works elsewhere: the roofs of this processor say nothing of it
  out.failure = failure;
  return out;
}

}  // namespace

extern "C" const assay_plugin *assay_plugin_v1(void) {
  static assay_kernel whole = kernel("cuda", "tiles of 32 x 32 in shared memory; copies in and out are timed");
  static assay_kernel device = kernel("cuda_events", "the same, timed by events around the product alone");
  device.seconds = seconds;
  static const assay_kernel *const kernels[] = {&whole, &device};
  static assay_plugin plugin = {};
  plugin.abi = ASSAY_PLUGIN_ABI;
  plugin.size = sizeof plugin;
  plugin.provider = "example";
  plugin.kernel_count = 2;
  plugin.kernels = kernels;
  return &plugin;
}
