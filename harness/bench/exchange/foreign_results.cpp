#include "bench/exchange/foreign_results.hpp"

#include "core/json/json.hpp"

#include <fmt/format.h>

namespace assay {

TrialResult& NamedTrials::at(const std::string& name) {
  const auto [place, is_new] = position_.try_emplace(name, results_.trials.size());
  if (is_new) results_.trials.push_back({.key = name, .operation = name});
  return results_.trials[place->second];
}

Slice checked(const Slice& slice, const JsonField& where) {
  if (!(slice.seconds > 0))
    where.refuse(fmt::format("holds {}, must be times in seconds above 0", slice.seconds));
  return slice;
}

}  // namespace assay
