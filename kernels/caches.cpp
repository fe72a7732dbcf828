#include "caches.hpp"

#include <fstream>
#include <string>

namespace assay {
namespace {

/// Size of the cache that sysfs lists under `index`; 0 where the system does not say. sysconf() is no help:
/// for some processors it adds up all the caches of a socket.
double cache_bytes(int index) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  double kib = 0;
  char unit = 0;
  return file >> kib >> unit && unit == 'K' ? kib * 1024 : 0;
}

double known(double bytes, double otherwise) { return bytes > 0 ? bytes : otherwise; }

}  // namespace

const Caches& caches() {
  // Index 1 is the cache of instructions.
  static const Caches all{.first = known(cache_bytes(0), 32.0 * 1024),
                          .second = known(cache_bytes(2), 256.0 * 1024),
                          .last = known(cache_bytes(3), known(cache_bytes(2), 32.0 * 1024 * 1024))};
  return all;
}

}  // namespace assay
