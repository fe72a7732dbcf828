/// The processors that a thread may run on.
#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <vector>

namespace assay {

/// Numbers of processors, as the system numbers them, below 65,536. A `cpu_set_t` ends at 1,024, and the
/// kernel of a larger machine refuses it. Has no memory of its own: a process may use it right after a fork.
class ProcessorSet {
 public:
  ProcessorSet() = default;
  explicit ProcessorSet(const std::vector<int>& numbers) {
    for (const int number : numbers) add(number);
  }
  /// Returns the processors of a thread, 0 for the calling thread; none where the system does not say.
  static ProcessorSet of_thread(int thread = 0) {
    ProcessorSet out;
    if (sched_getaffinity(thread, sizeof out.bits_, out.bits_.data()) != 0) return {};
    return out;
  }

  /// Lets the thread run on these alone. False where the system refuses, and the thread stays where it is.
  bool give_to(int thread) const { return sched_setaffinity(thread, sizeof bits_, bits_.data()) == 0; }
  void add(int number) { CPU_SET_S(static_cast<std::size_t>(number), sizeof bits_, bits_.data()); }
  int count() const { return CPU_COUNT_S(sizeof bits_, bits_.data()); }
  /// In ascending order.
  std::vector<int> numbers() const {
    std::vector<int> out;
    for (std::size_t part = 0; part < parts; ++part) {
      if (CPU_COUNT(&bits_[part]) == 0) continue;  // most of them, on any machine
      for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &bits_[part])) out.push_back(static_cast<int>(part * CPU_SETSIZE + i));
      }
    }
    return out;
  }

  bool operator==(const ProcessorSet& other) const {
    return CPU_EQUAL_S(sizeof bits_, bits_.data(), other.bits_.data()) != 0;
  }

 private:
  static constexpr std::size_t parts = 64;
  std::array<cpu_set_t, parts> bits_{};
};

}  // namespace assay
