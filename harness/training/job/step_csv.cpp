#include "training/job/read_job.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace assay {
namespace {

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
constexpr std::array<std::pair<std::string_view, Role>, 7> named_roles{{{"step", Role::step},
                                                                        {"unit", Role::unit},
                                                                        {"samples", Role::samples},
                                                                        {"phase", Role::phase},
                                                                        {"process", Role::process},
                                                                        {"train", Role::train},
                                                                        {"workers", Role::workers}}};

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
  for (const auto& [word, role] : named_roles)
    if (name == word) return {role, 0, std::string(cell)};
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
      : where_(where), unit_word_(unit), unit_(seconds_in(unit)) {
    if (!unit.empty() && unit_ <= 0) {
      throw Error("--unit", fmt::format("{} is no unit of time", unit), "use s, ms, us or ns");
    }
    std::istringstream lines{std::string(csv::without_mark(text))};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      if (!csv::trimmed(line).empty()) take(line);
    }
    if (begins_.empty()) begins_.push_back({});
    if (times_.empty()) throw Error(where_, "holds no step time", "give one row per step");
  }

  Job job() {
    Job out{.name = where_, .source = where_};
    std::span<const double> left(times_);
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const std::size_t end = i + 1 < begins_.size() ? begins_[i + 1].row : times_.size();
      const auto own = left.subspan(begins_[i].row, end - begins_[i].row);
      out.windows.push_back(timed_window(begins_[i].step, {own.begin(), own.end()}));
      out.windows.back().run = static_cast<int>(i);
    }
    out.dataset.batch = batch_;
    out.dataset.train = train_;
    out.loader.workers = workers_;
    out.process = process_;
    if (!validation_.empty()) {
      out.phases.push_back(
          timed_phase("validation", PhaseKind::compute, validation_, false, Scope::validation));
    }
    if (!loads_.empty()) out.phases.push_back(timed_phase("load", PhaseKind::load, loads_));
    for (const Column& column : columns_) {
      if (column.role == Role::dropped) {
        out.notes.push_back(fmt::format(
            "dropped column {}: it is neither step, unit, nor named for a unit of time", column.name));
      }
    }
    if (count(Role::step) == 0) {
      out.notes.push_back("there is no column step: the first row is taken for the first step of an epoch");
    }
    return out;
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
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Column& column = columns_[i];
      if (column.role == Role::unit || column.role == Role::dropped || column.role == Role::phase) continue;
      if (validates && column.role != Role::time && column.role != Role::process) continue;
      const auto value = number_from<double>(cells[i]);
      const auto refuse_cell = [&] { refuse(fmt::format("\"{}\" is no {}", cells[i], column.name)); };
      if (!value || *value < 0) refuse_cell();
      if (column.role == Role::step) {
        step(cells[i], *value);
      } else if (column.role != Role::time && column.role != Role::load) {
        fact(column.role, *value);
      } else {
        const double seconds = *value * unit_of(column, cells);
        if (!(seconds <= most_seconds)) refuse_cell();
        (validates ? validation_ : column.role == Role::time ? times_ : loads_).push_back(seconds);
      }
    }
  }

  void fact(Role role, double value) {
    const auto number = static_cast<Index>(value);
    if (role == Role::samples) batch_ = std::max(batch_, number);
    if (role == Role::train) train_ = number;
    if (role == Role::workers) workers_ = number;
    if (role != Role::process) return;
    if (process_ > 0 && process_ != number)
      refuse(fmt::format(
          "is of process {}, and the lines before it are of process {}: each needs a file of its own", number,
          process_));
    process_ = number;
  }

  /// Times of every hundredth step would be taken for a hundred times fewer steps.
  void step(std::string_view cell, double value) {
    constexpr double most = 9007199254740992;  // 2^53: beyond it not all whole numbers are doubles
    if (value != std::floor(value) || value > most)
      refuse(fmt::format("\"{}\" is no number of a step", cell));
    const auto number = static_cast<Index>(value);
    const bool anew = number == 0 && count(Role::process) > 0;  // the next epoch
    if (last_step_ && number != *last_step_ + 1 && !anew) {
      refuse(fmt::format("step {} does not follow step {}: each row must be the next step", number,
                         *last_step_));
    }
    if (!last_step_ || anew) begins_.push_back({number, times_.size()});
    last_step_ = number;
  }

  const std::string& where_;
  const std::string& unit_word_;
  double unit_ = 0;  ///< 0: not stated
  Index line_ = 0;
  char separator_ = ',';
  std::vector<Column> columns_;
  std::vector<double> times_, loads_, validation_;
  struct Begin {
    Index step = 0;
    std::size_t row = 0;
  };
  std::vector<Begin> begins_;  ///< of epochs
  Index batch_ = 0, train_ = 0, process_ = 0;
  std::optional<Index> workers_;
  std::optional<Index> last_step_;
};

}  // namespace

Job read_step_csv(const std::string& text, const std::string& where, const std::string& unit) {
  return Reader(text, where, unit).job();
}

}  // namespace assay
