// The idea: the order of all pairs of tasks is computed once, 64 tasks per instruction, and a question about
// a pair reads a bit. Quadratic in the number of tasks, in memory too: 32 MiB at 16,384 tasks.

#include "assay/ops/task_graph.hpp"

namespace assay {
namespace {

class AncestorBits {
 public:
  explicit AncestorBits(Index tasks)
      : words_((static_cast<std::size_t>(tasks) + 63) / 64),
        after_(static_cast<std::size_t>(tasks) * words_),
        frees_(after_.size()),
        fit_(tasks) {}

  void operator()(const TaskGraphMemory::Input& in, TaskGraphMemory::Output& out) {
    const Dag& graph = in.graph;
    std::ranges::fill(after_, std::uint64_t{0});
    for (std::size_t i = graph.order.size(); i-- > 0;) {
      const TaskId task = graph.order[i];
      std::uint64_t* const after = row(after_, task);
      for (const TaskId next : graph.successors[task]) {
        const std::uint64_t* const theirs = row(after_, next);
        for (std::size_t w = 0; w < words_; ++w) after[w] |= theirs[w];
        after[word(next)] |= bit(next);
      }
    }
    for (TaskId task = 0; task < graph.tasks(); ++task) {
      std::uint64_t* const frees = row(frees_, task);
      const auto readers = graph.successors[task];
      std::copy_n(row(after_, readers.empty() ? task : readers.front()), words_, frees);
      for (const TaskId reader : readers) {
        const std::uint64_t* const after = row(after_, reader);
        for (std::size_t w = 0; w < words_; ++w) frees[w] &= after[w];
      }
    }
    const auto conflict = [&](TaskId a, TaskId b) {
      return (row(frees_, a)[word(b)] & bit(b)) == 0 && (row(frees_, b)[word(a)] & bit(a)) == 0;
    };
    fit_.place(in.bytes, conflict, out);
  }

 private:
  static std::size_t word(TaskId task) { return static_cast<std::size_t>(task) / 64; }
  static std::uint64_t bit(TaskId task) { return std::uint64_t{1} << (task % 64); }
  std::uint64_t* row(std::vector<std::uint64_t>& bits, TaskId task) const {
    return bits.data() + static_cast<std::size_t>(task) * words_;
  }

  std::size_t words_;
  std::vector<std::uint64_t> after_;  ///< per task, the tasks that a path from it reaches
  std::vector<std::uint64_t> frees_;  ///< per buffer, the tasks that may overwrite it
  task_graph_memory::FirstFit fit_;
};

const Register registered{[](Registry& r) {
  r.add<TaskGraphMemory>({.name = "ancestor_bits",
                          .summary = "the transitive closure as rows of bits",
                          .prepare = [](const auto&, const auto& in, const Context&) {
                            return AncestorBits(in.graph.tasks());
                          }});
}};

}  // namespace
}  // namespace assay
