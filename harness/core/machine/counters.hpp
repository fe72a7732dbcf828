// Whether the processor's and the kernel's event counters can be read here.
#pragma once

#include <string>

namespace assay {

struct Counters {
  bool hardware = false, software = false;
  std::string why_not;  // why no hardware counters
};
Counters available_counters();

// A counter of this process and of the threads that it starts from now on; a negative number when refused.
int open_counter(unsigned type, unsigned long long event);

}  // namespace assay
