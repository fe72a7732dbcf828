#include "bench/tune/cache_attempts.hpp"

namespace assay {
namespace {

/// Those that differ least stand first.
std::vector<CacheSizes> near(const CacheSizes& system) {
  std::vector<CacheSizes> out;
  const auto add = [&](double CacheSizes::*of, double factor) {
    CacheSizes next = system;
    next.*of *= factor;
    if (next.first <= next.second && next.second <= next.last) out.push_back(next);
  };
  for (double CacheSizes::*of : {&CacheSizes::first, &CacheSizes::second, &CacheSizes::last}) {
    add(of, 0.5);
    add(of, 2);
  }
  add(&CacheSizes::last, 0.25);
  return out;
}

}  // namespace

std::vector<ValueAttempt> cache_attempts(const std::vector<std::string>& wanted, const CacheSizes& system) {
  std::vector<CacheSizes> sizes;
  for (const std::string& text : wanted) sizes.push_back(cache_sizes_from(text, "--caches"));
  if (wanted.empty()) sizes = near(system);
  std::vector<ValueAttempt> out(1);
  out.front().reported = to_text(system);
  for (const CacheSizes& one : sizes) {
    const std::string text = to_text(one);
    ValueAttempt next{.value = text, .reported = text};
    if (one == system) next.left_out = "what the default uses";
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace assay
