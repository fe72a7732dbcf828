#include "core/files/processor_set.hpp"

namespace assay {

ProcessorSet::ProcessorSet(const std::vector<int>& numbers) {
  for (const int number : numbers) add(number);
}

ProcessorSet ProcessorSet::of_thread(int thread) {
  ProcessorSet out;
  if (sched_getaffinity(thread, sizeof out.bits_, out.bits_.data()) != 0) return {};
  return out;
}

bool ProcessorSet::give_to(int thread) const {
  return sched_setaffinity(thread, sizeof bits_, bits_.data()) == 0;
}

void ProcessorSet::add(int number) {
  CPU_SET_S(static_cast<std::size_t>(number), sizeof bits_, bits_.data());
}

int ProcessorSet::count() const { return CPU_COUNT_S(sizeof bits_, bits_.data()); }

std::vector<int> ProcessorSet::numbers() const {
  std::vector<int> out;
  for (std::size_t part = 0; part < parts; ++part) {
    if (CPU_COUNT(&bits_[part]) == 0) continue;  // most of them, on any machine
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &bits_[part])) out.push_back(static_cast<int>(part * CPU_SETSIZE + i));
    }
  }
  return out;
}

bool ProcessorSet::operator==(const ProcessorSet& other) const {
  return CPU_EQUAL_S(sizeof bits_, bits_.data(), other.bits_.data()) != 0;
}

}  // namespace assay
