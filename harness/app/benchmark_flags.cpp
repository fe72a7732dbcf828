#include "app/benchmark_flags.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace assay {
namespace {

constexpr std::string_view prefix = "--benchmark_";

template <class Number>
Number parse_number(const std::string& flag, std::string_view text, Number low) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = failure == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(value >= low) || !std::isfinite(static_cast<double>(value))) {
    throw Error(flag, fmt::format("'{}' is not a finite number of at least {}", text, low),
                "give such a number");
  }
  return value;
}

bool parse_truth(const std::string& flag, std::string_view text) {
  if (text.empty() || text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  throw Error(flag, fmt::format("'{}' is neither true nor false", text), "write true or false");
}

std::string parse_format(const std::string& flag, const std::string& text) {
  if (text == "json" || text == "console" || text == "csv") return text;
  throw Error(flag, fmt::format("'{}' is not a format", text), "write json, console or csv");
}

void parse_min_time(BenchmarkFlags& flags, const std::string& flag, std::string_view text) {
  if (text.ends_with('x')) {
    flags.calls_per_slice = parse_number<Index>(flag, text.substr(0, text.size() - 1), 1);
  } else {
    if (text.ends_with('s')) text.remove_suffix(1);
    flags.min_time = parse_number<double>(flag, text, 0);
  }
}

using Setter = void (*)(BenchmarkFlags&, const std::string& flag, const std::string& value);

struct Known {
  std::string_view name;
  Setter set;
};

constexpr std::array known{
    Known{"filter", [](BenchmarkFlags& f, const std::string&, const std::string& v) { f.filter = v; }},
    Known{"list_tests", [](BenchmarkFlags& f, const std::string& n,
                           const std::string& v) { f.list_tests = parse_truth(n, v); }},
    Known{"out", [](BenchmarkFlags& f, const std::string&, const std::string& v) { f.out = v; }},
    Known{"out_format", [](BenchmarkFlags& f, const std::string& n,
                           const std::string& v) { f.out_format = parse_format(n, v); }},
    Known{"format", [](BenchmarkFlags& f, const std::string& n,
                       const std::string& v) { f.format = parse_format(n, v); }},
    Known{"repetitions", [](BenchmarkFlags& f, const std::string& n,
                            const std::string& v) { f.repetitions = parse_number<int>(n, v, 1); }},
    Known{"min_time",
          [](BenchmarkFlags& f, const std::string& n, const std::string& v) { parse_min_time(f, n, v); }},
    // Always so here: variants of one case are sampled in mixed order.
    Known{"enable_random_interleaving",
          [](BenchmarkFlags&, const std::string& n, const std::string& v) {
            if (!parse_truth(n, v))
              throw Error(n, "cannot be turned off", "trials are always sampled in mixed order");
          }},
    // These change how Google Benchmark prints; the values themselves are the same.
    Known{"color", [](BenchmarkFlags&, const std::string&, const std::string&) {}},
    Known{"counters_tabular", [](BenchmarkFlags&, const std::string&, const std::string&) {}},
};

std::string variable_name(std::string_view flag) {
  std::string out = "BENCHMARK_";
  for (const char c : flag) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

void take(BenchmarkFlags& flags, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  const auto entry = std::ranges::find(known, std::string_view(flag).substr(prefix.size()), &Known::name);
  if (entry == known.end()) {
    std::string names;
    for (const Known& k : known) names += (names.empty() ? "" : ", ") + std::string(k.name);
    throw Error(flag, "is not a flag that assay honours", "known after --benchmark_: " + names);
  }
  entry->set(flags, flag, value);
}

}  // namespace

BenchmarkFlags take_benchmark_flags(std::vector<std::string>& arguments,
                                    const std::function<const char*(const char*)>& environment) {
  BenchmarkFlags flags;
  for (const Known& k : known) {
    const std::string name = variable_name(k.name);
    if (const char* value = environment(name.c_str()); value != nullptr) k.set(flags, name, value);
  }
  std::erase_if(arguments, [&](const std::string& argument) {
    if (!argument.starts_with(prefix)) return false;
    take(flags, argument);
    return true;
  });
  return flags;
}

}  // namespace assay
