// Graphs of users, from a CSV file.

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "assay/ops/task_dag.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <unordered_map>

namespace assay {
namespace {

struct Line {
  Index number = 0;
  std::string_view task, predecessors;
};

class Reader {
 public:
  Reader(const std::filesystem::path& file, std::string_view column) : file_(file.string()) {
    header_ = "task," + std::string(column) + ",predecessors";
  }

  WeightedDag read(Index least, Index most) {
    load();
    parse(least, most);
    connect();
    const DagNames names{
        .place = [&](Index edge) { return place(edge_line_[static_cast<std::size_t>(edge)]); },
        .task = [&](TaskId task) { return name(task); }};
    return {make_dag(static_cast<Index>(lines_.size()), edges_, names), std::move(weight_)};
  }

 private:
  std::string place(Index line) const { return file_ + ":" + std::to_string(line); }
  std::string name(TaskId task) const { return std::string(lines_[static_cast<std::size_t>(task)].task); }

  void load() {
    std::ifstream in(file_, std::ios::binary);
    if (in) text_.assign(std::istreambuf_iterator<char>(in), {});
    if (!in || in.bad()) throw Error(file_, "cannot be read", "check the path and its permissions");
  }

  template <class Visit>
  void for_each_line(const Visit& visit) const {
    Index number = 0;
    for (std::string_view left = text_; !left.empty();) {
      const std::size_t end = left.find('\n');
      std::string_view line = left.substr(0, end);
      left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty() && !line.starts_with('#')) visit(number, line);
    }
  }

  void parse(Index least, Index most) {
    bool headed = false;
    for_each_line([&](Index number, std::string_view line) {
      if (!headed) {
        if (line != header_) {
          throw Error(place(number), "is not the header " + header_, "begin the file with that line");
        }
        headed = true;
        return;
      }
      std::array<std::string_view, 3> cells;
      const Index count = csv::each_cell(line, ',', [&](Index position, std::string_view cell) {
        if (position < 3) cells[static_cast<std::size_t>(position)] = cell;
      });
      if (count != 3) {
        throw Error(place(number), "has not three columns", "write " + header_ + ", two commas to a line");
      }
      const auto& [task, weight, predecessors] = cells;
      if (task.empty() || task.find(' ') != std::string_view::npos) {
        throw Error(place(number), "'" + std::string(task) + "' is no name of a task",
                    "use a name that is not empty and has no spaces");
      }
      weight_.push_back(number_of(number, weight, least, most));
      if (weight_.size() > static_cast<std::size_t>(std::numeric_limits<TaskId>::max())) {
        throw Error(place(number), "is one task too many", "a graph has at most 2^31 - 1 tasks");
      }
      const auto [known, is_new] = ids_.emplace(task, static_cast<TaskId>(lines_.size()));
      if (!is_new) {
        const Index first = lines_[static_cast<std::size_t>(known->second)].number;
        throw Error(place(number), "task " + std::string(task) + " is there twice",
                    "rename it, or take it out: the other is in line " + std::to_string(first));
      }
      lines_.push_back({number, task, predecessors});
    });
    if (lines_.empty()) {
      throw Error(file_, "holds no tasks", "write " + header_ + " and then a line per task");
    }
  }

  double number_of(Index line, std::string_view text, Index least, Index most) const {
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
      throw Error(place(line),
                  "'" + std::string(text) + "' is no whole number in [" + std::to_string(least) + ", " +
                      std::to_string(most) + "]",
                  "correct the second column, which is that of " + header_);
    }
    return static_cast<double>(value);
  }

  void connect() {
    for (std::size_t task = 0; task < lines_.size(); ++task) {
      std::string_view left = lines_[task].predecessors;
      while (!left.empty()) {
        const std::size_t end = left.find(' ');
        const std::string_view word = left.substr(0, end);
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
        if (word.empty()) continue;
        const auto known = ids_.find(word);
        if (known == ids_.end()) {
          throw Error(place(lines_[task].number),
                      "task " + std::string(lines_[task].task) + " waits for " + std::string(word) +
                          ", which no line names",
                      "add a line for it, or take it out of the predecessors");
        }
        edges_.push_back({known->second, static_cast<TaskId>(task)});
        edge_line_.push_back(lines_[task].number);
      }
    }
  }

  std::string file_, header_, text_;
  std::vector<Line> lines_;
  std::vector<double> weight_;
  std::unordered_map<std::string_view, TaskId> ids_;
  std::vector<Edge> edges_;
  std::vector<Index> edge_line_;
};

}  // namespace

WeightedDag read_dag(const std::filesystem::path& file, std::string_view column, Index least, Index most) {
  return Reader(file, column).read(least, most);
}

}  // namespace assay
