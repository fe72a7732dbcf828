#include "training/job/read_job.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"
#include "core/text/parts.hpp"
#include "training/job/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// The beginning of a file, which tells its kind: schemas stand first, and lists of devices before the events
/// of a trace are short.
struct Beginning {
  explicit Beginning(const std::filesystem::path& file) : text(unpacked(file, 1 << 18)) {
    const std::size_t at = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (at != std::string::npos) first = text[at];
  }
  bool has(const char* word) const { return text.find(word) != std::string::npos; }
  bool has_events() const { return has("\"traceEvents\"") || has("\"ph\"") || has("\"schemaVersion\""); }

  std::string text;
  char first = '\0';  ///< 0 of an empty file
};

constexpr Index most = Index{1} << 50;

/// A time below zero is a finding of lint().
Fields::Rule time_rule(bool optional, std::string_view about = {}) {
  return {.optional = optional, .least = -most_seconds, .most = most_seconds, .about = about};
}

void require_some(const Fields& f, std::string_view name, const std::vector<double>& seconds) {
  if (!f.reads() || !seconds.empty() || !f.place().find(name)) return;
  f.refuse(name, "must hold the time of at least one step");
}

void quoted(Fields& f, std::string_view name, std::optional<Quoted>& value, Quantity quantity,
            std::string_view example) {
  std::optional<std::string> text;
  if (value) text = value->text;
  f(name, text, {.about = example});
  if (!f.reads() || !text) return;
  value = parse_quoted(*text);
  if (value && value->quantity == quantity) return;
  f.refuse(name, fmt::format("is \"{}\", must be a figure with its unit as a text, such as \"{}\"", *text,
                             example));
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> out;
  csv::each_cell(line, separator, [&](Index, std::string_view cell) {
    const bool quoted = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
    out.push_back(quoted ? cell.substr(1, cell.size() - 2) : cell);
  });
  return out;
}

/// Those after `load` are of the lines that assay.timed() streams.
enum class Role { step, time, load, samples, phase, process, train, workers, unit, dropped };
const std::map<std::string_view, Role> named_roles{
    {"step", Role::step},       {"unit", Role::unit},   {"samples", Role::samples}, {"phase", Role::phase},
    {"process", Role::process}, {"train", Role::train}, {"workers", Role::workers}};

struct Column {
  Role role = Role::dropped;
  double unit = 0;  ///< 0: not named
  std::string name;
};

Column column_of(std::string_view cell) {
  // timm and mmengine: the time of a step, and how much of it waits for data.
  std::string name(cell == "data_time" ? "load_time" : cell == "batch_time" ? "step_time" : cell);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ') c = '_';
  }
  const auto named = named_roles.find(name);
  if (named != named_roles.end()) return {named->second, 0, std::string(cell)};
  const Role role = name.starts_with("load") ? Role::load : Role::time;
  std::string_view rest = name;
  if (name.starts_with("load") || name.starts_with("step")) rest.remove_prefix(4);
  if (rest.size() < name.size() && rest.starts_with('_')) rest.remove_prefix(1);
  const double unit = seconds_in(rest);
  const bool unnamed = rest == "time" || rest == "duration" || (rest.empty() && role == Role::load);
  return {unnamed || unit > 0 ? role : Role::dropped, unit, std::string(cell)};
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& where, const std::string& unit)
      : where_(where), unit_word_(unit), unit_(seconds_in(unit)), job_{.name = where, .source = where} {
    if (!unit.empty() && unit_ <= 0) {
      throw Error("--unit", fmt::format("{} is no unit of time", unit), "use s, ms, us or ns");
    }
    std::istringstream lines{std::string(csv::without_mark(text))};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      if (!csv::trimmed(line).empty()) take(line);
    }
    if (job_.windows.empty()) throw Error(where_, "holds no step time", "give one row per step");
  }

  Job job() {
    int run = 0;
    for (TimedWindow& one : job_.windows) {
      one = timed_window(one.first_step, std::move(one.step_seconds));
      one.run = run++;
    }
    if (!validation_.empty()) {
      // A batch of validation counts as one of training, whatever its size.
      const auto batch = static_cast<double>(job_.dataset.batch),
                 own = static_cast<double>(validation_batch_);
      for (double& seconds : validation_) seconds *= batch > 0 && own > 0 ? batch / own : 1;
      job_.phases.push_back(
          timed_phase("validation", PhaseKind::compute, validation_, false, Scope::validation));
    }
    if (!loads_.empty()) job_.phases.push_back(timed_phase("load", PhaseKind::load, loads_));
    for (const Column& column : columns_) {
      if (column.role == Role::dropped) {
        job_.notes.push_back(fmt::format(
            "dropped column {}: it is neither step, unit, nor named for a unit of time", column.name));
      }
    }
    if (count(Role::step) == 0) {
      job_.notes.push_back("there is no column step: the first row is taken for the first step of an epoch");
    }
    return std::move(job_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(fmt::format("{}: line {}", where_, line_), what, "mend the line, or take it out");
  }
  [[noreturn]] void refuse_unit(const std::string& what) const {
    throw Error("--unit", fmt::format("is {}, but {}", unit_word_, what), "leave it out");
  }

  std::ptrdiff_t count(Role role) const { return std::ranges::count(columns_, role, &Column::role); }

  void take(std::string_view line) {
    if (columns_.empty()) {
      const auto at = line.find_first_of(",;\t");
      if (at != std::string_view::npos) separator_ = line[at];
      const std::vector<std::string_view> cells = cells_of(line, separator_);
      if (std::ranges::none_of(cells,
                               [](std::string_view cell) { return number_from<double>(cell).has_value(); }))
        return header(cells);
      if (cells.size() > 2) refuse(fmt::format("{} columns need a header", cells.size()));
      if (cells.size() == 2) columns_.push_back({Role::step, 0, "step"});
      columns_.push_back({Role::time, 0, "time"});
    }
    row(cells_of(line, separator_));
  }

  void header(const std::vector<std::string_view>& cells) {
    for (const std::string_view cell : cells) columns_.push_back(column_of(cell));
    if (const auto times = count(Role::time); times != 1) {
      refuse(fmt::format(
          "the header names {} columns of step times, must be one: seconds, ms, us, ns or time", times));
    }
    if (count(Role::load) > 1 || count(Role::step) > 1 || count(Role::unit) > 1)
      refuse("the header names a column twice");
    for (const Column& column : columns_) {
      if (column.unit > 0 && unit_ > 0 && column.unit != unit_)
        refuse_unit(fmt::format("{} has a column {}", where_, column.name));
    }
  }

  double unit_of(const Column& column, const std::vector<std::string_view>& cells) const {
    if (column.unit > 0) return column.unit;
    const auto own = std::ranges::find(columns_, Role::unit, &Column::role);
    if (own != columns_.end()) {
      const std::string_view word = cells[static_cast<std::size_t>(own - columns_.begin())];
      const double unit = seconds_in(word);
      if (unit <= 0) refuse(fmt::format("{} is no unit of time: s, ms, us or ns", word));
      if (unit_ > 0 && unit != unit_) refuse_unit(fmt::format("line {} of {} says {}", line_, where_, word));
      return unit;
    }
    if (unit_ > 0) return unit_;
    throw Error(where_, "does not say in which unit its times are", "add --unit s, ms, us or ns");
  }

  void row(const std::vector<std::string_view>& cells) {
    if (cells.size() != columns_.size()) {
      refuse(fmt::format("has {} cells, the lines before it {}", cells.size(), columns_.size()));
    }
    const auto phase = std::ranges::find(columns_, Role::phase, &Column::role) - columns_.begin();
    const bool validates =
        phase < std::ssize(columns_) && cells[static_cast<std::size_t>(phase)] == "validation";
    if (!validates && job_.dataset.validation == 0) job_.dataset.validation = job_.validated;
    if (!validates) job_.validated = 0;
    double time = 0;
    std::string_view number;  // is judged behind the process: lines of two processes have no order
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Column& column = columns_[i];
      if (column.role == Role::unit || column.role == Role::dropped || column.role == Role::phase) continue;
      const auto value = number_from<double>(cells[i]);
      const auto refuse_cell = [&] { refuse(fmt::format("\"{}\" is no {}", cells[i], column.name)); };
      if (!value || *value < 0) refuse_cell();
      if (column.role == Role::step) {
        number = cells[i];
      } else if (column.role != Role::time && column.role != Role::load) {
        fact(column.role, static_cast<Index>(*value), validates);
      } else {
        const double seconds = *value * unit_of(column, cells);
        if (!(seconds <= most_seconds)) refuse_cell();
        if (column.role == Role::time) time = seconds;
        if (column.role == Role::load && !validates) loads_.push_back(seconds);
      }
    }
    if (!validates && !number.empty()) step(number);
    if (!validates && job_.windows.empty()) job_.windows.emplace_back();
    (validates ? validation_ : job_.windows.back().step_seconds).push_back(time);
  }

  void fact(Role role, Index number, bool validates) {
    Dataset& data = job_.dataset;
    Index& batch = validates ? validation_batch_ : data.batch;
    if (role == Role::samples) batch = std::max(batch, number);
    if (role == Role::samples && validates) job_.validated += number;
    if (role == Role::train && number > 0) (validates ? data.validation : data.train) = number;
    if (role == Role::workers && !validates) job_.loader.workers = number;
    if (role != Role::process) return;
    if (job_.process > 0 && job_.process != number) {
      throw Error(
          fmt::format("{}: line {}", where_, line_),
          fmt::format("is of process {}, and the lines before it are of process {}", number, job_.process),
          "time them again, each with a file of its own in ASSAY_STEPS");
    }
    job_.process = number;
  }

  /// Times of every hundredth step would be taken for a hundred times fewer steps.
  void step(std::string_view cell) {
    constexpr double largest = 9007199254740992;  // 2^53: beyond it not all whole numbers are doubles
    const double value = *number_from<double>(cell);
    if (value != std::floor(value) || value > largest)
      refuse(fmt::format("\"{}\" is no number of a step", cell));
    const auto number = static_cast<Index>(value);
    const bool anew = number == 0 && count(Role::process) > 0;  // the next epoch
    if (last_step_ && number != *last_step_ + 1 && !anew) {
      refuse(fmt::format("step {} does not follow step {}: each row must be the next step", number,
                         *last_step_));
    }
    if (!last_step_ || anew) job_.windows.push_back({.first_step = number});
    last_step_ = number;
  }

  const std::string& where_;
  const std::string& unit_word_;
  double unit_ = 0;  ///< 0: not stated
  Index line_ = 0;
  char separator_ = ',';
  std::vector<Column> columns_;
  Job job_;
  std::vector<double> loads_, validation_;
  Index validation_batch_ = 0;
  std::optional<Index> last_step_;
};

/// The parts that a step is told apart into, in this order, and the other things that an event may be.
enum Row : std::size_t { loader, optimizer, kernels, copies, processor, accelerator_note, nothing };

/// The row of a category, in any case and as several versions spell it; none of an unknown one.
std::optional<Row> row_of(std::string category) {
  for (char& c : category) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string key = '|' + category + '|';
  const auto is_among = [&](std::string_view words) { return words.find(key) != std::string_view::npos; };
  if (is_among("|operator|cpu_op|user_annotation|")) return processor;
  if (is_among("|kernel|")) return kernels;
  if (is_among("|memcpy|gpu_memcpy|memset|gpu_memset|")) return copies;
  if (is_among("|gpu_user_annotation|")) return accelerator_note;
  if (is_among("||runtime|cuda_runtime|cuda_driver|cuda_sync|cuda_event|async|ac2g|fwdbwd|async_cpu_to_gpu|"
               "trace|python_function|overhead|cpu_instant_event|"))
    return nothing;
  return std::nullopt;
}

class Importer {
 public:
  explicit Importer(const std::filesystem::path& file) : file_(file), steps_(file) {}

  Job run() {
    const auto devices = read_trace(file_, [&](const TraceEvent& event) { take(event); });
    Job job{.name = file_.filename().string(), .source = file_.string()};
    for (const auto& [device, count] : devices) {
      job.hardware += fmt::format("{}{}{}", job.hardware.empty() ? "" : ", ",
                                  count > 1 ? fmt::format("{} x ", count) : "", device);
    }
    const std::vector<Span> steps = steps_.spans(events_);
    std::vector<double> seconds;
    for (const Span& step : steps) seconds.push_back((step.end - step.begin) * microsecond);
    job.windows = {timed_window(steps_.first(), std::move(seconds))};
    add_phases(job, steps);
    if (single_process_ && !several_processes_) job.loader.workers = 0;
    job.notes = notes();
    return job;
  }

 private:
  void take(const TraceEvent& event) {
    ++events_;
    shapes_ = shapes_ || event.has_shapes;
    memory_ = memory_ || event.name == "[memory]";
    const std::optional<Span> span = steps_.place(event);
    if (!span) return;
    const std::optional<Row> row = row_of(event.category);
    const auto number = step_number(event.name);
    if (!row) {
      steps_.drop("of the unknown category " + event.category);
    } else if (number && row == accelerator_note) {
      steps_.repeat_marker();
    } else if (number && row == processor) {
      steps_.add_marker(*number, *span);
    } else if (row == accelerator_note || row == nothing) {
      steps_.drop("of kinds that take no part in a step: launches, synchronization, notes, Python frames");
    } else {
      busy_[*row].add(span->begin, span->end);
      if (row == processor) within_processor(event, *span);
    }
  }

  /// Loading and the optimizer are operators with names of their own.
  void within_processor(const TraceEvent& event, Span span) {
    const std::string_view name = event.name;
    if (is_fetch(name)) {
      steps_.add_fetch(span);
      busy_[loader].add(span.begin, span.end);
      const auto has = [&](const char* word) { return name.find(word) != std::string_view::npos; };
      single_process_ = single_process_ || has("_SingleProcessDataLoaderIter");
      several_processes_ = several_processes_ || has("_MultiProcessingDataLoaderIter");
    } else if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#")) {
      busy_[optimizer].add(span.begin, span.end);
    }
  }

  void add_phases(Job& job, const std::vector<Span>& steps) {
    const auto add = [&](const char* name, PhaseKind kind, std::vector<double> times, bool overlaps = false) {
      for (double& time : times) time *= microsecond;
      StepPhase phase = timed_phase(name, kind, std::move(times), overlaps);
      if (phase.mean_seconds > 0) job.phases.push_back(std::move(phase));
    };
    constexpr std::array<std::pair<const char*, PhaseKind>, processor + 1> parts{
        {{"data loader", PhaseKind::load},
         {"optimizer", PhaseKind::compute},
         {"accelerator kernels", PhaseKind::compute},
         {"accelerator copies", PhaseKind::copy},
         {"processor", PhaseKind::compute}}};
    std::vector<double> before(steps.size(), 0.0), other;
    BusyTime all;
    for (std::size_t row = 0; row < parts.size(); ++row) {
      all.add(busy_[row].spans());
      std::vector<double> now = all.within(steps), own;
      for (std::size_t i = 0; i < steps.size(); ++i) own.push_back(std::max(0.0, now[i] - before[i]));
      before = std::move(now);
      add(parts[row].first, parts[row].second, std::move(own));
    }
    for (std::size_t i = 0; i < steps.size(); ++i)
      other.push_back(std::max(0.0, steps[i].end - steps[i].begin - before[i]));
    add("other", PhaseKind::other, std::move(other));
    busy_[kernels].add(busy_[copies].spans());
    add("accelerator busy", PhaseKind::compute, busy_[kernels].within(steps), true);
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> out = steps_.notes();
    // Measured on four jobs in PyTorch 2.6 on a processor (reports/torch_jobs).
    const auto [longer, with] = memory_   ? std::pair("22 %", "shapes and memory")
                                : shapes_ ? std::pair("7 %", "record_shapes=True")
                                          : std::pair("1 %", "neither shapes nor memory");
    out.push_back(
        fmt::format("profiling made the steps longer: by about {} with {}, so that a forecast is too long",
                    longer, with));
    if (!steps_.has_fetches())
      out.push_back("there is no fetch from a data loader: what loading takes is unknown");
    if (several_processes_) {
      out.push_back(
          "the loader has worker processes, and the trace does not say how many: its fetches are what "
          "the loop waited");
    }
    return out;
  }

  const std::filesystem::path& file_;
  TraceSteps steps_;
  std::array<BusyTime, processor + 1> busy_;  ///< by row
  bool shapes_ = false, memory_ = false;      ///< were recorded
  bool single_process_ = false, several_processes_ = false;
  std::size_t events_ = 0;
};

}  // namespace

bool is_chrome_trace(const std::filesystem::path& file) {
  const Beginning beginning(file);
  return (beginning.first == '[' || beginning.first == '{') && beginning.has_events();
}

JobFile kind_of_file(const std::filesystem::path& file) {
  const Beginning beginning(file);
  if (beginning.first == '\0') throw Error(file.string(), "is empty", "write it again, or name another file");
  if (beginning.first == '[') return JobFile::trace;
  if (beginning.first != '{') return JobFile::table;
  if (beginning.has("\"assay.job")) return JobFile::phases;
  if (beginning.has("\"assay.") || (beginning.has("\"context\"") && beginning.has("\"benchmarks\"")))
    return JobFile::results;
  if (beginning.has_events()) return JobFile::trace;
  if (beginning.has("\"phases\"") || beginning.has("\"windows\"")) return JobFile::phases;
  throw Error(
      file.string(), "is JSON, but neither results, nor a job, nor a trace",
      fmt::format("a job begins with \"schema\": \"{}\", a trace has a list traceEvents", job_schema));
}

Job read_job(const std::filesystem::path& file, const std::string& unit) {
  const JobFile kind = kind_of_file(file);
  if (!unit.empty() && kind != JobFile::table) {
    throw Error("--unit", fmt::format("{} is no table of step times", file.string()), "leave it out");
  }
  switch (kind) {
    case JobFile::phases: return read_phases_json(unpacked(file), file.string());
    case JobFile::trace: return read_kineto(file);
    case JobFile::table: return read_step_csv(unpacked(file), file.string(), unit);
    case JobFile::results: break;
  }
  throw Error(file.string(), "holds times of kernels, not of a training job",
              "give it alone to predict, or name a job, a trace or a table of step times");
}

template <>
struct Form<Quoted> : Form<std::string> {
  static Json json(const Quoted& value, const Fields::Rule&) { return value.text; }
  static void read(const JsonField& field, Quoted& value, const Fields::Rule&) {
    const auto parsed = parse_quoted(field.text());
    if (!parsed) {
      field.refuse(
          fmt::format("is \"{}\", must be a figure such as \"0.0238 s\" or \"34221\"", field.text()));
    }
    value = *parsed;
  }
};

void describe(Fields& f, Dataset& dataset) {
  f.only<Dataset>();
  f("train", dataset.train, {.optional = true, .low = 0, .high = most, .about = "samples of an epoch"});
  f("validation", dataset.validation, {.optional = true, .low = 0, .high = most});
  f("batch", dataset.batch, {.optional = true, .low = 1, .high = most, .about = "samples of a step"});
  f("drop_last", dataset.drop_last, {.optional = true});
  f("checkpoint_every", dataset.checkpoint_every,
    {.optional = true, .low = 0, .high = most, .about = "steps; 0: none"});
}

void describe(Fields& f, LoaderSetup& loader) {
  const Fields::Rule factor{
      .optional = true, .above = 0, .most = 1e6, .about = "the time together by the time alone"};
  f.only<LoaderSetup>();
  f("workers", loader.workers, {.low = 0, .high = 4096});
  f("prefetch", loader.prefetch,
    {.optional = true, .low = 1, .high = 4096, .about = "batches under way per worker"});
  if (f.reads()) loader.prefetch_stated = f.place().find("prefetch").has_value();
  f("in_order", loader.in_order, {.optional = true});
  f("load_contention", loader.load_contention, factor);
  f("compute_contention", loader.compute_contention, factor);
}

void describe(Fields& f, TimedWindow& window) {
  f.only<TimedWindow>();
  f("first_step", window.first_step, {.optional = true, .low = 0, .high = most});
  std::optional<int> run = window.run;
  f("run", run, {.low = 0, .high = 1'000'000, .about = "windows of one run may nest"});
  f("cache", window.cache, page_cache_words, {.optional = true});
  f("step_seconds", window.step_seconds, time_rule(true, "of each step"));
  require_some(f, "step_seconds", window.step_seconds);
  const auto counted = static_cast<Index>(window.step_seconds.size());
  if (f.reads()) {
    window.run = run.value_or(-1);
    window.steps = counted;
    window.wall_seconds = timed_window(0, window.step_seconds).wall_seconds;
  }
  const bool known = counted > 0 || f.tells();
  f("steps", window.steps, {.optional = known, .low = 1, .high = most});
  f("wall_seconds", window.wall_seconds, time_rule(known));
  if (f.reads() && counted > 0 && window.steps != counted) {
    f.refuse("steps", fmt::format("is {}, but step_seconds holds {}", window.steps, counted));
  }
}

void describe(Fields& f, StepPhase& phase) {
  f.only<StepPhase>();
  f("kind", phase.kind, phase_kind_words);
  f("scope", phase.scope, scope_words, {.optional = true});
  f("overlaps", phase.overlaps, {.optional = true, .about = "runs beside the step"});
  f("seconds", phase.seconds, time_rule(true, "of single steps in order"));
  require_some(f, "seconds", phase.seconds);
  const StepPhase timed = timed_phase(phase.name, phase.kind, phase.seconds);
  const Index counted = timed.samples;
  const double mean = timed.mean_seconds;
  if (f.reads()) {
    phase.mean_seconds = mean;
    phase.samples = counted;
  }
  f("mean_seconds", phase.mean_seconds, time_rule(counted > 0 || f.tells(), "per step"));
  f("samples", phase.samples, {.terse = true, .low = 1, .high = most, .about = "steps behind the mean"});
  quoted(f, "share", phase.share, Quantity::share, "44.3 %");
  if (!f.reads() || counted == 0) return;
  if (phase.samples != counted) {
    f.refuse("samples", fmt::format("is {}, but seconds holds {}", phase.samples, counted));
  }
  if (std::abs(phase.mean_seconds - mean) > 0.02 * std::abs(mean)) {
    f.refuse("mean_seconds", fmt::format("is {}, but the mean of seconds is {}", phase.mean_seconds, mean));
  }
  phase.mean_seconds = mean;
}

void describe(Fields& f, Claim& claim) {
  f.only<Claim>();
  f("where", claim.where, {.optional = true, .about = "the row or paragraph it stands in"});
  f("batch", claim.batch, {.low = 1, .high = most});
  f("steps", claim.steps, {.low = 1, .high = most});
  quoted(f, "step", claim.step, Quantity::seconds, "0.0997 s");
  quoted(f, "throughput", claim.throughput, Quantity::samples_per_second, "5,641/s");
  quoted(f, "epoch", claim.epoch, Quantity::seconds, "56.7 min");
  quoted(f, "minimum", claim.minimum, Quantity::seconds, "21.7 min");
  f("derivation", claim.derivation, {.optional = true, .about = "factors of the minimum"});
  quoted(f, "total", claim.total, Quantity::seconds, "0.0238 s");
  f("of", claim.of, {.optional = true, .about = "phases that the total is the sum of"});
  quoted(f, "slower", claim.slower, Quantity::count, "3.6");
  quoted(f, "throughput_change", claim.throughput_change, Quantity::share, "-72 %");
  if (f.reads() && claim.total && claim.of.empty()) {
    f.place().refuse("has a \"total\" without the phases \"of\" which it is the sum");
  }
}

void describe(Fields& f, Job& job) {
  f.schema(job_schema);
  f.only<Job>();
  f("job", job.name);
  f("hardware", job.hardware, {.optional = true});
  f.derived("source", job.source, {.about = "where the figures are from, for people"});
  f("dataset", job.dataset, {.optional = true});
  f("loader", job.loader, {.optional = true});
  f("windows", job.windows, {.optional = true, .about = "consecutive steps that were timed together"});
  f.keyed("phases", job.phases, &StepPhase::name, {.optional = true, .about = "of a step, by name"});
  f("weather", job.weather, {.optional = true});
  f("cores", job.cores, {.optional = true, .low = 0, .high = 65536, .about = "that the job may use"});
  Fields::Rule processors{.optional = true, .least = 0, .most = most_seconds};
  processors.about = "of a step and its workers, all processes";
  f("processor_seconds", job.processor_seconds, processors);
  processors.about = "of these, of the workers";
  f("worker_processor_seconds", job.worker_processor_seconds, processors);
  f("one_off_seconds", job.one_off_seconds, time_rule(true, "of an epoch, beyond its steps"));
  f("measured_epoch_seconds", job.epoch_seconds, time_rule(true));
  f("claims", job.claims, {.optional = true, .about = "of a report, to be checked for their arithmetic"});
  // Windows that do not say so are no parts of one run.
  for (std::size_t i = 0; f.reads() && i < job.windows.size(); ++i) {
    if (job.windows[i].run < 0) job.windows[i].run = static_cast<int>(1'000'001 + i);
  }
}

Job read_phases_json(const std::string& text, const std::string& where) {
  auto out = value_from<Job>(text, where, "harness/training/README.md describes the format");
  out.source = where;
  return out;
}

Job read_step_csv(const std::string& text, const std::string& where, const std::string& unit) {
  return Reader(text, where, unit).job();
}

Job read_kineto(const std::filesystem::path& file) { return Importer(file).run(); }

}  // namespace assay
