// The limit of whoever gathers small records in random order: cache lines per second.
#pragma once

namespace assay {

struct RandomLines {
  double working_set_bytes = 0;
  double per_second = 0;  // of 64 bytes, by one thread that asks for them ahead; 0: not measured
};

// The best of slices, as all roofs are; takes about `seconds`. Nothing where the memory is less than eight
// times what it walks through.
RandomLines measure_random_lines(double memory_bytes, double seconds);

}  // namespace assay
