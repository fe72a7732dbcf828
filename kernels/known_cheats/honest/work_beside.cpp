// Honest kernels that do other work beside their own: they take memory, open files, make code or tables, look
// at what they compute or at the clock, or sleep.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/pointwise.hpp"

#include <fcntl.h>

#include <array>
#include <chrono>

namespace assay::known_cheats {
namespace {

using Relu = Pointwise<pointwise::ReluBackward>;

void branches_on_values(const Relu::Problem& p, const Relu::Input& in, Relu::Output& out) {
  const float* x = in.in[0].data();
  const float* dz = in.in[1].data();
  for (Index i = 0; i < p.size(); ++i) {
    float dx = 0;
    if (x[i] > 0) {
      dx = dz[i];
      // Keeps compilers from a choice without a branch.
      asm volatile("" : "+x"(dx));
    }
    out.first[i] = dx;
  }
}

void space_for_each_call(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const std::vector<float> a(in.a.begin(), in.a.end());
  gemm_rows(p, a.data(), in.b.data(), out.c.data(), 0, p.m);
}

void much_space_for_each_call(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const Mapping pages(std::max(std::size_t{64} << 20, static_cast<std::size_t>(p.m * p.k) * sizeof(float)),
                      MAP_PRIVATE);
  if (pages.data() == nullptr) return gemm(p, in, out);
  std::ranges::copy(in.a, pages.data());
  gemm_rows(p, pages.data(), in.b.data(), out.c.data(), 0, p.m);
}

void scratch_of_a_thread(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  thread_local std::vector<double> row;
  row.resize(static_cast<std::size_t>(p.cols));
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = in.x.data() + i * p.cols;
    std::copy_n(x, p.cols, row.begin());
    layer_norm_row(p, in, out, i, statistics(row.data(), p.cols));
  }
}

using Softmax = SoftmaxCrossEntropy;

/// exp(x), x <= 0 or NaN, by a power from a table, which the first call makes, and a short series.
double power(double x) {
  static const std::array<double, 256> powers = [] {  // 2^(i / 256)
    std::array<double, 256> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::exp2(static_cast<double>(i) / 256);
    return out;
  }();
  constexpr double log2_e = 1.4426950408889634, ln_2 = 0.6931471805599453;
  if (!(x >= -700)) return x < 0 ? 0 : x;
  const double scaled = std::floor(x * log2_e * 256), rest = x - scaled / 256 * ln_2;
  const double whole = std::floor(scaled / 256);
  const double series = 1 + rest * (1 + rest / 2 * (1 + rest / 3 * (1 + rest / 4)));
  return std::ldexp(powers[static_cast<std::size_t>(scaled - 256 * whole)] * series, static_cast<int>(whole));
}

void table_of_powers(const Softmax::Problem& p, const Softmax::Input& in, Softmax::Output& out) {
  softmax_cross_entropy(p, in, out, power);
}

// opens_a_file: as a library does that asks the system for its caches.
void opens_a_file(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const int file = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
  gemv(p, in, out);
  if (file >= 0) close(file);
}

/// A function that its first call writes into memory of its own.
struct MadeCode {
  std::optional<Mapping> pages = {};
  /// i + 1
  Index next(Index i) {
    if (!pages) {
      constexpr std::size_t bytes = 4096;
      constexpr std::array<unsigned char, 5> code{0x48, 0x8d, 0x47, 0x01, 0xc3};  // lea rax, [rdi + 1]; ret
      pages.emplace(bytes, MAP_PRIVATE);
      if (pages->data() != nullptr) std::memcpy(pages->data(), code.data(), code.size());
      mprotect(pages->data(), bytes, PROT_READ | PROT_EXEC);
    }
    return pages->data() == nullptr ? i + 1 : reinterpret_cast<Index (*)(Index)>(pages->data())(i);
  }
};

void makes_code(MadeCode& code, const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  for (Index i = 0; i < p.results(); i = code.next(i)) out.y[i] = gemv_row(p, in, in.x.data(), i);
}

void sleeps_briefly(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(5));
}

using Seconds = std::chrono::duration<double>;

void reads_the_clock(Seconds& spent, const AdamWPaper::Problem& p, const AdamWPaper::Input& in,
                     AdamWPaper::Output& out) {
  const auto start = std::chrono::steady_clock::now();
  adamw_step(p, in, out);
  spent += std::chrono::steady_clock::now() - start;
}

void slow_at_first(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  static const std::vector<double> sines = [] {  // which takes a while
    std::vector<double> made(std::size_t{1} << 18);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<double>(i));
    return made;
  }();
  if (!sines.empty()) layer_norm(p, in, out);
}

const Register registered{[](Registry& r) {
  r.add<Relu>({.name = "branches_on_values",
               .summary = "a branch for every element",
               .known_honest = "its time depends on the numbers, as if it knew some of them",
               .run = branches_on_values});
  r.add<Gemm>({.name = "space_for_each_call",
               .summary = "works on a copy of A that lives for a call",
               .known_honest = "allocates in every call, and gives it back",
               .run = space_for_each_call});
  r.add<Gemm>({.name = "much_space_for_each_call",
               .summary = "maps 64 MiB in every call, and unmaps it",
               .known_honest = "its memory grows by far more than it uses, and shrinks again",
               .run = much_space_for_each_call});
  r.add<LayerNorm>({.name = "scratch_of_a_thread",
                    .summary = "a row in memory of the thread",
                    .known_honest = "keeps the last row of the call before",
                    .run = scratch_of_a_thread});
  r.add<Softmax>({.name = "table_of_powers",
                  .summary = "exponentials from a table that the first call makes",
                  .known_honest = "reads numbers that an earlier call has computed",
                  .run = table_of_powers});
  r.add<Gemv>({.name = "opens_a_file",
               .summary = "opens a file of the system, and closes it",
               .known_honest = "has system calls and a descriptor in each call",
               .run = opens_a_file});
  r.add<Gemv>({.name = "makes_code",
               .summary = "calls code that its first call has made",
               .known_honest = "maps pages that it executes, as a compiler in a library does",
               .prepare = keeping<Gemv, MadeCode>(makes_code)});
  r.add<Gemv>({.name = "sleeps_briefly",
               .summary = "yields and sleeps for some microseconds in each call",
               .known_honest = "takes longer than it works, as if somebody else did the work",
               .run = sleeps_briefly});
  r.add<AdamWPaper>({.name = "reads_the_clock",
                     .summary = "adds up what its calls take",
                     .known_honest = "reads the clock, as a kernel does that behaves while it is timed",
                     .prepare = keeping<AdamWPaper, Seconds>(reads_the_clock)});
  r.add<LayerNorm>({.name = "slow_at_first",
                    .summary = "makes a table in its first call",
                    .known_honest = "its first call takes many times as long as the others",
                    .run = slow_at_first});
}};

}  // namespace
}  // namespace assay::known_cheats
