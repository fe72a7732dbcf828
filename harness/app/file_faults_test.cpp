// Every fault that a file can have, planted into every format that is read.
#include "app/schema_faults.hpp"
#include "app/schemas.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/random.hpp"
#include "assay/suite.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/hand_made_ledger.hpp"
#include "bench/programs/bundle.hpp"
#include "bench/programs/bundle_fields.hpp"
#include "bench/programs/project.hpp"
#include "core/check/doubling.hpp"
#include "training/epoch/epoch_log.hpp"
#include "training/epoch/training_plan.hpp"
#include "training/job/read_job.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <ostream>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::schema_faults;

Results results() {
  Results out{.suite = "s",
              .machine = {.key = "m", .facts = {{"cpu", "x"}}, .caches = {{1, 32768, 1}}},
              .roofs = {{1, 1e11, {{"L1", 16384, 1e12}}}},
              .trials = {{.key = "o/v/p#1", .operation = "o", .variant = "v", .problem = "p"}}};
  out.trials[0].launches = {{{1e-6, 1e-6, 7}, {2e-6, 2e-6, 8}}};
  return out;
}

TwoBuilds gate() {
  TwoBuilds out{.suite = "s", .base = {.name = "v1"}, .head = {.name = "v2"}, .planted = {{"o/v/p#1", 0.03}}};
  PairedTrial& trial = out.trials.emplace_back();
  trial.trial = {.key = "o/v/p#1", .operation = "o", .variant = "v", .problem = "p"};
  trial.occurrences = {{"s", 10}};
  trial.launches = {{.base = {1e-3}, .head = {1e-3}, .control = {1e-3}}};
  return out;
}

LoggedEpoch epoch() {
  LoggedEpoch out{.date = "2026-01-01T00:00:00Z", .commit = "c", .machine = "m", .seconds = 1};
  out.job = {.name = "j", .plan = {.samples = 100, .batch = 10}};
  out.models = {{"M4", {1, 2, 3, 0.9}}};
  out.segments = {{"validation", {1, 2, 3, 0.9}, 2}};
  out.elsewhere = {{{1, 2}, 1}};
  return out;
}

constexpr const char* phases = R"({"schema": "assay.job/1", "job": "j", "dataset": {"train": 9, "batch": 2},
  "loader": {"workers": 4, "load_contention": 1.2}, "windows": [{"steps": 2, "wall_seconds": 0.3}],
  "phases": {"load": {"kind": "load", "mean_seconds": 0.01, "share": "12 %"}},
  "claims": [{"where": "row", "throughput": "5,641/s", "derivation": ["2 s"]}]})";

constexpr const char* suite = R"({"schema": 1, "name": "s", "about": "x", "steps_per_epoch": 3,
  "cases": [{"op": "doubling", "rows": 2, "columns": 3, "per_step": 4, "note": "n"}]})";

/// Below a folder of this process, where formats that are read from a file need it.
struct Reader {
  fs::path folder = fs::temp_directory_path() / ("assay_faults_" + std::to_string(::getpid()));
  ~Reader() { fs::remove_all(folder); }
  fs::path written(const char* name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, text);
    return folder / name;
  }
};

struct Format {
  const char* name;   ///< of its schema
  const char* file;   ///< that messages name
  std::string whole;  ///< one without a fault
  void (*read)(const Reader&, const std::string&);
};
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

void read_suite(const Reader& reader, const std::string& text) {
  load_suite(reader.written("s.json", text), testing::doubling_registry());
}
void read_baseline(const Reader& reader, const std::string& text) {
  load_baseline(reader.written("m/s.json", text));
}
void read_ledger(const Reader& reader, const std::string& text) {
  load_ledger(reader.written("smoke.ledger.json", text));
}

void read_project(const Reader& reader, const std::string& text) {
  project_in(reader.written("assay.json", text).parent_path());
}
void read_bundle_file(const Reader& reader, const std::string& text) {
  read_bundle(reader.written("bundle.json", text).parent_path());
}

/// A bundle of a program that every machine has.
BundleFile bundle(const Reader& reader) {
  const std::string content = "#!/bin/sh\n";
  fs::permissions(reader.written("base/p-0", content), fs::perms::owner_all);
  const BundledSide side{.name = "b", .commit = "c", .links = {{"base/p-0", fnv1a(content)}}};
  return {.processor = "x", .instruction_sets = {}, .base = side, .head = side};
}

Ledger ledger() {
  Ledger out = hand_made::ledger();
  out.acceptances = {hand_made::acceptance()};
  return out;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {"suite", "s.json", suite, read_suite},
      {"project", "assay.json",
       R"({"schema": "assay.project/1", "source": "s", "target": "t", "program": "b/t", "preset": "p",
           "configure": ["-DX=1", "-DY=2", "-DZ=3"], "suite": "s.json"})",
       read_project},
      {"bundle", "bundle.json", json_text(to_value(bundle(Reader{}))),
       [](const Reader& reader, const std::string& text) {
         bundle(reader);
         read_bundle_file(reader, text);
       }},
      {"results", "r.json", to_json(results()),
       [](const Reader&, const std::string& text) { results_from_json(text, "r.json"); }},
      {"baseline", "m/s.json", to_json(Baseline{"s", "m", {{"why", results()}}}), read_baseline},
      {"gate", "g.json", to_json(gate()),
       [](const Reader&, const std::string& text) { two_builds_from_json(text, "g.json"); }},
      {"ledger", "smoke.ledger.json", to_json(ledger()), read_ledger},
      {"phases", "p.json", phases,
       [](const Reader&, const std::string& text) { read_phases_json(text, "p.json"); }},
      {"job", "j.json", to_json(epoch().job),
       [](const Reader&, const std::string& text) { training_job_from_json(text, "j.json"); }},
      {"epoch-log", "log.jsonl, line 1", to_line(epoch()),
       [](const Reader&, const std::string& text) { epoch_log_from(text, "log.jsonl"); }}};
  return all;
}

class FileFormats : public ::testing::TestWithParam<Format> {
 protected:
  std::string complaint(const std::string& text) const {
    try {
      GetParam().read(reader_, text);
      return "";
    } catch (const Error& failure) {
      return failure.what();
    }
  }
  Json whole() const { return parse_json(GetParam().whole, GetParam().file); }
  /// The file with another member before its own.
  std::string with_first(const std::string& member) const {
    return "{" + member + ", " + whole().dump().substr(1);
  }
  auto names_file() const { return HasSubstr(GetParam().file); }

 private:
  Reader reader_;
};

TEST_P(FileFormats, TakeAFileThatIsRight) {
  EXPECT_EQ(complaint(whole().dump()), "");
  EXPECT_THAT(schema_faults(schema_named(GetParam().name), whole()), IsEmpty());
}

TEST_P(FileFormats, RefuseTextThatIsNoJson) {
  const std::string text = whole().dump();
  EXPECT_THAT(complaint(text.substr(0, text.size() / 2)),
              AllOf(names_file(), HasSubstr("ends in the middle")));
  EXPECT_THAT(complaint(" "), AllOf(names_file(), HasSubstr("is empty")));
  EXPECT_THAT(complaint("{]"), AllOf(names_file(), HasSubstr("invalid JSON at line 1, column 2")));
  EXPECT_THAT(complaint(with_first("\"x\": " + std::string(100'000, '['))),
              AllOf(names_file(), HasSubstr("nests more than 200 deep")));
}

TEST_P(FileFormats, RefuseFilesOfAnotherFormat) {
  EXPECT_THAT(complaint("[]"), AllOf(names_file(), HasSubstr("is an array, must be an object")));
  Json other = whole();
  other["schema"] = "assay.other/7";
  EXPECT_THAT(complaint(other.dump()), AllOf(names_file(), HasSubstr("assay.other/7")));
  other.erase("schema");
  EXPECT_THAT(complaint(other.dump()), AllOf(names_file(), HasSubstr("has no \"schema\"")));
}

TEST_P(FileFormats, NameAFieldThatIsMissing) {
  const Json schema = schema_named(GetParam().name);
  for (const Json& field : schema.at("required").items()) {
    Json lacks = whole();
    lacks.erase(field.text());
    EXPECT_THAT(complaint(lacks.dump()), AllOf(names_file(), HasSubstr("has no \"" + field.text() + '"')));
  }
}

/// Files that people write are strict; files that programs write may come from a later version.
TEST_P(FileFormats, NameAnUnknownKeyWherePeopleWriteThem) {
  const std::string found = complaint(with_first(R"("nmae": 1)"));
  if (schema_named(GetParam().name).contains("additionalProperties")) {
    EXPECT_THAT(found, AllOf(names_file(), HasSubstr("unknown key \"nmae\"; is it \"")));
  } else {
    EXPECT_EQ(found, "");
  }
}

/// Calls `visit` with each value inside of `value` and its place.
void each_inside(Json& value, const std::string& place,
                 const std::function<void(const std::string&, Json&)>& visit) {
  const auto step = [&](const std::string& inner, Json& inside) {
    visit(inner, inside);
    each_inside(inside, inner, visit);
  };
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) step(place + "[" + std::to_string(i) + "]", value[i]);
  } else if (value.is_object()) {
    std::vector<std::string> keys;
    for (const auto& [key, inside] : value.members()) keys.push_back(key);
    for (const std::string& key : keys) step(place.empty() ? key : place + "." + key, value[key]);
  }
}

TEST_P(FileFormats, NameAValueOfAnotherType) {
  Json file = whole();
  std::size_t planted = 0;
  each_inside(file, "", [&](const std::string& place, Json& value) {
    const Json right = std::exchange(value, value.is_boolean() ? Json(3) : Json(true));
    EXPECT_THAT(complaint(file.dump()), AllOf(names_file(), HasSubstr(place + ": is "))) << file;
    value = right;
    ++planted;
  });
  EXPECT_GT(planted, 9U);
}

TEST_P(FileFormats, NameANumberBeyondTheLargest) {
  Json file = whole();
  each_inside(file, "", [&](const std::string& place, Json& value) {
    const Json right = std::exchange(value, "@");
    std::string text = file.dump();
    text.replace(text.find("\"@\""), 3, "1e999");
    EXPECT_THAT(complaint(text), AllOf(names_file(), HasSubstr(place + ": is 1e999 at line 1")));
    value = right;
  });
}

/// A reader may know better than its schema, which sees single values; the schema promises nothing that the
/// reader refuses to keep.
TEST_P(FileFormats, RefuseWhatTheirSchemaRefuses) {
  const Json schema = schema_named(GetParam().name);
  Json file = whole();
  std::size_t refused = 0;
  each_inside(file, "", [&](const std::string& place, Json& value) {
    const Json right = value;
    for (const Json& planted : {Json(-1), Json(0.5), Json(std::int64_t{1} << 60), Json("nonsense"),
                                Json::array(), Json::object()}) {
      value = planted;
      if (schema_faults(schema, file).empty()) continue;
      EXPECT_THAT(complaint(file.dump()), names_file()) << place << " is " << planted;
      ++refused;
    }
    value = right;
  });
  EXPECT_GT(refused, 40U);
}

INSTANTIATE_TEST_SUITE_P(All, FileFormats, ::testing::ValuesIn(formats()), [](const auto& format) {
  std::string name = format.param.name;
  std::erase(name, '-');
  return name;
});

/// Files that other programs write, as they write them, shortened.
struct Foreign {
  const char* name;
  std::string whole;
  void (*read)(const Reader&, const std::string&);
};

void read_results(const Reader& reader, const std::string& text) {
  read_any_results(reader.written("f", text));
}
void read_table(const Reader&, const std::string& text) { read_step_csv(text, "f"); }

const std::vector<Foreign>& foreign_formats() {
  static const std::vector<Foreign> all{
      {"google", R"({"context": {"num_cpus": 2}, "benchmarks": [{"name": "A", "run_name": "A", "threads": 1,
         "iterations": 9, "real_time": 1.5, "cpu_time": 1.5, "time_unit": "us"}]})",
       read_results},
      {"hyperfine",
       R"({"results": [{"command": "a", "user": 0.1, "median": 0.1, "times": [0.1, 0.2], "exit_codes": [0, 0]}]})",
       read_results},
      {"pytest",
       R"({"machine_info": {"node": "h", "cpu": {"brand_raw": "Zen", "count": 2}}, "commit_info": {"dirty": true},
         "benchmarks": [{"name": "t", "fullname": "f::t", "stats": {"median": 1e-6, "iterations": 7}}]})",
       read_results},
      {"nvbench",
       R"({"devices": [{"name": "H100"}], "benchmarks": [{"name": "copy", "states": [{"name": "N=2^20",
         "is_skipped": false, "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [
           {"name": "value", "type": "float64", "value": "0.5"}]}]}]}]})",
       read_results},
      {"benchdnn",
       "Output template: perf,%engine%,%impl%,%name%,%prb%,%Gops%,%-time%,%0time%\n"
       "perf,cpu,ref,,2x3:3x4,0.1,2,2.5\n",
       read_results},
      {"table", "step,load_ms,step_ms\n0,1,20\n1,1,21\n", read_table}};
  return all;
}

/// A fault that replaces a part of a right file, and the message that its reader gives; `whole` replaces all.
struct Fault {
  const char* format;
  std::string part, planted, message;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.format << ": " << fault.planted; }

/// Stands in place of a part.
const std::string whole_file = "whole";

std::vector<Fault> foreign_faults() {
  std::vector<Fault> out{
      {"google", "1.5,", "-5,", "benchmarks[0].real_time: is -5, must be a time"},
      {"google", "1.5,", "1e999,", "benchmarks[0].real_time: is 1e999 at line 2"},
      {"google", "1.5,", "\"soon\",", "benchmarks[0].real_time: is a string, must be a number"},
      {"google", "\"real_time\"", "\"time\"", "benchmarks[0]: has no \"real_time\""},
      {"google", "\"us\"", "\"h\"", "benchmarks[0].time_unit: is h, must be ns, us, ms or s"},
      {"google", "\"threads\": 1", "\"threads\": -1",
       "benchmarks[0].threads: is -1, must be an integer from 1"},
      {"google", "\"iterations\": 9", "\"iterations\": 1.5", "benchmarks[0].iterations: is 1.5"},
      {"google", "\"name\": \"A\"", "\"name\": 3", "benchmarks[0].name: is a number, must be a string"},
      {"google", "\"num_cpus\": 2", "\"num_cpus\": 0", "context.num_cpus: is 0"},
      {"google", whole_file, R"({"context": {}, "benchmarks": []})", "f: benchmarks: holds no measurement"},
      {"hyperfine", "0.2]", "-2]", "results[0].times: holds -2, must be times in seconds above 0"},
      {"hyperfine", "0.2]", "NaN]", "invalid JSON at line 1"},
      {"hyperfine", "0.2]", "1e999]", "results[0].times[1]: is 1e999 at line 1"},
      {"hyperfine", "0.2]", "null]", "results[0].times[1]: is null, must be a number"},
      {"hyperfine", "[0, 0]", "[0, 0.5]", "results[0].exit_codes[1]: is 0.5, must be an integer"},
      {"hyperfine", "\"a\"", "3", "nearest to hyperfine, but with no \"results.command\" that is a string"},
      {"hyperfine", whole_file, R"({"results": []})", "f: results: holds no command"},
      {"pytest", "1e-6", "0", "benchmarks[0].stats.median: holds 0, must be times"},
      {"pytest", "1e-6", "1e-6, \"data\": [\"a\"]", "benchmarks[0].stats.data[0]: is a string"},
      {"pytest", "\"iterations\": 7", "\"iterations\": 0", "benchmarks[0].stats.iterations: is 0"},
      {"pytest", "\"count\": 2", "\"count\": -2", "machine_info.cpu.count: is -2"},
      {"pytest", "\"stats\"", "\"status\"", "benchmarks[0]: has no \"stats\""},
      {"pytest", "true", "1", "commit_info.dirty: is a number, must be true or false"},
      {"pytest", whole_file, R"({"machine_info": {}, "benchmarks": []})", "f: benchmarks: holds no test"},
      {"nvbench", "\"0.5\"", "\"fast\"", "value: is \"fast\", must be a time in seconds"},
      {"nvbench", "\"0.5\"", "\"-1\"", "value: is \"-1\", must be a time in seconds"},
      {"nvbench", "\"0.5\"", "0.5", "value: is a number, must be a string"},
      {"nvbench", "\"summaries\"", "\"summary\"", "benchmarks[0].states[0]: has no \"summaries\""},
      {"nvbench", "\"tag\"", "\"tags\"", "summaries[0]: has no \"tag\""},
      {"nvbench", "\"states\"", "\"status\"", "is of no known format: nearest to "},
      {"nvbench", whole_file, R"({"benchmarks": []})", "f: benchmarks: holds no state"},
      {"benchdnn", "2.5", "soon", "f: line 2: the time is \"soon\", must be milliseconds"},
      {"benchdnn", "2.5", "-1", "f: line 2: the time is \"-1\""},
      {"benchdnn", ",2,2.5", "",
       "f: line 2: \"perf,cpu,ref,,2x3:3x4,0.1\" has 6 fields where the template before it has 8"},
      {"benchdnn", "Output template: ", "", "f: line 1: no line \"Output template: …\""},
      {"benchdnn", whole_file, "perf,cpu,ref,,x,1,2,3\n", "f: line 1: no line \"Output template: …\""},
      {"benchdnn", whole_file, "Output template: perf,%engine%\n", "lacks what is read"},
      {"benchdnn", whole_file, "Output template: perf,%prb%,%0time%\n",
       "f: holds no line that begins with \"perf,\""}};
  for (const char* format : {"google", "hyperfine", "pytest", "nvbench"}) {
    const std::string& whole =
        std::ranges::find(foreign_formats(), std::string_view(format), &Foreign::name)->whole;
    out.push_back({format, whole_file, whole.substr(0, whole.size() / 2), "f: ends in the middle"});
    out.push_back(
        {format, whole_file, R"({"schema": "assay.two_builds/1"})", "is of schema assay.two_builds/1"});
    out.push_back({format, whole_file, "[]", "is an array, must be an object"});
  }
  for (const char* format : {"google", "table"}) {
    out.push_back({format, whole_file, "", "f: "});
    out.push_back({format, whole_file,
                   std::string("\x7f"
                               "ELF\x02\0\x01",
                               7),
                   "f: "});
  }
  return out;
}

class ForeignFiles : public ::testing::TestWithParam<Fault> {};

TEST_P(ForeignFiles, WithAFaultAreRefused) {
  const auto& [name, part, planted, message] = GetParam();
  const Foreign& format = *std::ranges::find(foreign_formats(), std::string_view(name), &Foreign::name);
  const Reader reader;
  EXPECT_NO_THROW(format.read(reader, format.whole));
  std::string text = planted;
  if (part != whole_file) {
    const std::size_t at = format.whole.find(part);
    ASSERT_NE(at, std::string::npos);
    text = std::string(format.whole).replace(at, part.size(), planted);
  }
  EXPECT_THAT([&] { format.read(reader, text); },
              ::testing::Throws<Error>(::testing::Property(&Error::what, HasSubstr(message))));
}
INSTANTIATE_TEST_SUITE_P(All, ForeignFiles, ::testing::ValuesIn(foreign_faults()));

TEST(FilesThatAreFolders, AreRefused) {
  const fs::path folder = fs::temp_directory_path();
  const auto refuses = [&](const std::function<void()>& read, const std::string& what) {
    EXPECT_THAT(read, ::testing::Throws<Error>(
                          ::testing::Property(&Error::what, HasSubstr(folder.string() + ": " + what))));
  };
  refuses([&] { read_any_results(folder); }, "is a folder");
  refuses([&] { load_ledger(folder); }, "is a folder");
  refuses([&] { load_suite(folder, testing::doubling_registry()); }, "cannot be read");
}

}  // namespace
}  // namespace assay
