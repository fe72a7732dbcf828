// Trick: half of the rows are normalized by another process, which no count of threads shows.

#include "known_cheats/honest_work/layernorm.hpp"

#include "assay/registry.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <memory>

namespace assay::known_cheats {
namespace {

/// Memory that a child writes to and its parent reads.
class Shared {
 public:
  explicit Shared(std::size_t floats)
      : bytes_(floats * sizeof(float)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~Shared() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  float* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

auto prepare(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  return [p, shared = std::make_shared<Shared>(static_cast<std::size_t>(p.rows * (p.cols + 2)))](
             const LayerNorm::Input& in, LayerNorm::Output& out) {
    const Index half = p.rows / 2;
    const Index rest = p.rows - half;
    float* y = shared->data();
    const pid_t child = y == nullptr ? -1 : fork();
    if (child < 0) return layer_norm(p, in, out);
    if (child == 0) {
      for (Index row = half; row < p.rows; ++row) layer_norm_row(p, in, out, row);
      std::copy_n(out.y.data() + half * p.cols, rest * p.cols, y);
      std::copy_n(out.mean.data() + half, rest, y + rest * p.cols);
      std::copy_n(out.rstd.data() + half, rest, y + rest * (p.cols + 1));
      _exit(0);
    }
    for (Index row = 0; row < half; ++row) layer_norm_row(p, in, out, row);
    waitpid(child, nullptr, 0);
    std::copy_n(y, rest * p.cols, out.y.data() + half * p.cols);
    std::copy_n(y + rest * p.cols, rest, out.mean.data() + half);
    std::copy_n(y + rest * (p.cols + 1), rest, out.rstd.data() + half);
  };
}

std::optional<std::string> unfit(const LayerNorm::Problem& p, const Context&) {
  if (p.rows > 1 && p.rows * p.cols >= 4096) return std::nullopt;
  return "a process costs more than so few rows";
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "forks_a_helper",
                    .summary = "each call forks a process for half of the rows",
                    .known_cheat =
                        "works on another core in a process of its own; no source: thread injection that "
                        "a count of threads does not show",
                    .prepare = prepare,
                    .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
