/// A tiny contract for tests of the harness: y[i] = 2 x[i], with as many ways to be wrong as a kernel has.
#pragma once

#include "assay/registry.hpp"

#include <array>

namespace assay::testing {

struct Doubling {
  static constexpr std::string_view name = "doubling";
  static constexpr std::string_view about = "y = 2 x";
  static constexpr int version = 1;
  struct Problem {
    Index rows = 1, columns = 1, mode = 0;
    static constexpr std::array<std::string_view, 2> modes{"plain", "fancy"};
    static constexpr auto fields() {
      return std::tuple{field("rows", &Problem::rows), field("columns", &Problem::columns),
                        choice("mode", &Problem::mode, modes)};
    }
  };
  struct Input {
    Buffer<float> x;
    static constexpr auto parts() { return std::tuple{part("x", &Input::x)}; }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() { return std::tuple{part("y", &Output::y)}; }
  };
  struct Expected {
    std::vector<double> y, bound;
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases() { return {{1, 1}, {3, 5}, {1, 17}}; }
  static double footprint(const Problem& p) {
    return 24 * static_cast<double>(p.rows) * static_cast<double>(p.columns);
  }
  static Input make_input(const Problem& p, Setting& setting) {
    Input in{setting.buffer<float>(p.rows * p.columns)};
    for (float& x : in.x) x = setting.draw();
    return in;
  }
  static Output make_output(const Problem& p, const Input&, const Setting& setting) {
    return {setting.buffer<float>(p.rows * p.columns)};
  }
  static Expected expect(const Problem&, const Input& in, Setting&) {
    Expected want;
    for (const float x : in.x) {
      want.y.push_back(2.0 * static_cast<double>(x));
      want.bound.push_back(0);
    }
    return want;
  }
  static Agreement judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
    return within({"y", {p.rows, p.columns}}, out.y, want.y, want.bound);
  }
  static Cost cost(const Problem& p) {
    const double n = static_cast<double>(p.rows) * static_cast<double>(p.columns);
    return {.flops = n, .bytes_read = 4 * n, .bytes_written = 4 * n};
  }
};

inline void doubled(const Doubling::Problem&, const Doubling::Input& in, Doubling::Output& out) {
  for (Index i = 0; i < in.x.size(); ++i) out.y[i] = 2 * in.x[i];
}

/// A registry that holds the naive variant only.
inline Registry doubling_registry() {
  Registry registry;
  registry.add<Doubling>({.name = "naive", .summary = "the definition", .run = doubled});
  return registry;
}

/// Position of a variant in its operation.
inline std::size_t variant_index(const Operation& operation, std::string_view name) {
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (operation.variants()[v].name == name) return v;
  }
  return operation.variants().size();
}

}  // namespace assay::testing
