#include "app/rejection.hpp"

#include <map>

namespace assay {
namespace {

struct FirstRejection {
  std::string what, detail;
};

void describe(Fields& f, FirstRejection& first) {
  f("what", first.what, {.about = "problem, fill, placement and threads"});
  f("detail", first.detail);
}

}  // namespace

void describe(Fields& f, Rejection& one) {
  f("name", one.name);
  f("published", one.published, {.about = "where, and what it gets wrong"});
  f("checks", one.checks);
  f("rejected", one.rejected);
  f.derived("first", one.first
                         ? std::optional(FirstRejection{in_words(*one.first), one.first->agreement.detail})
                         : std::nullopt);
}

std::vector<Rejection> rejections(const Registry& registry, const std::vector<CornerCheck>& checks) {
  std::map<std::string, Rejection> out;
  for (const CornerCheck& c : checks) {
    const std::string name = c.operation + "/" + c.variant;
    Rejection& found = out[name];
    found.name = name;
    for (const VariantInfo& variant : registry.at(c.operation).variants()) {
      if (variant.name == c.variant) found.published = variant.set_apart_by();
    }
    if (!c.skipped.empty()) continue;
    ++found.checks;
    if (c.agreement.agrees) continue;
    ++found.rejected;
    if (!found.first) found.first = c;
  }
  std::vector<Rejection> in_order;
  for (auto& [name, rejection] : out) in_order.push_back(std::move(rejection));
  return in_order;
}

}  // namespace assay
