// this_machine(): everything that makes two results comparable or not, as named facts, and how files hold it.

#include "core/machine/fields.hpp"

#include "assay/caches.hpp"
#include "core/files/processor_set.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/processor.hpp"
#include "core/machine/topology.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

namespace assay {
namespace {

const std::string not_visible = "not visible";

std::string or_not_visible(std::string value) { return value.empty() ? not_visible : value; }

std::string processor_text(const Processor& p) {
  const std::string model = or_not_visible(p.model);
  if (p.family < 0) return model;
  return fmt::format("{}, family {} model {} stepping {}", model, p.family, p.model_number, p.stepping);
}

std::string cache_text(const std::vector<Cache>& caches) {
  std::string out;
  for (const auto& cache : caches) {
    out += fmt::format("{}L{} {}", out.empty() ? "" : ", ", cache.level, bytes_text(cache.bytes));
    if (cache.sharers > 1) out += fmt::format(" shared by {}", cache.sharers);
  }
  return or_not_visible(out);
}

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.release) : not_visible;
}

std::string c_library() {
#ifdef __GLIBC__
  return fmt::format("glibc {}", gnu_get_libc_version());
#else
  return not_visible;
#endif
}

// "always [madvise] never" → madvise
std::string huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto from = line.find('['), to = line.find(']');
  if (from == std::string::npos || to == std::string::npos || to < from) return not_visible;
  return line.substr(from + 1, to - from - 1);
}

// Lists the kernel's mitigations that cost time here, and the vulnerabilities that are left open.
std::string mitigations() {
  std::set<std::string> mitigated, open;
  std::error_code error;
  for (const auto& file :
       std::filesystem::directory_iterator("/sys/devices/system/cpu/vulnerabilities", error)) {
    const std::string state = first_line(file.path().string());
    if (state.starts_with("Mitigation")) mitigated.insert(file.path().filename().string());
    if (state.starts_with("Vulnerable")) open.insert(file.path().filename().string());
  }
  if (error) return not_visible;
  return fmt::format("on: {}; open: {}",
                     mitigated.empty() ? "none" : fmt::format("{}", fmt::join(mitigated, " ")),
                     open.empty() ? "none" : fmt::format("{}", fmt::join(open, " ")));
}

// Variables that change how the same program runs. The first few are always listed,
// since unset is a setting too.
void add_environment(std::vector<Fact>& facts) {
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "OMP_PROC_BIND"})
    facts.push_back({name, variable(name).value_or("unset")});
  std::vector<Fact> set;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const bool matters = name == caches_variable || name.starts_with("MALLOC_") ||
                         name.starts_with("OPENBLAS_") || name == "GLIBC_TUNABLES" || name == "LD_PRELOAD" ||
                         name == "OMP_PLACES" || name == "OMP_WAIT_POLICY" || name == "OMP_DYNAMIC" ||
                         name == "GOMP_CPU_AFFINITY" || name == "GOMP_SPINCOUNT";
    const bool listed = std::ranges::any_of(facts, [&](const Fact& fact) { return fact.name == name; });
    if (matters && !listed && equals != std::string_view::npos) {
      set.push_back({std::string(name), std::string(text.substr(equals + 1))});
    }
  }
  std::ranges::sort(set, {}, &Fact::name);
  std::ranges::move(set, std::back_inserter(facts));
}

constexpr Fields::Rule from_zero{.least = 0, .most = most_amount};
constexpr Fields::Rule optional_from_zero{.optional = true, .least = 0, .most = most_amount};

}  // namespace

const Fact* find_fact(const std::vector<Fact>& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  return found == facts.end() ? nullptr : &*found;
}

std::string fact_value(const std::vector<Fact>& facts, std::string_view name, std::string_view otherwise) {
  const Fact* const found = find_fact(facts, name);
  return found == nullptr ? std::string(otherwise) : found->value;
}

Machine this_machine() {
  const Processor processor = this_processor();
  const Limits limits = limits_of_process(try_read);
  const std::vector<int> allowed = ProcessorSet::of_thread().numbers();
  const BuildInfo& build = build_info();
  const OpenBlas blas = linked_openblas();

  Machine machine;
  machine.cores = usable_cores(this_topology(), allowed, limits.processors);
  machine.key = machine_key(processor, machine.cores);
  machine.memory_bytes = available_memory(try_read, limits);
  machine.caches = data_caches(try_read, this_topology(), allowed);

  auto& facts = machine.facts;
  facts = {
      {"processor", processor_text(processor)},
      {"cores", fmt::format("{}", machine.cores)},
      {"instruction sets", or_not_visible(fmt::format("{}", fmt::join(processor.features, " ")))},
      {"caches", cache_text(machine.caches)},
      {"hypervisor", processor.hypervisor.empty() ? "none seen" : processor.hypervisor},
      {"compiler", build.compiler},
      {"build type", build.build_type.empty() ? "none" : build.build_type},
      {"kernel flags", build.kernel_flags},
      {"reference flags", build.reference_flags},
      {"C library", c_library()},
      {"Highway", or_not_visible(build.highway)},
      {"Google Benchmark", or_not_visible(build.benchmark)},
      {"OpenBLAS", blas.linked ? or_not_visible(blas.configuration) : "not linked"},
      {"OpenBLAS core", blas.linked ? or_not_visible(blas.core) : "not linked"},
      // Results from before this was so have times of calls that found their input in the caches.
      {"input", "new before each call"},
  };
  add_environment(facts);
  const double memory = total_memory(try_read, limits);
  const std::vector<Fact> others = {
      {"topology", topology_text(this_topology(), allowed), false},
      {"memory", memory > 0 ? bytes_text(memory) : not_visible, false},
      {"assay", fmt::format("{} ({})", build.version, build.commit), false},
      {"system", kernel_release(), false},
      {"microcode", or_not_visible(field_of(try_read("/proc/cpuinfo").value_or(""), "microcode")), false},
      {"frequency governor",
       or_not_visible(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")), false},
      {"transparent huge pages", huge_pages(), false},
      {"mitigations", mitigations(), false},
  };
  facts.insert(facts.end(), others.begin(), others.end());
  // Absent from usual builds, as from files that are older than the choice.
  if (build.tiers != "usual") facts.push_back({"tiers built", build.tiers, false});
  return machine;
}

std::vector<std::string> differences(const std::vector<Fact>& before, const std::vector<Fact>& after,
                                     bool deciding_only) {
  std::vector<std::string> out;
  const auto add = [&](const Fact& fact, const Fact* other) {
    const std::string was = fact_value(before, fact.name), is = fact_value(after, fact.name);
    const bool decides = fact.decides || (other != nullptr && other->decides);
    if (was != is && (decides || !deciding_only))
      out.push_back(fmt::format("{}: {} -> {}", fact.name, was, is));
  };
  for (const Fact& fact : before) add(fact, find_fact(after, fact.name));
  for (const Fact& fact : after) {
    if (find_fact(before, fact.name) == nullptr) add(fact, nullptr);
  }
  return out;
}

void describe(Fields& f, Fact& fact) {
  ASSAY_FIELDS(f, fact, name, value);
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
