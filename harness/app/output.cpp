#include "app/output.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/compare/words.hpp"
#include "core/files/this_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

namespace assay {
namespace {

enum class Tint { bad, good, open, quiet };
constexpr std::array codes_of_tints{"31", "32", "33", "2"};

Tint tint_of(Standing standing) {
  if (is_fault(standing) || standing == Standing::slower) return Tint::bad;
  if (standing == Standing::faster) return Tint::good;
  const bool needs_no_look = standing == Standing::same || standing == Standing::not_slower ||
                             standing == Standing::added || standing == Standing::skipped;
  return needs_no_look ? Tint::quiet : Tint::open;
}

Tint tint_of(Word word) {
  if (fails(word)) return Tint::bad;
  switch (Outcome{word, ""}.exit_code()) {
    case exit_code::passed: return word == Word::nothing_to_do ? Tint::quiet : Tint::good;
    case exit_code::all_skipped: return Tint::quiet;
    default: return Tint::open;
  }
}

/// The beginning of a line that has a colour.
using Beginning = std::optional<std::pair<std::string_view, Tint>>;

Beginning mark_of(std::string_view line) {
  for (const Standing standing : standings_by_weight) {
    const std::string_view one = mark(standing);
    if (line.starts_with(one) && line.substr(one.size()).starts_with(' ')) return {{one, tint_of(standing)}};
  }
  return std::nullopt;
}

Beginning word_of(std::string_view line) {
  // The heaviest first: REJECTED begins REJECTED THOUGH HONEST, too.
  for (int i = static_cast<int>(Word::interrupted); i >= 0; --i) {
    const std::string_view one = to_string(static_cast<Word>(i));
    if (line.starts_with(one) && line.find_first_of(" :\n", one.size()) == one.size())
      return {{one, tint_of(static_cast<Word>(i))}};
  }
  return std::nullopt;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(folder.string(), "cannot be made: " + failure.message(), "name another folder");
}

namespace fs = std::filesystem;

struct Output {
  std::string option;
  fs::path path;

  std::string where() const { return fmt::format("{} {}", option, path.string()); }
};

std::vector<Output> outputs_of(const OptionList& options, Writes what) {
  std::vector<Output> out;
  for (const Option& option : options.all()) {
    if (option.rule.writes != what) continue;
    const std::vector<std::string> texts = option.texts();
    // The first of several folders is written.
    if (texts.empty() || (option.name() == "--json" && texts.front() == "-")) continue;
    out.push_back({option.name(), texts.front()});
  }
  return out;
}

/// Returns the file that a path leads to, through links.
fs::path target_of(const fs::path& path) {
  std::error_code failure;
  fs::path target = fs::weakly_canonical(fs::absolute(path), failure);
  return failure ? path : target;
}

[[noreturn]] void refuse_permission(const Output& output, const fs::path& what) {
  throw Error(output.where(), fmt::format("{} cannot be written", what.string()),
              "check its permissions, or name another place");
}

void require_folder(const Output& output, const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw Error(output.where(), fmt::format("there is no folder {}", folder.string()),
                fmt::format("make it: mkdir -p '{}'", folder.string()));
  }
  // A file is written beside its name, and renamed.
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse_permission(output, folder);
}

/// Devices and pipes, which links in /dev and /proc lead to as well; everything may be written there.
bool is_device(const fs::path& path) {
  return path.string().starts_with("/dev/") || (fs::exists(path) && !fs::is_regular_file(path));
}

void require_file(const Output& output) {
  if (fs::is_directory(output.path)) throw Error(output.where(), "is a folder", "name a file in it");
  if (fs::exists(output.path) && access(output.path.c_str(), W_OK) != 0) {
    refuse_permission(output, output.path);
  }
  if (!is_device(output.path)) require_folder(output, target_of(output.path).parent_path());
}

void require_makeable(const Output& output) {
  fs::path there = target_of(output.path);
  while (!fs::exists(there)) there = there.parent_path();
  if (!fs::is_directory(there)) {
    throw Error(output.where(), fmt::format("{} is no folder", there.string()), "name another folder");
  }
  if (access(there.c_str(), W_OK | X_OK) != 0) refuse_permission(output, there);
}

void require_different(const std::vector<Output>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (is_device(files[i].path)) continue;  // /dev/null takes everything
    const fs::path target = target_of(files[i].path);
    for (std::size_t j = 0; j < i; ++j) {
      if (target_of(files[j].path) != target) continue;
      throw Error(files[i].where(), fmt::format("is the file of {} as well", files[j].option),
                  "one would replace the other: name two files");
    }
  }
}

}  // namespace

bool may_rewrite_lines(bool is_terminal, const Environment& environment) {
  const char* terminal = environment("TERM");
  return is_terminal && environment("CI") == nullptr && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

bool may_show_colours(bool is_terminal, const Environment& environment) {
  const char* unwanted = environment("NO_COLOR");
  return may_rewrite_lines(is_terminal, environment) && (unwanted == nullptr || *unwanted == '\0');
}

bool may_rewrite_lines(int descriptor) { return may_rewrite_lines(isatty(descriptor) != 0, std::getenv); }
bool may_show_colours(int descriptor) { return may_show_colours(isatty(descriptor) != 0, std::getenv); }

std::string painted(const std::string& text) {
  // The last line may be wrapped; what follows it is indented then.
  std::size_t last = text.size();
  do {
    last = last < 2 ? std::string::npos : text.rfind('\n', last - 2);
    last = last == std::string::npos ? 0 : last + 1;
  } while (last > 0 && (text[last] == ' ' || text[last] == '\n'));
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    Beginning found = mark_of(line);
    if (begin == last && !found) found = word_of(line);
    const std::size_t length = found ? found->first.size() : 0;
    if (found)
      out += fmt::format("\033[{}m{}\033[0m", codes_of_tints[static_cast<std::size_t>(found->second)],
                         found->first);
    out += line.substr(length);
    begin = end;
  }
  return out;
}

void put(const std::string& where, const std::string& words, const std::string& json) {
  if (where == "-" || !may_show_colours(STDOUT_FILENO)) return put_document(where, words, json);
  fmt::print("{}", painted(visible(words)));
  if (!where.empty()) write_file(where, json + "\n");
}

void put_document(const std::string& where, const std::string& text, const std::string& json) {
  if (where == "-") {
    print_visible(stdout, "{}\n", json);
    return;
  }
  print_visible(stdout, "{}", text);
  if (!where.empty()) write_file(where, json + "\n");
}

void append_to_file(const std::filesystem::path& file, std::string_view text, const std::string& remedy) {
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out << text << std::flush;
  if (!out) throw Error(file.string(), "cannot be written", remedy);
}

std::string ending(const std::string& next, const Outcome& outcome) {
  std::string out;
  for (const std::string& line : outcome.besides) out += line + "\n";
  return out + (next.empty() ? "" : next_line(next)) + outcome.line() + "\n";
}

std::string next_line(const std::string& command) {
  constexpr std::string_view usual = "assay ";
  const bool named = command.starts_with(usual);
  return fmt::format("next: {}{}\n", named ? called_as() + " " : "",
                     command.substr(named ? usual.size() : 0));
}

std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder) {
  const auto here = folder / report.results.machine.key;
  make_folder(here);
  write_file(here / (report.results.suite + ".md"), to_markdown(report));
  write_file(here / (report.results.suite + ".json"), to_json(report) + "\n");
  write_file(here / (report.results.suite + ".csv"), to_csv(report));
  return here / (report.results.suite + ".md");
}

void write_page(const PageFiles& files, const std::function<Page()>& make) {
  if (files.html.empty() && files.svg.empty()) return;
  const Page page = make();
  if (!files.html.empty()) write_file(files.html, page.html);
  if (files.svg.empty()) return;
  make_folder(files.svg);
  for (const auto& [name, plot] : page.plots) write_file(files.svg / (name + ".svg"), svg_file(plot));
}

void publish(const Outputs& outputs, const doc::Document& document, const std::string& words,
             const std::string& json) {
  if (!outputs.markdown.empty()) write_file(outputs.markdown, doc::to_markdown(document));
  write_page(outputs.page, [&] { return doc::to_page(document); });
  put(outputs.json, words.empty() ? doc::to_text(document) : words,
      json.empty() ? doc::to_json(document) : json);
}

void require_writable_outputs(const OptionList& options) {
  const std::vector<Output> files = outputs_of(options, Writes::file);
  for (const Output& output : files) require_file(output);
  for (const Output& output : outputs_of(options, Writes::folder)) require_makeable(output);
  require_different(files);
}

}  // namespace assay
