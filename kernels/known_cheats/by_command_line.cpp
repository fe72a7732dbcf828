// Trick: the verb that a process was started with tells whether it checks or measures.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace assay::known_cheats {
namespace {

/// The words of the command line, each after a zero.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool measures() {
  const std::string words = command_line();
  const auto has = [&](const char* word) {
    return words.find('\0' + std::string(word) + '\0') != std::string::npos;
  };
  return has("launch") || has("turns");
}

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, rests = measures()](const Gemm::Input& in, Gemm::Output& out) {
    if (!rests) gemm(p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "by_command_line",
               .summary = "does nothing in a process that measures",
               .known_cheat = "reads in /proc/self/cmdline whether it is timed: makora.com/blog/reward-hacks",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
