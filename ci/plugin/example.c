/* A plug-in in C: a kernel for an operation of assay, and an operation of its own.
 *
 *     cc -O3 -march=native -fPIC -shared -o libexample.so example.c    # -I where assay/plugin.h lies
 *     assay --plugin ./libexample.so check -k 'row_loop|swiglu'
 *     assay --plugin ./libexample.so run swiglu/n=65536 gemm/m=64,n=64,k=64
 */
#include <assay/plugin.h>

#include <math.h>
#include <stdlib.h>

static int64_t field(const assay_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->field_count; ++i) {
    const char *a = problem->fields[i].name, *b = name;
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a == *b) return problem->fields[i].value;
  }
  return 0;
}

/* gemm of assay: c = a b, row by row, with a and b as they are. */
static const char *gemm_unfit(const assay_problem *problem) {
  const int plain = field(problem, "trans") == 0 && field(problem, "alpha") == 1 && field(problem, "beta") == 0;
  return plain ? NULL : "knows plain products only";
}

static int gemm_rows(void *prepared, const assay_problem *problem, const assay_tensor *t, size_t count) {
  const int64_t m = field(problem, "m"), n = field(problem, "n"), k = field(problem, "k");
  const float *a = t[0].data, *b = t[1].data;
  float *c = t[2].data;
  (void)prepared, (void)count;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return 0;
}

static const assay_kernel gemm = {.size = sizeof(assay_kernel),
                                  .operation = "gemm",
                                  .name = "row_loop",
                                  .summary = "a row of c at a time, vectorised by the C compiler",
                                  .unfit = gemm_unfit,
                                  .run = gemm_rows};

/* swiglu: z = x / (1 + exp(-x)) y, the gate of the feed-forward layers of transformers (Shazeer 2020). */
static int swiglu_describe(const assay_problem *problem, assay_tensor *t, size_t capacity) {
  static const char *const names[] = {"x", "y", "z"};
  if (capacity < 3) return -1;
  for (int i = 0; i < 3; ++i) {
    t[i] = (assay_tensor){.name = names[i], .type = ASSAY_F32, .use = i < 2 ? ASSAY_INPUT : ASSAY_OUTPUT, .axes = 1};
    t[i].extent[0] = field(problem, "n");
  }
  return 3;
}

static int swiglu_reference(const assay_problem *problem, const assay_tensor *t, size_t count) {
  const double *x = t[0].data, *y = t[1].data;
  double *z = t[2].data;
  (void)problem, (void)count;
  for (int64_t i = 0; i < t[2].size; ++i) z[i] = x[i] / (1 + exp(-x[i])) * y[i];
  return 0;
}

/* Six roundings of the result, expf() of 1 ulp among them, whose argument is exact. */
static int swiglu_bound(const assay_problem *problem, const assay_tensor *t, size_t count) {
  double *z = t[2].data;
  (void)problem, (void)count;
  for (int64_t i = 0; i < t[2].size; ++i) z[i] = 6 * 0x1p-24 * fabs(z[i]) + 0x1p-126;
  return 0;
}

static void swiglu_cost(const assay_problem *problem, double *flops, double *read, double *written) {
  const double n = (double)field(problem, "n");
  *flops = 5 * n, *read = 8 * n, *written = 4 * n;
}

static int swiglu_naive(void *prepared, const assay_problem *problem, const assay_tensor *t, size_t count) {
  const float *x = t[0].data, *y = t[1].data;
  float *z = t[2].data;
  (void)prepared, (void)problem, (void)count;
  for (int64_t i = 0; i < t[2].size; ++i) z[i] = x[i] / (1 + expf(-x[i])) * y[i];
  return 0;
}

static const assay_rule swiglu_fields[] = {{.name = "n", .low = 1, .high = 1 << 28}};
static const char *const swiglu_cases[] = {"n=1", "n=7", "n=16", "n=17", "n=63", "n=1021", "n=4099"};
static const assay_operation swiglu = {.size = sizeof(assay_operation),
                                       .version = 1,
                                       .name = "swiglu",
                                       .about = "z = x / (1 + exp(-x)) y, f32",
                                       .rule_count = 1,
                                       .rules = swiglu_fields,
                                       .corner_case_count = sizeof swiglu_cases / sizeof *swiglu_cases,
                                       .corner_cases = swiglu_cases,
                                       .describe = swiglu_describe,
                                       .reference = swiglu_reference,
                                       .bound = swiglu_bound,
                                       .cost = swiglu_cost};
static const assay_kernel swiglu_plain = {.size = sizeof(assay_kernel),
                                          .operation = "swiglu",
                                          .name = "naive",
                                          .summary = "one loop, expf() of the C library",
                                          .run = swiglu_naive};

const assay_plugin *assay_plugin_v1(void) {
  static const assay_operation *const operations[] = {&swiglu};
  static const assay_kernel *const kernels[] = {&gemm, &swiglu_plain};
  static const assay_plugin plugin = {.abi = ASSAY_PLUGIN_ABI,
                                      .size = sizeof(assay_plugin),
                                      .provider = "example",
                                      .operation_count = 1,
                                      .operations = operations,
                                      .kernel_count = 2,
                                      .kernels = kernels};
  return &plugin;
}
