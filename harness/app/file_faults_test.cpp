// Every fault that a file can have, planted into every format that is read.
#include "app/schema_faults_test.hpp"
#include "app/verbs.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/random.hpp"
#include "assay/suite.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/hand_made_ledger_test.hpp"
#include "bench/programs/project.hpp"
#include "bench/programs/revision.hpp"
#include "core/check/doubling_test.hpp"
#include "core/json/fields.hpp"
#include "core/text/utf8.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/own_jobs.hpp"
#include "training/job/read_job.hpp"
#include "training/job/scratch_file_test.hpp"

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
  out.shard = ShardRecord{.shard = {2, 4}, .cases = 23, .positions = {22}};
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
  const BundledSide side{.side = {.name = "b", .commit = "c"}, .links = {{"base/p-0", fnv1a(content)}}};
  return {.processor = "x", .instruction_sets = {}, .base = side, .head = side};
}

Ledger ledger() {
  Ledger out = hand_made::ledger();
  out.acceptances = {hand_made::acceptance(), hand_made::acceptance()};
  out.acceptances[1].key = "gemm/simd@avx2/m=64#1";
  return out;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {"suite", "s.json", suite, read_suite},
      {"project", "assay.json",
       R"({"schema": "assay.project/1", "kind": "command", "filter": "f", "match": "x(.)y", "rate": true,
           "source": "s", "target": "t", "program": "b/t", "preset": "p",
           "configure": ["-DX=1", "-DY=2", "-DZ=3"], "arguments": ["-x"]})",
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
  for (std::size_t length = 1; length < text.size(); length += 7)
    EXPECT_THAT(complaint(text.substr(0, length)), names_file()) << length;
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

/// Sums, products and logarithms of numbers that pass stay finite.
TEST_P(FileFormats, RefuseNumbersThatNothingCanHave) {
  Json file = whole();
  each_inside(file, "", [&](const std::string& place, Json& value) {
    if (!value.is_number() || place.ends_with("worst_error")) return;  // of a wrong output, it is any number
    const Json right = value;
    for (const Json& planted : {Json(1e308), Json(-1e308), Json("nan"), Json("inf")}) {
      value = planted;
      EXPECT_THAT(complaint(file.dump()), names_file()) << place << " is " << planted;
    }
    value = right;
  });
}

TEST_P(FileFormats, RefuseCountsAndTimesBelowZero) {
  Json file = whole();
  each_inside(file, "", [&](const std::string& place, Json& value) {
    // Logarithms have signs, models may predict less than nothing, and lint() tells whoever measures a job
    // about its times.
    for (const char* has_sign :
         {"log_ratio", "worst_error", "load_seconds", "wall_seconds", "planted.o/v/p#1", ".low"})
      if (place.ends_with(has_sign)) return;
    if (place.find("models[") != std::string::npos) return;
    if (!value.is_number() || GetParam().name == std::string("phases")) return;
    const Json right = std::exchange(value, Json(-2));
    EXPECT_THAT(complaint(file.dump()), names_file()) << place;
    value = right;
  });
}

/// Complaints are printed. Texts and keys of a file must not reach a terminal as they are.
TEST_P(FileFormats, ComplainWithoutWhatATerminalObeys) {
  Json file = whole();
  const Json planted("x\x1b[31m\u009b2J\u202e\x7f");
  each_inside(file, "", [&](const std::string& place, Json& value) {
    const Json right = std::exchange(value, planted);
    const std::string found = complaint(file.dump());
    EXPECT_EQ(found, visible(found)) << place;
    value = right;
  });
  for (const char* member : {R"("\u001b[31m\u009b": 1)", "\"\xff\": 1", "\"\x1b\": 1"}) {
    const std::string found = complaint(with_first(member));
    EXPECT_EQ(found, visible(found)) << member;
  }
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
void read_trace_of_kineto(const Reader& reader, const std::string& text) {
  read_kineto(reader.written("f", text));
}

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
      {"table", "step,load_ms,step_ms\n0,1,20\n1,1,21\n", read_table},
      {"kineto",
       R"({"schemaVersion": 1, "traceEvents": [
         {"ph": "X", "cat": "cpu_op", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 5000, "dur": 1000},
         {"ph": "X", "cat": "cpu_op", "name": "ProfilerStep#8", "pid": 1, "tid": 1, "ts": 6010, "dur": 1000}]})",
       read_trace_of_kineto},
      {"packed", gzipped(R"({"traceEvents": [
         {"ph": "X", "cat": "cpu_op", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 5000, "dur": 1000}]})"),
       read_trace_of_kineto}};
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

/// Returns our own format or the foreign one of that name, our own written in one line.
Foreign format_named(std::string_view name) {
  const auto own = std::ranges::find(formats(), name, &Format::name);
  if (own == formats().end()) return *std::ranges::find(foreign_formats(), name, &Foreign::name);
  return {own->name, parse_json(own->whole, own->file).dump(), own->read};
}

std::vector<Fault> faults() {
  std::vector<Fault> out{
      {"results", "\"p\",\"threads\":1", "\"p\",\"threads\":1.5",
       "r.json: trials[0].threads: is 1.5, must be an integer"},
      {"results", "\"p\",\"threads\":1", "\"p\",\"threads\":0",
       "trials[0].threads: is 0, must be an integer from 1"},
      {"results", "\"launches\":[", "\"launches\":\"x\",\"y\":[",
       "trials[0].launches: is a string, must be an array"},
      {"results", "\"trials\":[", "\"trials\":{},\"y\":[", "trials: is an object, must be an array"},
      {"results", "\"trials\":[", "\"trials\":[3,", "trials[0]: is a number, must be an object"},
      {"results", "\"trials\":[",
       R"("trials":[{"key":"o/v/p#1","operation":"o","variant":"v","problem":"p"},)",
       "trials[1]: repeats the trial o/v/p#1"},
      {"results", "\"seed\":0", "\"seed\":[[1,2]]", "seed: is an array, must be an integer from 0"},
      {"results", "\"seed\":0", "\"seed\":0,\"merged_shards\":{\"a\":1}",
       "is an object, must be an integer from 1"},
      {"results", "\"index\":2", "\"index\":4", "shard.index: is 4, must be an integer from 0 to 3"},
      {"results", "\"count\":4", "\"count\":0", "shard.count: is 0, must be an integer from 1"},
      {"results", "\"count\":4", "\"count\":2147483647",
       "shard.count: is 2147483647, must be an integer from 1"},
      {"results", "\"positions\":[22]", "\"positions\":[23]", "shard.positions[0]: is 23"},
      {"results", "\"agreement\":{",
       R"("agreement":{"figures":[{"name":"height","value":1,"better":"less"}],)",
       "must be one of lower, higher"},
      {"results", "\"agreement\":{",
       R"("agreement":{"figures":[{"name":"height","value":"nan","better":"lower"}],)",
       "figures[0].value: is nan"},
      {"results", "[1e-06,2e-06]", "[1,0]", "launches[0].seconds[1]: is 0, must be a number above 1e-100"},
      {"results", "[1e-06,2e-06]", "[1,-1e-9]", "must be a number above 1e-100"},
      {"results", "[1e-06,2e-06]", "[1,\"nan\"]", "must be a number above 1e-100"},
      {"results", "[1e-06,2e-06]", "[1,\"inf\"]", "must be a number above 1e-100"},
      {"results", "[1e-06,2e-06]", "[1,true]", "launches[0].seconds[1]: is a boolean, must be a number"},
      {"results", "\"cpu_seconds\":[1e-06,2e-06]", "\"cpu_seconds\":[1]",
       "cpu_seconds: has 1 numbers, \"seconds\" has 2"},
      {"results", "[7,8]", "[7]", "calls: has 1 numbers, \"seconds\" has 2"},
      {"results", "\"compared\":0", "\"compared\":8",
       "r.json: trials[0].agreement.compared: contradicts itself: 8 is more than"},
      {"results", "\"worst_error\":0.0", "\"worst_error\":1.5", "r.json: trials[0].agreement.worst_error"},
      {"results", "\"bytes_read\":0.0", "\"bytes_read\":-4",
       "r.json: trials[0].cost.bytes_read: is -4, must be a number from 0"},
      {"results", "\"memory_bytes\":0.0", "\"memory_bytes\":-4",
       "r.json: machine.memory_bytes: is -4, must be a number from 0"},
      {"results", "\"memory_bytes\":0.0", "\"memory_bytes\":\"nan\"", "machine.memory_bytes: is nan"},
      {"results", "\"migrations\":0.0", "\"migrations\":-2",
       "weather.migrations: is -2, must be a number from -1"},
      {"results", "\"steal_share\":0.0", "\"steal_share\":1.5", "weather.steal_share: is 1.5"},
      {"results", "[7,8]", "[7,-8]", "launches[0].calls[1]: is -8, must be an integer from 1"},
      {"results", "[7,8]", "[7,9223372036854775807]",
       "launches[0].calls[1]: is 9223372036854775807, must be"},
      {"results", "\"cpu_seconds\":[1e-06,2e-06]", "\"cpu_seconds\":[1e-06,\"nan\"]",
       "launches[0].cpu_seconds[1]: is nan, must be a number from 0"},
      {"results", "[1e-06,2e-06]", "[1,1e308]",
       "r.json: trials[0].launches[0].seconds[1]: is 1e+308, must be a number above 1e-100 to 1000000000"},
      {"results", "assay.result/1", "assay.result/2",
       "r.json: is of schema assay.result/2; this program reads assay.result/1 here"},
      {"results", whole_file, "{\n \"schema\": oops}", "r.json: invalid JSON at line 2, column 12"},
      {"results", whole_file, std::string(300'000, '[') + std::string(300'000, ']'),
       "r.json: nests more than 200 deep at byte 201"},
      {"baseline", "\"suite\":\"s\"", "\"suite\":\"full\"",
       "s.json: is of suite full, but lies where that of s belongs"},
      {"baseline", "\"machine_key\":\"m\"", "\"machine_key\":\"cpu_4\"",
       "is of machine cpu_4, but lies where that of m belongs"},
      {"baseline", "\"launches\":[", "\"launches\":3,\"x\":[",
       "recordings[0].results.trials[0].launches: is a number, must be an array"},
      {"baseline", whole_file, to_json(Baseline{"s", "m", {}}), "recordings: is empty"},
      {"baseline", whole_file, to_json(results()),
       "is of schema assay.result/1; this program reads assay.baseline/1"},
      {"gate", "\"head\":[0.001]", "\"head\":[1,2]", "launches[0].head: has 2 slices, the base has 1"},
      {"gate", "\"control\":[0.001]", "\"control\":[1,2]", "launches[0].control: has 2 slices"},
      {"gate", "\"looks\":[16,21", "\"looks\":[16,16", "policy.looks: does not ascend"},
      {"gate", "\"looks\":[16,21", "\"looks\":[21,16", "policy.looks: does not ascend"},
      {"gate", "63,95,143]", "63,95,2147483647]",
       "policy.looks[6]: is 2147483647, must be an integer from 1 to"},
      {"gate", "\"screen\":8", "\"screen\":2147483647", "policy.screen: is 2147483647"},
      {"gate", "\"same_level\":0.05", "\"same_level\":1",
       "policy.same_level: is 1, must be a number above 0"},
      {"gate", "\"budget_seconds\":0.0", "\"budget_seconds\":1e308", "g.json: budget_seconds: is 1e+308"},
      {"gate", "\"base_allocations\":0.0", "\"base_allocations\":-1",
       "g.json: trials[0].base_allocations: is -1, must be a number from 0"},
      {"gate", "\"base\":[0.001]", "\"base\":[\"nan\"]", "launches[0].base[0]: is nan"},
      {"gate", "\"base\":[0.001]", "\"base\":[5e-324]", "launches[0].base[0]: is 5e-324"},
      {"suite", "\"per_step\":4", "\"per_step\":-4", "cases[0].per_step: is -4"},
      {"suite", "\"per_step\":4", "\"per_step\":1e308", "cases[0].per_step: is 1e+308"},
      {"phases", "0.01", "1e308", "p.json: phases.load.mean_seconds: is 1e+308"},
      {"epoch-log", "\"prediction_seconds\":0.0", "\"prediction_seconds\":-1",
       "log.jsonl, line 1: prediction_seconds: is -1"},
      {"ledger", "\"suite\":\"smoke\"", "\"suite\":\"full\"",
       "smoke.ledger.json: is of suite full, but lies where that of smoke"},
      {"ledger", "\"acceptances\":[", "\"acceptances\":3,\"x\":[", "acceptances: is a number"},
      {"ledger", "2026-05-01", "2026-02-30", "acceptances[0].until: is \"2026-02-30\", which is no day"},
      {"ledger", "2026-05-01", "2026-03-01",
       "acceptances[0].until: of gemm/packed/m=64#1 is before it was accepted, on 2026-03-02"},
      {"ledger", "\"released_on\":\"2026-03-01\"", "\"released_on\":\"1st of March\"", "released_on: is"},
      {"ledger", "\"date\":\"2026-03-01\"", "\"date\":\"2026-3-1\"", "steps[0].date: is"},
      {"ledger", "gemm/simd@avx2", "gemm/packed", "acceptances[1]: is a second acceptance of gemm/packed"},
      {"ledger", "gemm/naive/m=64#1", hand_made::packed,
       "steps[0].rows[1]: is a second row of gemm/packed/m=64#1"},
      {"ledger", "\"ratio\":1.08", "\"ratio\":-1.08",
       "acceptances[0].ratio: is -1.08, must be a number above 1"},
      {"ledger", "\"ratio\":1.08", "\"ratio\":\"inf\"", "acceptances[0].ratio"},
      {"ledger", "\"ratio\":1.08", "\"ratio\":\"nan\"", "acceptances[0].ratio"},
      {"ledger", "\"deviation\":0.001", "\"deviation\":-0.001",
       "steps[0].rows[0].deviation: is -0.001, must be a number from 0"},
      {"ledger", "\"launches\":40", "\"launches\":-40", "steps[0].rows[0].launches: is -40"},
      {"ledger", "\"launches\":40", "\"launches\":1", "fewer than 2 show no deviation"},
      {"ledger", "\"log_ratio\":0.01", "\"log_ratio\":\"nan\"", "steps[0].rows[1].log_ratio"},
      {"ledger", "\"base\":\"c0ffee1\"", "\"base\":\"c0ffee5\"",
       "steps[1].base: is c0ffee5, but what comes before ends at c0ffee1: a step is missing"},
      {"ledger", "\"release_commit\":\"c0ffee0\"", "\"release_commit\":\"deadbeef\"",
       "steps[0].base: is c0ffee0, but what comes before ends at deadbeef"},
      {"ledger", "\"release\":\"v1\"", "\"release\":\"\"", "ends at no release"},
      {"ledger", "\"head\":\"c0ffee2\"", "\"head\":\"c0ffee2+changes\"", "steps[1].head: is"},
      {"ledger", "exact tails", "\\u001b[2J", "acceptances[0].reason: holds a control character"},
      {"ledger", "exact tails", "", "acceptances[0].reason: is empty"},
      {"ledger", "gemm/simd@avx2", "'; reboot; '", "acceptances[1].key: holds a quotation mark"},
      {"job", "\"batch\":10", "\"bacth\":10", "has an unknown key \"bacth\"; is it \"batch\""},
      {"job", "\"batch\":10,", "", "j.json: has no \"batch\""},
      {"job", "\"batch_delay\":0.0", "\"batch_delay\":-1", "batch_delay: is -1"},
      {"job", "\"batch_delay\":0.0", "\"batch_delay\":11",
       "batch_delay: is 11, must be a number from 0 to 10"},
      {"job", "\"workers\":0", "\"workers\":-1", "workers: is -1"},
      {"job", "\"samples\":100", "\"samples\":5", "fewer than a batch of 10"},
      {"job", "\"validation_samples\":0", "\"validation_samples\":-1",
       "validation_samples: is -1, must be an integer from 0 to 100"},
      {"job", "\"validation_samples\":0", "\"validation_samples\":101",
       "validation_samples: is 101, must be an integer from 0 to 100"},
      {"job", "\"checkpoint_every\":0", "\"checkpoint_every\":-5",
       "checkpoint_every: is -5, must be an integer from 0 to 100"},
      {"job", "\"checkpoint_every\":0", "\"checkpoint_every\":101", "checkpoint_every: is 101"},
      {"job", "\"checkpoint_every\":0", "\"checkpoint_every\":2.5", "checkpoint_every: is 2.5"},
      {"job", "\"batch\":10,", "\"batch\":10", "j.json: invalid JSON at line 1"},
      {"kineto", "6010", "5500", "ProfilerStep#8 begins before ProfilerStep#7 ends"},
      {"kineto", whole_file,
       R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "ts": 1, "dur": 2}]})",
       "there is no step in its 1 event:"},
      {"kineto", whole_file, R"({"traceEvents": []})", "there is no step in its 0 events"},
      {"kineto", whole_file, R"({"schemaVersion": 1})", "has no list traceEvents"},
      {"kineto", whole_file, R"({"traceEvents": [{"ph": X}]})", "invalid JSON at character"},
      {"kineto", whole_file, R"({"traceEvents": [{"ts": 1e999}]})",
       "ts: is 1e999 at character 25, beyond the largest number"},
      {"table", "20", "1e308", "f: line 2: \"1e308\" is no step_ms"},
      {"google", "1.5,", "1e999,", "benchmarks[0].real_time: is 1e999 at line 2"},
      {"google", "1.5,", "\"soon\",", "benchmarks[0].real_time: is a string, must be a number"},
      {"google", "\"real_time\"", "\"time\"", "benchmarks[0]: has no \"real_time\""},
      {"google", "\"us\"", "\"h\"", "benchmarks[0].time_unit: is h, must be ns, us, ms or s"},
      {"google", "\"threads\": 1", "\"threads\": -1",
       "benchmarks[0].threads: is -1, must be an integer from 1"},
      {"google", "\"name\": \"A\"", "\"name\": 3", "benchmarks[0].name: is a number, must be a string"},
      {"google", "\"num_cpus\": 2", "\"num_cpus\": 0", "context.num_cpus: is 0"},
      {"google", whole_file, R"({"context": {}, "benchmarks": []})", "f: benchmarks: holds no measurement"},
      {"hyperfine", "0.2]", "1e999]", "results[0].times[1]: is 1e999 at line 1"},
      {"hyperfine", "[0, 0]", "[0, 0.5]", "results[0].exit_codes[1]: is 0.5, must be an integer"},
      {"hyperfine", "\"a\"", "3", "nearest to hyperfine, but with no \"results.command\" that is a string"},
      {"hyperfine", whole_file, R"({"results": []})", "f: results: holds no command"},
      {"pytest", "\"iterations\": 7", "\"iterations\": 0", "benchmarks[0].stats.iterations: is 0"},
      {"pytest", "\"count\": 2", "\"count\": -2", "machine_info.cpu.count: is -2"},
      {"pytest", "\"stats\"", "\"status\"", "benchmarks[0]: has no \"stats\""},
      {"pytest", "true", "1", "commit_info.dirty: is a number, must be true or false"},
      {"pytest", whole_file, R"({"machine_info": {}, "benchmarks": []})", "f: benchmarks: holds no test"},
      {"nvbench", "\"0.5\"", "\"fast\"", "value: is \"fast\", must be a time in seconds"},
      {"project", "\"command\"", "\"kernels\"", "assay.json: filter: is of other programs than kernels"},
      {"project", "\"command\"", "\"google-benchmark\"", "assay.json: match: is of the kind \"command\""},
      {"project", "\"command\"", "\"commands\"", "assay.json: kind: is \"commands\""},
      {"project", "\"match\":\"x(.)y\",", "", "assay.json: rate: is of a number"},
      {"project", "\"rate\"", "\"cpu\"", "assay.json: cpu: is of a \"command\" without \"match\""},
      {"project", "\"arguments\":[\"-x\"]", "\"suite\": \"s.json\"", "assay.json: suite: is of kernels"},
      {"nvbench", "\"0.5\"", "0.5", "value: is a number, must be a string"},
      {"nvbench", "\"summaries\"", "\"summary\"", "benchmarks[0].states[0]: has no \"summaries\""},
      {"nvbench", "\"tag\"", "\"tags\"", "summaries[0]: has no \"tag\""},
      {"nvbench", "\"states\"", "\"status\"", "is of no known format: nearest to "},
      {"nvbench", whole_file, R"({"benchmarks": []})", "f: benchmarks: holds no state"},
      {"benchdnn", "2.5", "soon", "f: line 2: the time is \"soon\", must be milliseconds"},
      {"benchdnn", ",2,2.5", "",
       "f: line 2: \"perf,cpu,ref,,2x3:3x4,0.1\" has 6 fields where the template before it has 8"},
      {"benchdnn", "Output template: ", "", "f: line 1: no line \"Output template: …\""},
      {"benchdnn", whole_file, "perf,cpu,ref,,x,1,2,3\n", "f: line 1: no line \"Output template: …\""},
      {"benchdnn", whole_file, "Output template: perf,%engine%\n", "lacks what is read"},
      {"benchdnn", whole_file, "Output template: perf,%prb%,%0time%\n",
       "f: holds no line that begins with \"perf,\""}};
  for (const char* key : {"o/v/p", "o/v/p#2", "o/v/p#", "o/v#1", "x#99999999999999999999", ""}) {
    out.push_back(
        {"results", "\"key\":\"o/v/p#1\"", "\"key\":\"" + std::string(key) + "\"",
         "r.json: trials[0].key: is " + std::string(key) + ", but the fields beside it make o/v/p#1"});
  }
  for (const char* format : {"google", "hyperfine", "pytest", "nvbench", "kineto", "packed"}) {
    const std::string whole = format_named(format).whole;
    out.push_back({format, whole_file, whole.substr(0, whole.size() / 2), "f: ends in the middle"});
  }
  for (const char* format : {"google", "hyperfine", "pytest", "nvbench"}) {
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

class FaultyFiles : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultyFiles, AreRefused) {
  const auto& [name, part, planted, message] = GetParam();
  const Foreign format = format_named(name);
  const Reader reader;
  EXPECT_NO_THROW(format.read(reader, format.whole));
  std::string text = planted;
  if (part != whole_file) {
    const std::size_t at = format.whole.find(part);
    ASSERT_NE(at, std::string::npos) << format.whole;
    text = std::string(format.whole).replace(at, part.size(), planted);
  }
  EXPECT_THAT([&] { format.read(reader, text); },
              ::testing::Throws<Error>(::testing::Property(&Error::what, HasSubstr(message))));
}
INSTANTIATE_TEST_SUITE_P(All, FaultyFiles, ::testing::ValuesIn(faults()));

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
