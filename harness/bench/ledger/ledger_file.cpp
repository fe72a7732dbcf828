// Ledgers as files: one per suite, for all machines, read with every value doubted.
#include "assay/error.hpp"
#include "bench/ledger/ledger.hpp"
#include "core/json/json.hpp"
#include "core/plan/former_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

namespace assay {
namespace {

constexpr std::string_view ledger_schema = "assay.ledger/1";
constexpr std::string_view ending = ".ledger.json";
constexpr const char* remedy = "restore it from version control";
constexpr Index most_launches = 1'000'000;

/// Shown on terminals, where control characters would move the cursor.
std::string plain_text(const JsonField& field) {
  std::string out = field.text();
  if (out.empty()) field.refuse("is empty");
  if (std::ranges::any_of(out, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    field.refuse("holds a control character");
  }
  return out;
}

/// Stands in commands that are shown to be copied into a shell.
std::string key_of(const JsonField& field) {
  std::string out = plain_text(field);
  if (out.find('\'') != std::string::npos) field.refuse("holds a quotation mark, which no key does");
  return with_present_names(std::move(out));
}

Date date_of(const JsonField& field) {
  const std::string text = field.text();
  const auto date = date_from(text);
  if (!date) field.refuse(fmt::format("is \"{}\", which is no day; write it as 2026-10-01", text));
  return *date;
}

std::string commit_of(const JsonField& field) {
  std::string out = field.text();
  if (!is_commit(out)) field.refuse(fmt::format("is \"{}\", must be seven hexadecimal digits or more", out));
  return out;
}

Acceptance acceptance_of(const JsonField& field) {
  Acceptance out{.key = key_of(field.at("key")),
                 .ratio = field.at("ratio").number(),
                 .reason = plain_text(field.at("reason")),
                 .until = date_of(field.at("until")),
                 .accepted_on = date_of(field.at("accepted_on")),
                 .commit = plain_text(field.at("commit")),
                 .release = field.at("release").text()};
  if (!(out.ratio > 1) || !std::isfinite(out.ratio)) {
    field.at("ratio").refuse(fmt::format("of {} is {}, must be above 1", out.key, out.ratio));
  }
  if (out.until < out.accepted_on) {
    field.at("until").refuse(
        fmt::format("of {} is before it was accepted, on {}", out.key, date_text(out.accepted_on)));
  }
  return out;
}

std::pair<std::string, Estimate> row_of(const JsonField& field) {
  const std::string key = key_of(field.at("key"));
  const Estimate out{.log_ratio = field.at("log_ratio").number(),
                     .deviation = field.at("deviation").number(),
                     .launches = static_cast<std::size_t>(field.at("launches").integer(0, most_launches))};
  if (!std::isfinite(out.log_ratio)) field.at("log_ratio").refuse(fmt::format("of {} is not finite", key));
  if (!(out.deviation >= 0) || !std::isfinite(out.deviation)) {
    field.at("deviation").refuse(fmt::format("of {} is {}, must be 0 or more", key, out.deviation));
  }
  if (out.deviation > 0 && out.launches < 2) {
    field.at("launches")
        .refuse(fmt::format("of {} is {}: fewer than 2 show no deviation", key, out.launches));
  }
  return {key, out};
}

Step step_from(const JsonField& field) {
  Step out{.base = commit_of(field.at("base")),
           .head = commit_of(field.at("head")),
           .date = date_of(field.at("date"))};
  const auto rows = field.at("rows");
  for (const JsonField& row : rows.items()) {
    const auto [key, estimate] = row_of(row);
    if (!out.rows.emplace(key, estimate).second) row.refuse(fmt::format("is a second row of {}", key));
  }
  if (out.rows.empty()) rows.refuse("is empty: a step without estimates says nothing");
  return out;
}

/// Sums are only as good as the steps are complete.
void require_chain(const JsonField& file, const Ledger& ledger) {
  const auto steps = file.at("steps").items();
  std::string last = ledger.release_commit;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!same_commit(last, ledger.steps[i].base)) {
      steps[i].at("base").refuse(fmt::format("is {}, but what comes before ends at {}: a step is missing",
                                             ledger.steps[i].base, last.empty() ? "no release" : last));
    }
    last = ledger.steps[i].head;
  }
}

Json step_value(const Step& step) {
  Json rows = Json::array();
  for (const auto& [key, row] : step.rows) {
    rows.push_back({{"key", key},
                    {"log_ratio", json_number(row.log_ratio)},
                    {"deviation", json_number(row.deviation)},
                    {"launches", row.launches}});
  }
  return {
      {"base", step.base}, {"head", step.head}, {"date", date_text(step.date)}, {"rows", std::move(rows)}};
}

}  // namespace

std::filesystem::path ledger_path(const std::filesystem::path& folder, std::string_view suite) {
  // The name of the suite is held to the rules of baselines.
  return folder / baseline_path("", "any", suite).replace_extension(ending).filename();
}

std::string to_json(const Ledger& ledger) {
  Json acceptances = Json::array(), steps = Json::array();
  for (const Acceptance& one : ledger.acceptances) {
    acceptances.push_back({{"key", one.key},
                           {"ratio", json_number(one.ratio)},
                           {"reason", one.reason},
                           {"until", date_text(one.until)},
                           {"accepted_on", date_text(one.accepted_on)},
                           {"commit", one.commit},
                           {"release", one.release}});
  }
  for (const Step& step : ledger.steps) steps.push_back(step_value(step));
  Json out{{"schema", ledger_schema}, {"suite", ledger.suite}, {"release", ledger.release}};
  if (!ledger.release.empty()) {
    out["release_commit"] = ledger.release_commit;
    out["released_on"] = date_text(ledger.released_on);
  }
  out["acceptances"] = std::move(acceptances);
  out["steps"] = std::move(steps);
  return json_text(out);
}

void save_ledger(const std::filesystem::path& file, const Ledger& ledger) {
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) {
    throw Error(file.parent_path().string(), fmt::format("cannot make this folder: {}", failure.message()),
                "check its permissions, or name another folder with --baselines");
  }
  write_file(file, to_json(ledger) + "\n");
}

std::optional<Ledger> load_ledger(const std::filesystem::path& file) {
  std::error_code failure;
  if (!std::filesystem::exists(std::filesystem::status(file, failure))) return std::nullopt;
  const Json value = parse_json(read_file(file), file.string());
  const JsonField field(value, file.string(), remedy);
  require_schema(field, ledger_schema);
  Ledger out{.suite = field.at("suite").text(), .release = field.at("release").text()};
  const std::string name = file.filename().string();
  if (out.suite + std::string(ending) != name) {
    field.refuse(fmt::format("is of suite {}, but lies where that of {} belongs", out.suite,
                             name.substr(0, name.size() - std::min(name.size(), ending.size()))));
  }
  if (!out.release.empty()) {
    out.release = plain_text(field.at("release"));
    out.release_commit = commit_of(field.at("release_commit"));
    out.released_on = date_of(field.at("released_on"));
  }
  for (const JsonField& one : field.at("acceptances").items()) {
    Acceptance acceptance = acceptance_of(one);
    if (std::ranges::find(out.acceptances, acceptance.key, &Acceptance::key) != out.acceptances.end()) {
      one.refuse(fmt::format("is a second acceptance of {}", acceptance.key));
    }
    out.acceptances.push_back(std::move(acceptance));
  }
  for (const JsonField& one : field.at("steps").items()) out.steps.push_back(step_from(one));
  require_chain(field, out);
  return out;
}

}  // namespace assay
