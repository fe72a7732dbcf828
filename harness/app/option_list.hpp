/// Options of a verb, named once. A struct of options has a function `describe(OptionList&, Type&)` beside
/// it, by which it is read from a command line, told in the help, and printed as the command that repeats a
/// run:
///
///     void describe(OptionList& o, LedgerPlace& place) {
///       o("--suite,-s", &place.suite, "suite file, such as suites/smoke.json", {.required = true});
///       o("--json", &place.json, "write JSON to this file", output_file);
///     }
#pragma once

#include "assay/problem.hpp"
#include "assay/shard.hpp"
#include "core/text/parts.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

/// A value that is one of several words, by its place among them.
struct WordChoice {
  std::span<const std::string_view> words;  ///< an empty word is a value that cannot be typed
  std::function<std::size_t()> chosen;
  std::function<void(std::size_t)> choose;
};
/// The words stand for the enumerators 0, 1, …, or for false and true.
template <class T>
WordChoice choice_of(T& value, std::span<const std::string_view> words) {
  return {words, [&value] { return static_cast<std::size_t>(value); },
          [&value](std::size_t place) { value = static_cast<T>(place); }};
}

/// Where an option puts its value. Numbers and words in a vector are given as 1,2; paths one by one.
using OptionValue =
    std::variant<bool*, int*, Index*, std::uint64_t*, double*, std::string*, std::filesystem::path*,
                 std::optional<int>*, std::optional<Index>*, std::optional<double>*, std::vector<int>*,
                 std::vector<Index>*, std::vector<double>*, std::vector<std::string>*,
                 std::vector<std::filesystem::path>*, WordChoice>;

enum class Writes { nothing, file, folder };

struct OptionRule {
  bool required = false;
  Index low = std::numeric_limits<Index>::min(), high = std::numeric_limits<Index>::max();  ///< of integers
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  bool not_empty = false;                ///< `--base ""` was meant to say something
  bool several = false;                  ///< of paths and texts: `--job A B` as well as `--job A --job B`
  bool joined = false;                   ///< words behind it are part of it, with spaces between
  std::string_view needs{}, excludes{};  ///< another option
  Writes writes = Writes::nothing;
  bool repeated = true;                       ///< belongs in the command that repeats a run
  std::vector<std::string_view> variables{};  ///< of the environment, where it is not given; the first wins
  bool hidden = false;                        ///< not for the help
  bool behind_dashes = false;                 ///< takes what stands behind `--`, word by word
};
inline const OptionRule output_file{.writes = Writes::file, .repeated = false};
inline const OptionRule output_folder{.writes = Writes::folder, .repeated = false};

struct Option {
  std::string_view names;  ///< `--filter,-k`; the first one is printed; without a dash it is positional
  OptionValue value;
  std::string_view about;
  OptionRule rule;

  template <class... Types>
  bool holds() const {
    return (std::holds_alternative<Types>(value) || ...);
  }
  std::string name() const { return std::string(names.substr(0, names.find(','))); }
  /// The name that begins with two dashes; all names where none does.
  std::string_view long_name() const;
  std::vector<std::string_view> all_names() const { return parts_of(names, ','); }
  bool is_named(std::string_view name) const;  ///< by one of its names
  /// The type of its value, as the help shows it: `PATH`, `warn|fail`, `INT in [1 - 64]`; empty for a flag.
  std::string type() const;
  bool is_positional() const { return !names.starts_with('-'); }
  /// The value as it would be typed, one text per time the option is given; none where there is no value.
  std::vector<std::string> texts() const;
  /// Throws Error naming the option where a text is no such value.
  void read(const std::vector<std::string>& texts);
};

class OptionList {
 public:
  void operator()(std::string_view names, OptionValue value, std::string_view about, OptionRule rule = {}) {
    options_.push_back({names, std::move(value), about, std::move(rule)});
  }
  std::vector<Option>& all() { return options_; }
  const std::vector<Option>& all() const { return options_; }

 private:
  std::vector<Option> options_;
};

/// Whether one of the names of an option, as `--suite,-s`, is among arguments.
bool gives(const std::vector<std::string>& arguments, std::string_view names);

/// Reads arguments behind the verb, then variables for options that were not given. Returns arguments that
/// belong to no option. Throws Error where a value is none, or options are missing or contradict each other.
std::vector<std::string> read_options(const std::string& program, OptionList& options,
                                      std::vector<std::string> arguments, const Environment& environment);

std::string help_of(const std::string& program, const std::string& about, OptionList& options);

/// `verb` with those of `options` that differ from `usual`, as typed in a shell.
std::string command_text(const std::string& verb, const OptionList& options, const OptionList& usual);

/// The first option whose value is not as usual; empty when there is none.
std::string first_unusual(const OptionList& options, const OptionList& usual);

}  // namespace assay
