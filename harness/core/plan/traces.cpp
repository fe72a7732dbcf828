#include "core/plan/traces.hpp"

#include "assay/error.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Every plan reads the whole file. The longest accepted trace has 2^20 lines.
constexpr std::uintmax_t largest_trace = std::uintmax_t{1} << 28;

std::vector<std::string> fields_in(std::string_view text) {
  if (text.empty()) return {};
  const auto parts = parts_of(text, ',');
  return {parts.begin(), parts.end()};
}

bool is_trace(std::string_view field) {
  return field.starts_with(trace_field) && field.substr(trace_field.size()).starts_with('=');
}

/// Keys are split, searched by regular expressions and copied into shells.
bool may_stand_in_keys(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 ||
         std::string_view("/._-+=@").find(c) != std::string_view::npos;
}

void require_name(const std::string& name, const std::string& where, bool below) {
  const fs::path path = name;
  if (!path.has_filename()) throw Error(where, fmt::format("'{}' names no file", name), "give its path");
  if (!std::ranges::all_of(name, may_stand_in_keys)) {
    throw Error(where, fmt::format("'{}' cannot stand in keys", name),
                "rename the file: letters, digits and / . _ - + = @ can");
  }
  if (below && (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end())) {
    throw Error(where, fmt::format("'{}' leads out of the folder of the suite", name),
                "put the file beside the suite or below it, so that both go to other machines together");
  }
}

/// Throws Error for a file that would never end or is too large.
void require_moderate(const fs::path& file) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) {
    throw Error(file.string(), fs::exists(file, unknown) ? "is no regular file" : "is not there",
                "check the path");
  }
  if (fs::file_size(file, unknown) > largest_trace) {
    throw Error(file.string(), fmt::format("has more than {} MiB", largest_trace >> 20), "cut it");
  }
}

}  // namespace

std::string fields_of(const Operation& operation, const std::string& problem, const fs::path& file) {
  if (file.empty()) return problem;
  require_moderate(file);
  const std::size_t others = problem.find(',');
  return operation.canonical(
      operation.name(),
      operation.problem_of(file) + (others == std::string::npos ? "" : problem.substr(others)));
}

void make_canonical(Case& row, const Operation& operation, const std::string& where, const fs::path& folder) {
  std::vector<std::string> fields = fields_in(row.problem);
  const auto traces = std::ranges::count_if(fields, is_trace);
  const std::vector<FieldRule> own = operation.fields();
  if (traces == 0 || std::ranges::find(own, trace_field, &FieldRule::name) != own.end()) {
    row.problem = operation.canonical(where, row.problem);
    return;
  }
  const std::string place = fmt::format("{}: {}", where, trace_field);
  if (traces > 1) throw Error(place, "is given twice", "give it once");
  const auto trace = std::ranges::find_if(fields, is_trace);
  std::rotate(fields.begin(), trace, trace + 1);
  const std::string name = fields.front().substr(trace_field.size() + 1);
  require_name(name, place, !folder.empty());
  row.file = fs::absolute(folder / name).lexically_normal();
  try {
    std::vector<std::string> all =
        fields_in(fields_of(operation, fmt::format("{}", fmt::join(fields, ",")), row.file));
    const std::vector<std::string> held = fields_in(operation.problem_of(row.file));
    std::erase_if(all, [&](const std::string& one) { return std::ranges::find(held, one) != held.end(); });
    all.insert(all.begin(), fields.front());
    row.problem = fmt::format("{}", fmt::join(all, ","));
  } catch (const Error& failure) {
    throw Error(place, failure.what(), "");
  }
}

}  // namespace assay
