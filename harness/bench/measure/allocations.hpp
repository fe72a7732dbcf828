/// Counts heap allocations of the whole process, all threads, through operator new.
#pragma once

#include "assay/operation.hpp"

#include <functional>

namespace assay {

struct Allocations {
  double count = 0;
  double bytes = 0;
  bool operator==(const Allocations&) const = default;
};

/// Allocations made by one call of the kernel. Memory that a C library takes by malloc or mmap is not seen.
Allocations allocations_of_one_call(Timed& timed);

/// Bytes of the heap that `work` takes and does not give back.
double bytes_kept_by(const std::function<void()>& work);

}  // namespace assay
