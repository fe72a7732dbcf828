// The limit for gathering small records in random order: cache lines per second.
#pragma once

namespace assay {

struct RandomLines {
  double working_set_bytes = 0;
  double per_second = 0;  // of 64 bytes, by one thread that asks for them ahead; 0: not measured
};

// Returns the best of slices, as for all roofs; takes about `seconds`. Measures nothing where the memory is
// less than eight times the working set.
RandomLines measure_random_lines(double memory_bytes, double seconds);

}  // namespace assay
