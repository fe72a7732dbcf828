// Workspaces as kernels have them: on huge pages, grown by the first call, and filled with a copy of the
// input.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

/// Copies B with stride one along k.
void turn(const Gemm::Problem& p, const Gemm::Input& in, float* to) {
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  for (Index j = 0; j < p.n; ++j) {
    for (Index l = 0; l < p.k; ++l) to[j * p.k + l] = b(l, j);
  }
}

void multiply_turned(const Gemm::Problem& p, const Gemm::Input& in, const float* b, Gemm::Output& out) {
  Gemm::Problem turned = p;
  turned.trans = p.a_transposed() ? 3 : 1;
  gemm_rows(turned, in.a.data(), b, out.c.data(), 0, p.m);
}

class HugePages {
 public:
  explicit HugePages(std::size_t bytes) : bytes_((bytes + huge - 1) / huge * huge + huge) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ != MAP_FAILED) madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  ~HugePages() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  float* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<float*>(data_); }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20;
  std::size_t bytes_;
  void* data_;
};

auto on_huge_pages(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  auto pages = std::make_shared<HugePages>(static_cast<std::size_t>(p.k * p.n) * sizeof(float));
  return [p, pages](const Gemm::Input& in, Gemm::Output& out) {
    if (pages->data() == nullptr) return gemm(p, in, out);
    turn(p, in, pages->data());
    multiply_turned(p, in, pages->data(), out);
  };
}

auto grows_once(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, space = std::make_shared<std::vector<float>>()](const Gemm::Input& in, Gemm::Output& out) {
    space->resize(static_cast<std::size_t>(p.k * p.n));
    turn(p, in, space->data());
    multiply_turned(p, in, space->data(), out);
  };
}

auto copies_input(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  return [p, x = std::make_shared<std::vector<float>>(static_cast<std::size_t>(p.terms()))](
             const Gemv::Input& in, Gemv::Output& out) {
    std::ranges::copy(in.x, x->begin());
    const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
    for (Index i = 0; i < p.results(); ++i) {
      float sum = 0;
      for (Index l = 0; l < p.terms(); ++l) sum += a(i, l) * (*x)[static_cast<std::size_t>(l)];
      out.y[i] = sum;
    }
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "huge_pages",
               .summary = "a copy of B on huge pages",
               .known_honest = "maps memory of its own and advises the system about it",
               .prepare = on_huge_pages});
  r.add<Gemm>({.name = "grows_once",
               .summary = "a copy of B in memory that the first call takes",
               .known_honest = "allocates in a call, and keeps it",
               .prepare = grows_once});
  r.add<Gemv>({.name = "copies_input",
               .summary = "works on a copy of the vector",
               .known_honest = "keeps the input of the call before",
               .prepare = copies_input});
}};

}  // namespace
}  // namespace assay::known_cheats
