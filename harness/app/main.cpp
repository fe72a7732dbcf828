#include <iostream>
#include "assay/registry.hpp"
int main() {
  const auto registry = assay::Registry::linked();
  for (const auto* op : registry.operations()) {
    std::cout << op->name() << "\n";
    for (std::size_t v = 0; v < op->variants().size(); ++v) {
      int bad = 0, n = 0;
      for (const auto& text : op->corner_cases())
        for (auto fill : op->fills())
          for (assay::Index skew : {0, 1}) {
            if (op->unfit(v, text, {2})) continue;
            auto w = op->open(text, {fill, assay::Rng(42), {nullptr, skew}});
            auto a = w->check(v, {2});
            ++n;
            if (!a.agrees && ++bad < 4)
              std::cout << op->variants()[v].name << " " << text << " " << to_string(fill) << " skew " << skew
                        << ": " << a.detail << "\n";
          }
      std::cout << "  " << op->variants()[v].name << " " << n - bad << "/" << n << "\n";
    }
  }
}
