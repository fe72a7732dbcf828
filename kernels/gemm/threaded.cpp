// The idea: cut C into one rectangle per thread. Each thread computes its own as `auto` does on one thread,
// by `simd` or, where it is small, by `small`, with space of its own. Threads meet once, at the end, and
// nothing waits for a shared panel. The price: threads in a row of the grid copy the same part of A, those in
// a column the same part of B. The grid is chosen to make equal parts and to copy least. Where C is a row, a
// column or a few rows, its parts would have short runs of the matrix, and where it is small beside A and B,
// most of those would be read twice: there threads divide the steps, and their sums are added at the end.

#include "gemm/grid.hpp"
#include "gemm/products.hpp"
#include "team.hpp"

#include <utility>
#include <vector>

namespace assay {
namespace {

// Least contiguous numbers of a matrix that a thread should read, two pages of them. Shorter runs are fetched
// ahead badly, and parts of rows that are a power of two long use some sets of the caches only.
constexpr Index least_run = 2048;
// Least steps of a thread, so that adding its sums to C costs little.
constexpr Index least_steps = 64;
// Numbers of A and B that take as long to read as a sum to write and add in another core. On two cores of a
// Zen 4 parts of the steps were faster at 48 x 48 x 5000 and slower at 48 x 48 x 500 and 128 x 128 x 2000.
constexpr Index reads_of_a_sum = 12;

/// The number of parts of k, at most those of `grid`: 1 unless C is a row, a column or a few rows of a matrix
/// whose rows would be cut into short runs by cutting C, or steps are many and C is small. There the numbers
/// that several rectangles read cost more than the sums that are written and added. Always 1 where the
/// product is added to C, which needs all digits there.
Index parts_of_steps(const Gemm::Problem& p, const blocked::Grid& grid) {
  if (p.beta != 0) return 1;
  const Index parts = grid.parts(), read_again = p.m * (grid.columns - 1) + p.n * (grid.rows - 1);
  const bool rows = p.m <= 4 && !p.b_transposed(), column = p.n == 1 && p.a_transposed();
  const bool cuts_runs = (rows || column) && (rows ? p.n : p.m) < least_run * parts;
  if (!cuts_runs && read_again * p.k <= reads_of_a_sum * parts * p.m * p.n) return 1;
  return std::min(parts, std::max<Index>(1, p.k / least_steps));
}

struct Plan {
  blocked::Tier tier;
  Gemm::Problem problem;
  int threads = 1;
  blocked::Grid grid;
  Index steps_parts = 1;
  std::vector<Buffer<float>> spaces = {};
  std::vector<Buffer<float>> sums = {};  // all parts of k but the first, which is written to C

  Index parts() const { return steps_parts > 1 ? steps_parts : grid.parts(); }

  blocked::Product part(const Gemm::Input& in, float* c, Index i) const {
    blocked::Product p = blocked::product_of(problem, in, c);
    if (steps_parts == 1) return blocked::part_of(p, blocked::rectangle(grid, p.m, p.n, i));
    const Index l = p.k * i / steps_parts;
    p.k = p.k * (i + 1) / steps_parts - l;
    p.a = blocked::moved(p.a, p.a_transposed ? l * p.lda : l);
    p.b = blocked::moved(p.b, p.b_transposed ? l : l * p.ldb);
    return p;
  }

  void run(const Gemm::Input& in, float* c) {
    on_team(threads, static_cast<int>(parts()), [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      float* const to = steps_parts > 1 && i > 0 ? sums[at - 1].data() : c;
      const blocked::Product product = part(in, to, i);
      blocked::way_of(tier, product).multiply(product, spaces[at].data());
    });
    for (const Buffer<float>& sum : sums) {
      for (Index j = 0; j < sum.size(); ++j) c[j] += sum[j];
    }
  }
};

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context& context) {
  Plan plan{.tier = best_of(blocked::tiers()),
            .problem = p,
            .threads = context.threads,
            .grid = blocked::choose_grid(p.m, p.n, p.k, context.threads)};
  plan.steps_parts = parts_of_steps(p, plan.grid);
  for (Index i = 0; i < plan.parts(); ++i) {
    const blocked::Product product = plan.part(in, nullptr, i);
    plan.spaces.emplace_back(blocked::way_of(plan.tier, product).space_floats(product));
    if (plan.steps_parts > 1 && i > 0) plan.sums.emplace_back(p.m * p.n);
  }
  return [plan = std::move(plan)](const auto& now, auto& out) mutable { plan.run(now, out.c.data()); };
}

const Register registered{[](Registry& r) {
  add_threaded<Gemm>(r, "one rectangle of C per thread, by the best tier of simd or small", prepare, "simd");
}};

}  // namespace
}  // namespace assay
