/// The processors that a thread may run on.
#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <vector>

namespace assay {

/// Numbers of processors, as the system numbers them, below 65,536. A `cpu_set_t` ends at 1,024, and the
/// kernel of a larger machine refuses it. Has no memory of its own, so that a process may use it right after
/// a fork.
class ProcessorSet {
 public:
  ProcessorSet() = default;
  explicit ProcessorSet(const std::vector<int>& numbers);
  /// Returns the processors of a thread, 0 for the calling thread; none where the system does not say.
  static ProcessorSet of_thread(int thread = 0);

  /// Lets the thread run on these alone. False where the system refuses, and the thread stays where it is.
  bool give_to(int thread) const;
  void add(int number);
  int count() const;
  /// In ascending order.
  std::vector<int> numbers() const;

  bool operator==(const ProcessorSet& other) const;

 private:
  static constexpr std::size_t parts = 64;
  std::array<cpu_set_t, parts> bits_{};
};

}  // namespace assay
