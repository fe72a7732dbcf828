#include "core/machine/fields.hpp"

#include <array>

namespace assay {

namespace {

constexpr Fields::Rule from_zero{.least = 0, .most = most_amount};
constexpr Fields::Rule optional_from_zero{.optional = true, .least = 0, .most = most_amount};

}  // namespace

void describe(Fields& f, Fact& fact) {
  f("name", fact.name);
  f("value", fact.value);
  f("decides", fact.decides, {.optional = true, .about = "results that differ in it are not comparable"});
}

void describe(Fields& f, Cache& cache) {
  f("level", cache.level, {.low = 0, .high = 9, .about = "1 is next to the core"});
  f("bytes", cache.bytes, from_zero);
  f("sharers", cache.sharers, {.optional = true, .low = 1, .high = most_threads, .about = "cores"});
}

void describe(Fields& f, Machine& machine) {
  f("key", machine.key, {.optional = true, .about = "names the folder of its baselines"});
  f("cores", machine.cores, {.optional = true, .low = 1, .high = most_threads});
  f("memory_bytes", machine.memory_bytes, optional_from_zero);
  f("caches", machine.caches, {.optional = true});
  f("facts", machine.facts, {.optional = true});
}

void describe(Fields& f, TrafficMix& mix) {
  f("written_share", mix.written_share, {.least = 0, .most = 1, .about = "of the bytes"});
  f("bytes_per_second", mix.bytes_per_second, from_zero);
}

void describe(Fields& f, Bandwidth& bandwidth) {
  f("level", bandwidth.level);
  f("working_set_bytes", bandwidth.working_set_bytes, from_zero);
  f("bytes_per_second", bandwidth.bytes_per_second,
    {.least = 0, .most = most_amount, .about = "two reads for each write"});
  f("mixes", bandwidth.mixes, {.optional = true, .about = "other shares of writes, growing"});
}

void describe(Fields& f, Roof& roof) {
  f("threads", roof.threads, {.low = 1, .high = most_threads});
  f("flops_per_second", roof.flops_per_second, optional_from_zero);
  f("bandwidth", roof.bandwidth, {.optional = true});
  f("measurements", roof.measurements,
    {.optional = true, .low = 1, .about = "the larger of each figure was kept"});
  f("weather", roof.weather);
}

void describe(Fields& f, Weather& weather) {
  constexpr Fields::Rule share{.optional = true, .least = 0, .most = 1};
  constexpr std::string_view or_unknown = "-1: not known";
  f("seconds", weather.seconds, {.optional = true, .least = 0, .most = most_seconds});
  f("steal_share", weather.steal_share, share);
  f("other_busy_share", weather.other_busy_share, share);
  f("cpu_pressure_share", weather.cpu_pressure_share,
    {.optional = true, .least = -1, .most = 1, .about = or_unknown});
  f("involuntary_switches", weather.involuntary_switches, optional_from_zero);
  f("migrations", weather.migrations,
    {.optional = true, .least = -1, .most = most_amount, .about = or_unknown});
  f("major_faults", weather.major_faults, optional_from_zero);
}

void describe(Fields& f, Cost& cost) {
  f("flops", cost.flops, optional_from_zero);
  f("bytes_read", cost.bytes_read, optional_from_zero);
  f("bytes_written", cost.bytes_written, optional_from_zero);
  if (!f.writes() || !cost.f32) f("f32", cost.f32, {.optional = true, .about = "true, where it is missing"});
  f("avoidable_flops", cost.avoidable_flops,
    {.terse = true, .least = 0, .most = most_amount, .about = "of them, a kernel may do without"});
  f("avoidable_bytes", cost.avoidable_bytes,
    {.terse = true, .least = 0, .most = most_amount, .about = "of those read, likewise"});
}

void describe(Fields& f, Figure& figure) {
  static constexpr std::array<std::string_view, 3> better{"lower", "higher", "neither"};
  Fields::Rule finite = finite_number, beyond = finite_number;
  beyond.about = "that no right output passes";
  static constexpr std::array<std::string_view, 4> joins{"most", "least", "mean", "sum"};
  f("tag", figure.tag, {.terse = true, .about = "its name in files"});
  f("name", figure.name);
  finite.optional = f.tells() || !figure.tag.empty();  // a description has no value
  if (!f.writes() || figure.tag.empty()) f("value", figure.value, finite);
  f("unit", figure.unit, {.terse = true});
  f("better", figure.better, better, {.about = "which way; neither: it is told and not judged"});
  f("bound", figure.bound, beyond);
  if (!f.writes() || !figure.tag.empty()) {
    f("join", figure.join, joins,
      {.optional = true, .about = "how values of several process starts become one"});
  }
  f("about", figure.about, {.terse = true});
  f.derived("gap", gap_of(figure), {.about = "share of the bound by which it is off it"});
}

void describe(Fields& f, Agreement& agreement) {
  f("agrees", agreement.agrees);
  f("worst_error", agreement.worst_error, {.optional = true, .about = "in units of the bound"});
  f("compared", agreement.compared, {.optional = true, .low = 0});
  f("total", agreement.total, {.optional = true, .low = 0});
  f("detail", agreement.detail, {.optional = true});
  f("figures", agreement.figures,
    {.terse = true, .about = "what a right output is worth besides its time, such as the height of a plan"});
}

void describe(Fields& f, Interval& interval, std::string_view middle) {
  constexpr std::array<std::string_view, 2> bases{"launches", "slices"};
  f("low", interval.low);
  f(middle, interval.middle);
  f("high", interval.high);
  f("coverage", interval.coverage, {.least = 0, .most = 1, .about = "0.95 for 95 %; 0: no interval"});
  f("over", interval.basis, bases,
    {.terse = true, .about = "launches (process starts), where it is missing"});
}

}  // namespace assay
