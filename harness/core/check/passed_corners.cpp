#include "core/check/passed_corners.hpp"

#include "assay/files.hpp"
#include "core/check/contained.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <map>
#include <system_error>
#include <utility>

namespace assay {
namespace {

/// Some hundred builds of all kernels of a project like this one.
constexpr std::size_t most_lines = 4096;
constexpr std::size_t digits = 16, longest_line = 512;

bool is_line(std::string_view line) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f'); };
  return line.size() > digits + 1 && line.size() <= longest_line && line[digits] == ' ' &&
         std::ranges::all_of(line.substr(0, digits), is_digit);
}

std::vector<std::string> lines_in(const std::filesystem::path& file) {
  std::vector<std::string> out;
  // Whatever else lies there may have no end.
  if (std::error_code none; !std::filesystem::is_regular_file(file, none)) return out;
  try {
    const std::string text = read_file(file);
    for (const std::string_view line : parts_of(text, '\n'))
      if (is_line(line)) out.emplace_back(line);
  } catch (const std::exception&) {
    return {};
  }
  return out;
}

}  // namespace

PassedCorners::PassedCorners(std::filesystem::path file, const Machine& machine) : file_(std::move(file)) {
  // `check` alone has threads that rest, and its verdicts hold for those that do not.
  const Variables resting = pools_that_rest();
  const auto rests = [&](const Fact& fact) {
    return std::ranges::find(resting, fact.name, &Variables::value_type::first) != resting.end();
  };
  for (const Fact& fact : machine.facts) {
    if (fact.decides && !rests(fact)) machine_ += fmt::format("{}={}\n", fact.name, fact.value);
  }
  machine_ += fmt::format("{} {}\n", machine.cores, build_info().version);
  if (!file_.empty()) lines_ = lines_in(file_);
}

bool PassedCorners::hold(const Operation& operation, std::size_t variant) const {
  return std::ranges::find(lines_, line_of(operation, variant)) != lines_.end();
}

void PassedCorners::note(std::span<const Operation* const> operations, std::span<const CornerCheck> checks) {
  std::map<std::pair<std::string_view, std::string_view>, bool> passed;
  for (const CornerCheck& check : checks) {
    if (!check.skipped.empty()) continue;
    const auto [at, is_new] = passed.try_emplace({check.operation, check.variant}, true);
    at->second = at->second && check.agreement.agrees;
  }
  for (const Operation* operation : operations) {
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      const auto found = passed.find({operation->name(), operation->variants()[v].name});
      std::string line = found == passed.end() ? "" : line_of(*operation, v);
      if (line.empty()) continue;
      std::erase(lines_, line);
      if (found->second) lines_.push_back(std::move(line));
    }
  }
}

void PassedCorners::save() const {
  std::error_code none;
  if (file_.empty() || (lines_.empty() && !std::filesystem::exists(file_, none))) return;
  std::string text;
  const std::size_t first = lines_.size() - std::min(lines_.size(), most_lines);
  for (std::size_t i = first; i < lines_.size(); ++i) text += lines_[i] + '\n';
  try {
    std::error_code failed;
    std::filesystem::create_directories(file_.parent_path(), failed);
    if (!failed) write_file(file_, text);
  } catch (const std::exception&) {
    return;
  }
}

std::string PassedCorners::line_of(const Operation& operation, std::size_t variant) const {
  const std::vector<VariantInfo>& variants = operation.variants();
  const std::string code = identity_of(variants.at(variant)), reference = identity_of(variants.front());
  if (code.empty() || reference.empty()) return "";
  std::string all =
      fmt::format("{}{} {}\n{}\n{}\n", machine_, operation.name(), operation.version(), reference, code);
  for (const Fill fill : operation.fills()) all += to_string(fill);
  for (const std::string& problem : operation.corner_cases()) all += '\n' + problem;
  for (const FieldRule& rule : operation.fields())
    if (rule.of_content) all += fmt::format("\n{}", rule.name);
  const std::string name = fmt::format("{}/{}", operation.name(), variants[variant].name);
  return fmt::format("{:016x} {}", fnv1a(name, fnv1a(all)), name);
}

std::string PassedCorners::identity_of(const VariantInfo& variant) const {
  if (!variant.code.empty()) return variant.code;
  // Libraries and interpreters name no source, and are not in the file of the program.
  if (variant.source.empty() || is_embedded()) return "";
  if (!program_) {
    program_.emplace();
    try {
      program_ = fmt::format("program {:016x}", fnv1a(read_file(this_program())));
    } catch (const std::exception&) {
      program_->clear();  // it is gone
    }
  }
  return *program_;
}

std::filesystem::path usual_passed_corners() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "corners";
}

}  // namespace assay
