
#include "app/known_verbs.hpp"
#include "app/schema_faults_test.hpp"
#include "app/step_audit.hpp"
#include "app/verbs.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/programs/revision.hpp"
#include "bench/report/audit_report.hpp"
#include "bench/report/claims.hpp"
#include "bench/report/history.hpp"
#include "bench/tune/threshold.hpp"
#include "core/check/doubling_test.hpp"
#include "training/job/read_job.hpp"
#include "training/report/forecast_report.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::schema_faults;
using ::testing::ThrowsMessage;

const fs::path tree = ASSAY_TREE;

void wrong(const testing::Doubling::Problem&, const testing::Doubling::Input& in,
           testing::Doubling::Output& out) {
  for (Index i = 0; i < in.x.size(); ++i) out.y[i] = 2 * in.x[i] + 1;
}

struct Sample {
  std::string_view format;
  std::string name;
  Json value;
};

/// Every file of the tree that is read, some of them written by earlier versions, and what is written today.
std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto stored = [&](std::string_view format, const fs::path& path) {
    out.push_back({format, path.string(), parse_json(read_file(tree / path), path.string())});
  };
  for (const auto& [format, folder] : {std::pair{"suite", "suites"}, std::pair{"job", "suites/jobs"}}) {
    for (const auto& entry : fs::directory_iterator(tree / folder)) {
      if (entry.path().extension() == ".json" && entry.path().stem() != "claims")
        stored(format, fs::relative(entry.path(), tree));
    }
  }
  const fs::path job_file = "harness/training/job/data/adr_003.json";
  const fs::path folder = "harness/app/data", baseline_file = folder / "amd_epyc_25_17_2c_avx512/stored.json";
  stored("project", "assay.json");
  stored("results", folder / "results.json");
  stored("baseline", baseline_file);
  stored("gate", folder / "gate.json");
  stored("phases", job_file);
  stored("claims", "suites/claims.json");

  const auto written = [&](std::string_view format, const std::string& text) {
    out.push_back({format, fmt::format("written {}", format), parse_json(text, std::string(format))});
  };
  written("bundle", json_text(to_value(BundleFile{.base = {.links = {{"base/p-0", 1}}},
                                                  .head = {.side = {.foreign = true}}})));
  const Results results = results_from_json(read_file(tree / folder / "results.json"), "results.json");
  const auto baseline = load_baseline(tree / baseline_file);
  const Comparison comparison = compare(results, *baseline, {});
  written("results", to_json(results));
  written("baseline", to_json(*baseline));
  written("gate", to_json(two_builds_from_json(read_file(tree / folder / "gate.json"), "gate.json")));
  written("comparison", to_json(comparison));
  written("report", to_json(make_report(results, baseline, comparison, {})));
  written("report", to_json(make_report(results, std::nullopt, std::nullopt, {})));
  written("verdicts",
          to_json(judged_claims(claims_from_json(read_file(tree / "suites/claims.json"), "claims.json"),
                                {.files = {{"results.json", "0", "results"}}, .results = {results}})));
  written("audit", to_json(audited({.results = results,
                                    .before = &results,
                                    .files = {{"results.json", "0", "results"}},
                                    .find_variant = [](const auto&, const auto&) { return nullptr; }})));
  const TracedStep step{.source = "trace.json",
                        .steps = 1,
                        .seconds = 2,
                        .parts = {{.name = "aten::mm", .text = "o/n=1", .per_step = 1, .seconds = 1},
                                  {.share = StepShare::loading, .name = "loading", .seconds = 1}},
                        .notes = {"one"}};
  written("step-audit", doc::to_json(document_of(StepAudit{
                            .step = step, .rows = {{.part = step.parts.front()}}, .risks = {"one"}})));
  written("traced-step", doc::to_json(document_of(step)));
  written("history", to_json(history_of({{"results.json", results}, {"later.json", results}}, {}, {})));
  written("limits", json_text(to_value(TrialLimits{{{"^BM_Parse/", 1.2}}})));
  written("examination", to_json(Examination{.findings = {{.topic = "memory", .text = "is there"}}}));

  const Circumstances made{.date = "2026-01-01T00:00:00Z",
                           .commit = "c0ffee",
                           .command = "assay tune",
                           .machine = {.key = "machine"}};
  ThresholdRecord threshold{
      .question = {.subject = "o/n=1", .vary = "m", .first = {.name = "a"}, .second = {.name = "b"}},
      .made = made,
      .threshold = {.sizes = {{.size = 8, .ratio = {0.5, 1, 2, 0.95}}}}};
  threshold.question.refused = {{.by = "memory", .why = "is not enough", .sizes = {16}}};
  written("tuning", doc::to_json(record_document(threshold)));
  TuneRecord library{.title = "Core type",
                     .variable = "OPENBLAS_CORETYPE",
                     .made = made,
                     .not_here = {"o/v/q#1: needs two cores"},
                     .cases = {"o/v/p#1"},
                     .ruling = {.candidates = {{.name = "default", .in_use = "Zen"},
                                               {.name = "Haswell",
                                                .in_use = "Haswell",
                                                .turns = {{.seconds = {{1}}, .control = {{1}}}},
                                                .cases = {{1, 1, 1}}}},
                                .advice = Advice::take,
                                .chosen = 1}};
  written("tuning", record_json(library));
  TunedKernels tuned{"machine", "0.1.0", "32K/512K/32M", "2026-01-01T00:00:00Z", "assay tune kernels"};
  written("kernels", json_text(to_value(tuned)));
  const Job job = read_phases_json(read_file(tree / job_file), job_file.string());
  written("forecast", to_json(forecast(job, &job), "2026-01-01T00:00:00Z"));
  written("forecast",
          to_json(forecast({.name = "j", .windows = {{.steps = 2, .wall_seconds = 1}}}), "today"));
  const auto told = [&](std::string_view format, const std::function<Outcome()>& verb) {
    ::testing::internal::CaptureStdout();
    verb();
    written(format, ::testing::internal::GetCapturedStdout());
  };
  Registry registry = testing::doubling_registry();
  registry.add<testing::Doubling>({.name = "twice", .summary = "as wrong as it is fast", .run = wrong});
  registry.add<testing::Doubling>(
      {.name = "known", .summary = "the same", .known_bad = "a book: it adds one", .run = wrong});
  registry.add<testing::Doubling>(
      {.name = "replays", .summary = "the same", .known_cheat = "an issue: it adds one", .run = wrong});
  registry.add<testing::Doubling>(
      {.name = "odd", .summary = "right", .known_honest = "it looks odd", .run = testing::doubled});
  told("list", [&] { return list_verb({.json = "-"}, registry); });
  told("list", [&] { return list_verb({.known = true, .json = "-"}, registry); });
  told("check", [&] { return check_verb({.json = "-"}, registry); });
  told("known-bad", [&] { return known_bad_verb({.check = {.json = "-"}, .known_bad = true}, registry); });
  const CheatSampling sampling{
      .run =
          [](const LaunchRequest& request, const Hooks&) {
            std::vector<TrialSample> samples;
            for (const TrialRequest& trial : request.trials) samples.push_back({.key = trial.key});
            samples.back().audit.fault = "it adds one";
            return samples;
          },
      .sides =
          [](const PairRequest& request, const Hooks&) {
            std::vector<std::vector<TurnSample>> sides(request.sides.size(), std::vector<TurnSample>(2));
            sides.front().front() = {.agrees = false, .disagreement = "naive is blamed"};
            return sides;
          }};
  told("known-cheats", [&] { return try_known_cheats({.check = {.json = "-"}}, registry, sampling); });
  return out;
}

TEST(Schemas, AreObjectsWithASchemaOfTheirOwn) {
  for (const FileFormat& format : file_formats()) {
    const Json schema = schema_named(format.name);
    EXPECT_EQ(parse_json(json_text(schema), "schema"), schema);
    EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(schema.at("type"), "object");
    EXPECT_TRUE(schema.at("properties").contains("schema")) << format.name;
    EXPECT_THAT(schema.at("required").items(), Contains(Json("schema"))) << format.name;
  }
}

TEST(Schemas, OfAnUnknownNameAreRefusedWithThoseThereAre) {
  EXPECT_THAT([] { schema_named("sweet"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("sweet: is no format"), HasSubstr("\n  suite  "))));
}

TEST(Schemas, AllowWhatIsStoredAndWritten) {
  const auto all = samples();
  EXPECT_GT(all.size(), 20U);
  for (const auto& [format, name, value] : all) {
    EXPECT_THAT(schema_faults(schema_named(format), value), IsEmpty()) << name;
  }
}

TEST(Schemas, RefuseEveryFaultPlantedInIt) {
  for (const auto& [format, name, value] : samples()) {
    const Json schema = schema_named(format);
    for (const Json& key : schema.at("required").items()) {
      Json lacks = value;
      lacks.erase(key.text());
      EXPECT_THAT(schema_faults(schema, lacks), ElementsAre(": lacks " + key.text())) << name;
    }
    Json more = value;
    more["nmae"] = 1;
    EXPECT_THAT(schema_faults(schema, more), ElementsAre(": unknown key nmae")) << name;
    for (const auto& [key, right] : value.members()) {
      Json other = value;
      other[key] = right.is_boolean() ? Json(3) : Json(true);
      EXPECT_THAT(schema_faults(schema, other), Contains(HasSubstr("." + key + ": is "))) << name;
    }
  }
}

}  // namespace
}  // namespace assay
