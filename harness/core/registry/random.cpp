#include "assay/random.hpp"

#include "assay/error.hpp"

#include <sys/random.h>

namespace assay {

std::uint64_t secret() {
  std::uint64_t out = 0;
  if (getrandom(&out, sizeof out, 0) != sizeof out) {
    throw Error("getrandom", "gave no random numbers", "ask the system's administrator");
  }
  return out;
}

}  // namespace assay
