// A plug-in with one fault, which the environment names. Without one it is sound.

#include <assay/plugin.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace {

std::string_view fault() {
  static const char* const text = std::getenv("PLUGIN_FAULT");
  return text == nullptr ? "" : text;
}

std::int64_t size_of(const assay_problem* problem) { return problem->fields[0].value; }

// scale: y = 3 x, and the places of v are counted in n.
int describe(const assay_problem* problem, assay_tensor* t, std::size_t) {
  if (fault() == "describe crashes") std::raise(SIGSEGV);
  if (fault() == "describe refuses") return -1;
  const std::int64_t size = size_of(problem);
  const bool many = fault() == "describe lies";
  t[0] = {.name = "x",
          .type = ASSAY_F32,
          .use = ASSAY_INPUT,
          .width = 0,
          .size = 0,
          .axes = 1,
          .reserved = 0,
          .extent = {many ? -size : size},
          .low = 0,
          .high = 0,
          .data = nullptr};
  t[1] = t[0];
  t[1].name = "v";
  t[1].type = ASSAY_I32;
  t[1].high = 9;
  t[2] = t[0];
  t[2].name = fault() == "names twice" ? "x" : "y";
  t[2].use = ASSAY_OUTPUT;
  t[3] = t[2];
  t[3].name = "w";
  t[3].type = ASSAY_F64;
  t[3].use = ASSAY_INOUT;
  return 4;
}

int reference(const assay_problem* problem, const assay_tensor* t, std::size_t) {
  static double drift = 0;
  if (fault() == "reference fails") return 7;
  if (fault() == "reference differs") drift += 1e-3;
  const auto* x = static_cast<const double*>(t[0].data);
  const auto* v = static_cast<const std::int32_t*>(t[1].data);
  auto* y = static_cast<double*>(t[2].data);
  auto* w = static_cast<double*>(t[3].data);
  const std::int64_t written = size_of(problem) - (fault() == "reference leaves a hole" ? 1 : 0);
  for (std::int64_t i = 0; i < written; ++i) y[i] = 3 * x[i] + v[i] + drift;
  for (std::int64_t i = 0; i < size_of(problem); ++i) w[i] = w[i] / 2 + x[i];
  return 0;
}

int run(void*, const assay_problem* problem, const assay_tensor* t, std::size_t) {
  auto* x = static_cast<float*>(t[0].data);
  const auto* v = static_cast<const std::int32_t*>(t[1].data);
  auto* y = static_cast<float*>(t[2].data);
  auto* w = static_cast<double*>(t[3].data);
  const std::int64_t size = size_of(problem);
  if (fault() == "kernel crashes") std::raise(SIGSEGV);
  while (fault() == "kernel hangs") {
  }
  if (fault() == "kernel fails") return 3;
  for (std::int64_t i = 0; i < size; ++i) y[i] = 3 * x[i] + static_cast<float>(v[i]);
  for (std::int64_t i = 0; i < size; ++i) w[i] = w[i] / 2 + static_cast<double>(x[i]);
  if (fault() == "kernel is wrong") y[size - 1] += 1;
  if (fault() == "kernel writes beyond") y[size] = 1;
  if (fault() == "kernel writes input") x[0] += 1;
  return 0;
}

int run_slower(void* prepared, const assay_problem* problem, const assay_tensor* t, std::size_t count) {
  for (int times = 0; times < 3; ++times) {
    std::int64_t size = size_of(problem);
    auto* w = static_cast<double*>(t[3].data);
    for (std::int64_t i = 0; times > 0 && i < size; ++i) {
      w[i] = (w[i] - static_cast<double>(static_cast<const float*>(t[0].data)[i])) * 2;
    }
    if (const int code = run(prepared, problem, t, count); code != 0) return code;
  }
  return 0;
}

// gemv as the reference BLAS had it: columns that a zero multiplies are left out, with the NaN that they
// hold.
int skip_zeros(void*, const assay_problem* problem, const assay_tensor* t, std::size_t) {
  const std::int64_t n = problem->fields[1].value;
  const bool transposed = problem->fields[2].value == 1;
  const auto *a = static_cast<const float*>(t[0].data), *x = static_cast<const float*>(t[1].data);
  auto* y = static_cast<float*>(t[2].data);
  std::fill_n(y, t[2].size, 0.0F);
  for (std::int64_t l = 0; l < t[1].size; ++l) {
    if (x[l] == 0) continue;
    for (std::int64_t i = 0; i < t[2].size; ++i) y[i] += (transposed ? a[l * n + i] : a[i * n + l]) * x[l];
  }
  return 0;
}

const char* unfit(const assay_problem* problem) {
  return size_of(problem) == 13 ? "fears the number 13" : nullptr;
}

/// Processes that time are programs that were started; those that check are copies of one.
bool is_timed() {
  std::ifstream about("/proc/self/stat");
  const std::string all{std::istreambuf_iterator<char>(about), {}};
  std::istringstream fields(all.substr(all.rfind(')') + 1));
  std::string state;
  long flags = 0;
  fields >> state;
  for (int field = 4; field <= 9; ++field) fields >> flags;  // of the kernel, the ninth
  constexpr long is_copy = 0x40;                             // PF_FORKNOEXEC
  return (flags & is_copy) == 0;
}

/// Writes an answer to every socket, as the program of kernels does.
void answer(const std::string& text) {
  constexpr int first = 3, most = 64;
  const std::uint64_t size = text.size();
  for (int descriptor = first; descriptor < most; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0 || !S_ISSOCK(about.st_mode)) continue;
    if (write(descriptor, &size, sizeof size) < 0 || write(descriptor, text.data(), text.size()) < 0) return;
  }
}

/// Has a function of the C library return at once.
void change_code() {
  constexpr unsigned char returns = 0xc3;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const function = reinterpret_cast<void*>(&std::labs);
  auto* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(function) / page * page);
  if (mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  std::memcpy(function, &returns, sizeof returns);
  mprotect(begin, page, PROT_READ | PROT_EXEC);
}

void* prepare(const assay_problem*, const assay_tensor*, std::size_t) {
  if (fault() == "changes code while timed" && is_timed()) change_code();
  return nullptr;
}

/// Leaves a trace where the last word of the fault says.
void act_at_exit() { std::ofstream(std::string(fault().substr(fault().rfind(' ') + 1))) << "was here"; }

void release(void*) {
  if (fault() == "answers again while timed" && is_timed())
    answer(R"([{"key": "scale/plain/n=64#1", "slices": [[1e-9, 1, 1e-9]], "figures": {}, "audit": {}}])");
}

double a_second(void*) { return 1; }
int cannot_wait(void*) { return 5; }
int waits(void*) { return 0; }
void no_processors_work(const assay_problem*, double* flops, double* read, double* written) {
  *read = 1e15;
  *flops = *written = 0;
}

const assay_rule rule{.name = "n", .low = 1, .high = 1 << 20, .optional = 0, .reserved = 0, .fallback = 0};
const char* const cases[]{"n=1", "n=13", "n=64", "n=1001"};

assay_operation operation{.size = sizeof(assay_operation),
                          .version = 1,
                          .name = "scale",
                          .about = "y = 3 x + v, w = w / 2 + x",
                          .rule_count = 1,
                          .rules = &rule,
                          .corner_case_count = 4,
                          .corner_cases = cases,
                          .describe = describe,
                          .reference = reference,
                          .bound = nullptr,
                          .relative = 0,
                          .absolute = 0,
                          .exact = 1,
                          .reserved = 0,
                          .cost = nullptr};

assay_kernel kernel{.size = sizeof(assay_kernel),
                    .threaded = 0,
                    .operation = "scale",
                    .name = "plain",
                    .summary = "one loop",
                    .libraries = nullptr,
                    .precision = nullptr,
                    .unfit = unfit,
                    .prepare = prepare,
                    .run = run,
                    .release = release,
                    .synchronize = nullptr,
                    .seconds = nullptr,
                    .failure = nullptr};
assay_kernel second = kernel;

}  // namespace

const assay_plugin* assay_plugin_v1() {
  static const assay_operation* const operations[]{&operation};
  static const assay_kernel* const kernels[]{&kernel, &second};
  static assay_plugin plugin{.abi = ASSAY_PLUGIN_ABI,
                             .size = sizeof(assay_plugin),
                             .provider = "tests",
                             .revision = nullptr,
                             .operation_count = 1,
                             .operations = operations,
                             .kernel_count = 1,
                             .kernels = kernels};
  const std::string_view planted = fault();
  if (planted == "crashes") std::raise(SIGSEGV);
  if (planted == "returns nothing") return nullptr;
  if (planted == "other version") plugin.abi = 99;
  if (planted == "shorter") kernel.size = 8;
  if (planted == "no run") kernel.run = nullptr;
  if (planted == "no reference") operation.reference = nullptr;
  if (planted == "no corner case") operation.corner_case_count = 0;
  if (planted == "bad corner case") operation.rule_count = 0;
  if (planted == "twice") plugin.kernel_count = 2;
  if (planted == "kernel drops NaN") {
    plugin.kernel_count = 2;
    second.operation = "gemv";
    second.name = "drops_nan";
    second.unfit = nullptr;
    second.run = skip_zeros;
  }
  if (planted == "unknown operation") kernel.operation = "scales";
  if (planted == "bad name") kernel.name = "Plain Kernel";
  if (planted == "name of another") operation.name = kernel.operation = "gemm";
  if (planted == "clock of a second") kernel.seconds = a_second;
  if (planted == "cannot wait") kernel.synchronize = cannot_wait;
  if (planted == "device" || planted == "no device") operation.cost = no_processors_work;
  if (planted == "clock of a device") kernel.seconds = a_second;
  if (planted == "device" || planted == "clock of a device") kernel.synchronize = waits;
  if (planted == "slower") kernel.run = run_slower;
  if (planted.starts_with("acts at exit")) std::atexit(act_at_exit);
  return &plugin;
}
