/* Kernels from a shared library, in plain C: for every language that can make a function of the C ABI.
 *
 *     assay --plugin ./libmine.so check -k mine     agreement, crashes, hangs and cheats, as for any kernel
 *     assay --plugin ./libmine.so run gemm/m=512,n=512,k=512
 *     assay gate --base old/libmine.so --head new/libmine.so --suite suite.json
 *
 * The library exports one function, assay_plugin_v1(), which returns what it has: kernels for operations that
 * the program knows (`assay list`), and operations of its own with kernels for them. It is loaded in processes
 * that run kernels, never in the one that judges. All pointers that it returns stay valid while it is loaded.
 *
 * Structures begin with their size, so that fields can be added at their ends: set it to sizeof. Strings are
 * UTF-8 and end with a zero. Functions are called by one thread at a time; those that may be NULL say so.
 */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_PLUGIN_ABI 1u
#define ASSAY_MOST_AXES 8
#define ASSAY_MOST_TENSORS 32

/* Types of elements. */
enum {
  ASSAY_F32 = 0,
  ASSAY_F64 = 1,
  ASSAY_F16 = 2, /* IEEE 754 half precision */
  ASSAY_BF16 = 3,
  ASSAY_I32 = 4,
  ASSAY_I64 = 5,
  ASSAY_U8 = 6,
  ASSAY_OTHER = 7 /* a structure of an operation of assay, of `width` bytes */
};

/* What a kernel does with a tensor. */
enum {
  ASSAY_INPUT = 0,    /* reads it; it changes from call to call */
  ASSAY_CONSTANT = 1, /* reads it, and may rely on it from prepare() on: frozen weights, say */
  ASSAY_OUTPUT = 2,   /* writes every element of it; it holds rubbish before */
  ASSAY_INOUT = 3     /* reads and updates it in place */
};

/* A dense array in row-major order. Kernels write to outputs alone, and keep no pointer between calls. */
typedef struct assay_tensor {
  const char *name;
  int32_t type, use;
  int64_t width; /* bytes of an element */
  int64_t size;  /* elements: the product of the extents */
  int32_t axes;  /* of an operation of assay: 1, since its extents follow from the problem */
  int32_t reserved;
  int64_t extent[ASSAY_MOST_AXES];
  /* Integers that are read hold numbers from `low` to `high`; their elements change places between calls. */
  int64_t low, high;
  void *data;
} assay_tensor;

/* A field of a problem. Words, as of `trans=t`, are counted from 0 in the order of `assay list`. Those of an operation
 * of assay that say no more than which numbers the inputs hold, as `logits` of softmax, come as if left out. */
typedef struct assay_field {
  const char *name;
  int64_t value;
} assay_field;

typedef struct assay_problem {
  uint32_t size;
  int32_t threads; /* that a kernel may work on, the calling one included */
  size_t field_count;
  const assay_field *fields; /* all of them, in the order of the operation */
} assay_problem;

/* A kernel. Its tensors are those of the operation: inputs in order, then outputs. Those of an operation of assay
 * go by the names in its messages and in assay/ops; what is updated in place comes among the outputs. */
typedef struct assay_kernel {
  uint32_t size;        /* sizeof(assay_kernel) */
  int32_t threaded;     /* not 0: it is run with several numbers of threads; else with one */
  const char *operation, *name; /* "gemm", "mine": lower-case letters, digits and _ */
  const char *summary;  /* the idea in one line */
  const char *libraries; /* what it hands work to, as `openblas threads`; NULL for none */
  const char *precision; /* what it computes with where that is less than the operation's type; NULL */
  /* A reason why it cannot run this problem here, or NULL. It is asked of each problem in a process of its own: a
   * device that takes its time to start is better tried in prepare(). May be NULL. */
  const char *(*unfit)(const assay_problem *problem);
  /* Plans, packs constant tensors, starts threads: outside the time. What it returns is handed to run(), and to
   * release(), which may be NULL. The inputs hold other content than calls will have. May be NULL. */
  void *(*prepare)(const assay_problem *problem, const assay_tensor *inputs, size_t count);
  /* The call that is timed. Returns 0, or another number for a failure, which failure() tells. */
  int (*run)(void *prepared, const assay_problem *problem, const assay_tensor *tensors, size_t count);
  void (*release)(void *prepared);
  /* Waits until all is done that calls have started on another device; inside the time, after each call or after
   * many. Returns 0, or another number for a failure. A kernel that has it is said to work elsewhere, and its times are
   * not compared with what this processor can do. May be NULL. */
  int (*synchronize)(void *prepared);
  /* The seconds that all calls since the last question took, by the timer of an accelerator; without copies from and to
   * it, if it likes. It is asked outside the time. It is taken of a kernel that has synchronize() and whose process
   * has a device open that is none of the system itself; of others the harness's clock is. Reports show both. May be
   * NULL. */
  double (*seconds)(void *prepared);
  /* What the call that failed last has to say. May be NULL. */
  const char *(*failure)(void *prepared);
} assay_kernel;

typedef struct assay_rule {
  const char *name;
  int64_t low, high;
  int32_t optional; /* not 0: may be left out, and is `fallback` then */
  int32_t reserved;
  int64_t fallback;
} assay_rule;

/* An operation of the library's own. */
typedef struct assay_operation {
  uint32_t size;    /* sizeof(assay_operation) */
  int32_t version;  /* raised when its meaning changes: times of two versions are not compared */
  const char *name; /* as of a kernel */
  const char *about; /* in one line, with the formula */
  size_t rule_count;
  const assay_rule *rules; /* of the fields of a problem */
  /* Problems that show what kernels get wrong, as `m=1,n=17`: sizes of 1, beside powers of two, primes. */
  size_t corner_case_count;
  const char *const *corner_cases;
  /* Fills names, types, uses, extents, low and high of all tensors, inputs first, and returns how many there are;
   * a negative number for a problem that makes no sense. */
  int (*describe)(const assay_problem *problem, assay_tensor *tensors, size_t capacity);
  /* The result by definition, the plainer the better. Numbers come as ASSAY_F64 here, whatever their type is;
   * integers as they are. Returns 0, or another number for a failure. */
  int (*reference)(const assay_problem *problem, const assay_tensor *tensors, size_t count);
  /* Replaces each element of the outputs, which hold the result, by the largest error allowed. Tensors come as for
   * reference(). NULL: `relative` times the size of the result plus `absolute`. */
  int (*bound)(const assay_problem *problem, const assay_tensor *tensors, size_t count);
  /* Both 0: as torch.testing.assert_close() has it for the type: 1.3e-6 and 1e-5 for ASSAY_F32. */
  double relative, absolute;
  /* Not 0: with small whole numbers every right kernel gives the same bits, which is then asked for first. */
  int32_t exact;
  int32_t reserved;
  /* Work of one call by definition. NULL: bytes of all tensors once, and no arithmetic. */
  void (*cost)(const assay_problem *problem, double *flops, double *bytes_read, double *bytes_written);
} assay_operation;

typedef struct assay_plugin {
  uint32_t abi;  /* ASSAY_PLUGIN_ABI */
  uint32_t size; /* sizeof(assay_plugin) */
  const char *provider, *revision; /* for reports; may be NULL */
  size_t operation_count;
  const assay_operation *const *operations;
  size_t kernel_count;
  const assay_kernel *const *kernels; /* one named "naive" is what others are compared with, where an operation of
                                       * the library has one; else its reference is */
} assay_plugin;

#if defined(_WIN32)
#define ASSAY_EXPORT
#else
#define ASSAY_EXPORT __attribute__((visibility("default")))
#endif

ASSAY_EXPORT const assay_plugin *assay_plugin_v1(void);

/* Of libassay.so, for interpreters: the whole program in this process, with the kernels of `plugin` beside its own;
 * NULL for none. `argv` is the command line, the name of the program first. It prints, and returns the exit code.
 * Kernels run in other processes. `self` are the words that start the caller anew, to call this with what follows
 * them: an interpreter and its script, then NULL. Without it they are copies of this process, so that no thread that
 * was started before goes on in them. */
ASSAY_EXPORT int assay_main(const assay_plugin *plugin, const char *const *self, int argc, const char *const *argv);

#ifdef __cplusplus
}
#endif

#endif
