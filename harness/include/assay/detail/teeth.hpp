/// Whether the judge of a contract has teeth: answers that were spoiled on purpose.
#pragma once

#include "assay/detail/timed.hpp"

#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::detail {

/// Spoils `tries` random elements of an output in each of the four ways of
/// Operation::surviving_corruptions(), and lists those that were judged to agree all the same. The output is
/// as before when this returns.
template <class T>
void spoil(std::string_view part, Buffer<T>& buffer, Rng& rng, int tries, const std::function<bool()>& agrees,
           std::vector<std::string>& survivors) {
  if (buffer.size() == 0) return;
  for (int attempt = 0; attempt < tries; ++attempt) {
    for (const std::string_view how : {"zeroed", "negated", "unwritten", "swapped"}) {
      const Index at = rng.integer(0, buffer.size() - 1);
      const Index next = at + 1 < buffer.size() ? at + 1 : 0;
      const T before = buffer[at], before_next = buffer[next];
      if (how == "swapped") {
        std::swap(buffer[at], buffer[next]);
      } else if (how == "unwritten") {
        buffer[at] = poison_value<T>();
      } else if constexpr (std::is_arithmetic_v<T>) {
        buffer[at] = how == "zeroed" ? T{} : static_cast<T>(-before);
      } else {
        std::memset(&buffer[at], how == "zeroed" ? 0 : 0x5a, sizeof(T));
      }
      bool changed = std::memcmp(&before, &buffer[at], sizeof(T)) != 0;
      // -0 for 0 is not a corruption.
      if constexpr (std::is_arithmetic_v<T>) changed = changed && (how == "swapped" || before != buffer[at]);
      if (changed && agrees()) {
        survivors.push_back(std::string(part) + "[" + std::to_string(at) + "] " + std::string(how));
      }
      buffer[next] = before_next;
      buffer[at] = before;
    }
  }
}

extern template void spoil<float>(std::string_view, Buffer<float>&, Rng&, int, const std::function<bool()>&,
                                  std::vector<std::string>&);
extern template void spoil<double>(std::string_view, Buffer<double>&, Rng&, int, const std::function<bool()>&,
                                   std::vector<std::string>&);
extern template void spoil<Index>(std::string_view, Buffer<Index>&, Rng&, int, const std::function<bool()>&,
                                  std::vector<std::string>&);

/// Looks for differences between judgements of the whole output and in units, for the output that is right
/// and for `tries` that differ from it in one element of `buffer`, which is as before when this returns.
void compare_units(std::string_view part, Buffer<float>& buffer, Index units, Rng& rng, int tries,
                   const std::function<Agreement()>& whole,
                   const std::function<Agreement(std::vector<Index>)>& in_units,
                   std::vector<std::string>& faults);

}  // namespace assay::detail
