#include "app/verbs.hpp"

#include "assay/error.hpp"
#include "core/machine/build_info.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

struct Parsed {
  std::optional<Call> call;
  std::string output, errors;
};

Parsed parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "assay");
  try {
    CommandLine line = parse_command_line(static_cast<int>(arguments.size()), arguments.data());
    return {std::move(line.call), std::move(line.output), ""};
  } catch (const Error& failure) {
    return {std::nullopt, "", failure.what()};
  }
}

TEST(CommandLine, RefusesEveryMistake) {
  for (const auto& bad : std::vector<std::vector<const char*>>{
           {},
           {"dance"},
           {"run"},
           {"run", "--suite"},
           {"run", "--suite", "s.json", "--benchmark_nonsense"},
           {"run", "--suite", "s.json", "-k", "a", "--benchmark_filter=b"},
           {"run", "--suite", "s.json", "--launches", "0"},
           {"run", "--suite", "s.json", "--threads", "0"},
           {"check", "--frobnicate"},
           {"check", "--known-bad", "--suite", "s.json"},
           {"check", "--known-bad", "--trace", "t.csv"},
           {"check", "--suite", "s.json", "--trace", "t.csv"},
           {"check", "--benchmark_filter=x"},
           {"record", "--suite", "s.json"},
           {"record", "--suite", "s.json", "--accept", "k"},
           {"record", "--suite", "s.json", "--accept", "k", "--reason", "x"},
           {"record", "--suite", "s.json", "--accept", "k", "--until", "d"},
           {"record", "--suite", "s.json", "--reason", "x", "--until", "d"},
           {"record", "--suite", "s.json", "--reason", "x", "--ratio", "2"},
           {"record", "--suite", "s.json", "--release", "v1", "--withdraw", "k"},
           {"record", "--suite", "s.json", "--release", "v1", "--reason", "x"},
           {"gate", "--suite", "s.json", "--record-step", "-k", "gemm"},
           {"gate", "--suite", "s.json", "--drift-limit", "0.9"},
           {"gate", "--suite", "s.json", "--md", "c.md"},
           {"gate", "--suite", "s.json", "--budget", "9"},
           {"gate", "--suite", "s.json", "--base", "b", "--launches", "3"},
           {"gate", "--suite", "s.json", "--base", "b", "--reports", "r"},
           {"gate", "--suite", "s.json", "--limit", "0.5"},
           {"gate", "--suite", "s.json", "--base", ""},
           {"gate", "--suite", "s.json", "--base", "b", "--head", ""},
           {"gate", "--suite", "s.json", "--on-undecided", "cry"},
           {"gate", "--suite", "s.json", "--shard", "gitlab"},
           {"gate", "--suite", "s.json", "--exit-code", "git"},
           {"run", "--suite", "s.json", "--shard-count", "two"},
           {"run", "--suite", "s.json", "--shard-index", "1.5"},
           {"check", "--shard-count", "2", "--shard-index", "0"},
           {"check", "--known-bad", "--shard=auto"},
           {"record", "--suite", "s.json", "--reason", "r", "--shard=auto"},
           {"merge", "a.json"},
           {"merge", "-o", "all.json"},
           {"tune"},
           {"tune", "dance"},
           {"tune", "threshold", "gemm", "--vary", "k", "--from", "1", "--to", "9"},
           {"tune", "threshold", "gemm", "--vary", "k", "--from", "0", "--to", "9", "--between", "a,b"},
           {"tune", "threshold", "gemm", "--vary", "k", "--from", "1", "--to", "9", "--between", "a,b",
            "--header", "k.hpp"},
           {"tune", "threshold", "gemm", "--vary", "k", "--from", "1", "--to", "9", "--between", "a,b",
            "--rounds", "5"},
           {"tune", "command", "--vary", "w=1,2", "--shard-count", "2", "--shard-index", "0",
            "--shard-durations=f", "--", "x"},
           {"tune", "library"},
           {"tune", "library", "--suite", "s.json", "--rounds", "5"},
           {"selftest", "--again", "kept.jsonl", "--runs", "3"},
           {"selftest", "--again", "kept.jsonl", "--suite", "s.json"},
           {"selftest", "--again", "kept.jsonl", "-o", "kept.jsonl"},
           {"wrap"},
           {"wrap", "ls"},
           {"wrap", "--"},
           {"wrap", "--rate", "--", "ls"},
           {"wrap", "--cpu", "--match", "(x)", "--", "ls"},
           {"wrap", "--base", "ls", "--", "ls"},
           {"wrap", "--base", "ls", "--head", "ls", "--", "ls"},
           {"compare", "one.json"}}) {
    const Parsed line = parsed(bad);
    EXPECT_FALSE(line.call.has_value()) << (bad.empty() ? "nothing" : bad.back());
    EXPECT_FALSE(line.errors.empty()) << (bad.empty() ? "nothing" : bad.back());
  }
}

// A gate would never end, or find nothing too slow: nan is neither below nor above any limit.
TEST(CommandLine, TakesFiniteNumbersOnly) {
  for (const char* number : {"nan", "-nan", "inf", "-inf", "1e400"}) {
    for (const auto& [verb, option] :
         std::vector<std::pair<const char*, const char*>>{{"gate", "--limit"},
                                                          {"gate", "--drift-limit"},
                                                          {"selftest", "--budget"},
                                                          {"selftest", "--plant"}}) {
      EXPECT_THAT(parsed({verb, "--suite", "s.json", option, number}).errors, HasSubstr(option)) << number;
    }
  }
}

TEST(CommandLine, NamesAnOptionWhoseVariableWasNotSet) {
  EXPECT_THAT(parsed({"gate", "--suite", "s.json", "--base", ""}).errors,
              AllOf(HasSubstr("--base"), HasSubstr("is a variable unset?")));
  EXPECT_THAT(parsed({"gate", "--suite", "s.json", "--base=b", "--head="}).errors, HasSubstr("--head"));
}

TEST(CommandLine, SaysWhichOptionIsGivenTwice) {
  EXPECT_THAT(parsed({"gate", "--suite", "s.json", "--base=b", "--base=c"}).errors,
              HasSubstr("--base: is given 2 times (b, c), and takes one value"));
  EXPECT_THAT(parsed({"run", "smoke", "--suite", "full"}).errors,
              AllOf(HasSubstr("--suite: is given 2 times ("), HasSubstr("smoke"), HasSubstr("full")));
  EXPECT_THAT(parsed({"run", "--threads", "1,2", "-q", "-q"}).errors, HasSubstr("--suite is required"));
}

TEST(CommandLine, TreatsHelpAsSuccess) {
  EXPECT_THAT(parsed({"--help"}).output, HasSubstr("gate"));
  EXPECT_EQ(parsed({"run", "--help"}).errors, "");
}

/// Programs read the lines. The commit ends with "+changes" where the tree had some.
TEST(CommandLine, SaysVersionCommitAndCompiler) {
  const BuildInfo& build = build_info();
  EXPECT_EQ(parsed({"--version"}).output,
            fmt::format("assay {}\ncommit {}\ncompiler {}\n", build.version, build.commit, build.compiler));
  EXPECT_THAT(
      parsed({"--version"}).output,
      MatchesRegex("assay [0-9.]+\ncommit (unknown|[0-9a-f]{12}([+]changes)?)\ncompiler [A-Za-z]+ .+\n"));
}

/// Options of a verb, from arguments behind it and no variables.
template <class T>
T read(std::vector<std::string> arguments) {
  T out;
  OptionList options = listed(&out);
  EXPECT_THAT(read_options("assay", options, std::move(arguments), [](const char*) { return nullptr; }),
              IsEmpty());
  return out;
}

TEST(CommandLine, ShowsAllRowsOfAVerb) {
  EXPECT_THAT(
      parsed({"gate", "--help"}).output,
      AllOf(HasSubstr("assay gate --base --suite"), HasSubstr("--record-missing"), HasSubstr("--layouts")));
  EXPECT_THAT(parsed({"tune", "--help"}).output, AllOf(HasSubstr("tune loader"), HasSubstr("tune library")));
  EXPECT_THAT(parsed({"--help"}).output, Not(HasSubstr("describe")));
}

TEST(CommandLine, RefusesAnOptionThatDoesNothingForTheRowThatIsMeant) {
  EXPECT_THAT(
      parsed({"gate", "--suite", "s.json", "--md", "c.md"}).errors,
      AllOf(HasSubstr("--md: does nothing for `assay gate`"), HasSubstr("`assay gate --base --suite`")));
  EXPECT_THAT(parsed({"gate", "--suite=s.json", "--base=b", "--reports=r"}).errors,
              HasSubstr("--reports: does nothing for `assay gate --base --suite`"));
  EXPECT_THAT(parsed({"check", "--threads", "2"}).errors,
              AllOf(HasSubstr("does nothing for `assay check`"), HasSubstr("`assay check --suite`")));
}

TEST(CommandLine, NamesTheNearestOption) {
  EXPECT_THAT(
      parsed({"run", "-s", "s.json", "--lanches=3"}).errors,
      AllOf(HasSubstr("--lanches: is no option of `assay run`"), HasSubstr("did you mean --launches?")));
  EXPECT_THAT(parsed({"doctor", "now"}).errors, HasSubstr("\"now\" was not expected"));
}

TEST(CommandLine, ChoosesTheRowByWhatIsGiven) {
  const auto runs = [](std::vector<const char*> arguments) {
    const Parsed line = parsed(std::move(arguments));
    EXPECT_EQ(line.errors, "");
    return line.call.has_value();
  };
  EXPECT_TRUE(runs({"gate", "--suite", "s.json", "--baselines", "a", "--baselines", "b", "--limit", "1.1"}));
  EXPECT_TRUE(
      runs({"gate", "--base", "b", "-ss.json", "--budget", "9", "--shard=auto", "--exit-code=bisect"}));
  EXPECT_TRUE(runs({"gate", "--base", "b", "--head", "h"}));
  EXPECT_TRUE(runs({"gate", "--base", "b", "--head", "h", "--benchmark_filter=conv", "--time-limit", "9"}));
  EXPECT_TRUE(runs({"wrap", "--base", "b", "--head", "h", "--match", "(x)", "--unit", "ms", "--rate"}));
  EXPECT_TRUE(runs({"record", "--suite", "s.json", "--withdraw", ""}));
  EXPECT_TRUE(runs({"selftest", "--again", "a", "b", "--md", "m"}));
  EXPECT_TRUE(runs({"report", "r.json", "--html", "page.html", "--svg", "pictures"}));
  EXPECT_TRUE(runs({"compare", "a.json", "b.json", "--html", "page.html"}));
  EXPECT_TRUE(runs({"reanalyze", "g.json", "--html", "page.html"}));
}

TEST(CommandLine, RecordsNoStepOfWhatATestRunnerSelects) {
  ::setenv("TESTBRIDGE_TEST_ONLY", "gemm", 1);
  EXPECT_THAT(parsed({"gate", "--suite", "s.json", "--record-step"}).errors,
              HasSubstr("TESTBRIDGE_TEST_ONLY: gives --filter, which cannot be beside --record-step"));
  EXPECT_EQ(parsed({"gate", "--suite", "s.json"}).errors, "");
  ::unsetenv("TESTBRIDGE_TEST_ONLY");
}

TEST(Options, ReadEveryKindOfValue) {
  const auto gate =
      read<GateOptions>({"--suite", "s.json", "--baselines", "a", "--baselines=b", "--limit", "1.1",
                         "--on-undecided", "fail", "-k", "gemm", "--threads", "1,2", "--shard-count", "4",
                         "--shard-index=3", "--shard=auto", "--exit-code=bisect"});
  EXPECT_THAT(gate.outcome.rules.baselines, ElementsAre("a", "b"));
  EXPECT_THAT(gate.selection.threads, ElementsAre(1, 2));
  EXPECT_EQ(gate.selection.filter, "gemm");
  EXPECT_TRUE(gate.outcome.rules.failing.undecided_fails);
  EXPECT_TRUE(gate.outcome.rules.failing.bisection);
  EXPECT_EQ(gate.limit, 1.1);
  EXPECT_EQ(gate.shard.count, 4);
  EXPECT_EQ(gate.shard.index, 3);
  EXPECT_TRUE(gate.shard.detect);

  EXPECT_EQ(read<RunOptions>({"gemm/m=1,n=2,k=3", "--launches", "2", "gemv/m=1,n=2"}).selection.suite,
            "gemm/m=1,n=2,k=3 gemv/m=1,n=2");
  EXPECT_EQ(read<CheckOptions>({"gemm/m=1,n=2,k=3", "gemv/m=1,n=2"}).filter, "gemm/m=1,n=2,k=3 gemv/m=1,n=2");
  const auto of_suite = read<CheckSuiteOptions>({"--suite", "s.json", "gemm"});
  EXPECT_EQ(of_suite.suite, "s.json");
  EXPECT_EQ(of_suite.check.filter, "gemm");
  const auto predict = read<PredictOptions>({"a.json", "b.json", "--workers", "0", "--drop-last"});
  EXPECT_THAT(predict.files, ElementsAre("a.json", "b.json"));
  EXPECT_EQ(predict.facts.workers, 0);
  EXPECT_FALSE(predict.facts.prefetch.has_value());
  EXPECT_TRUE(predict.facts.drop_last);

  const auto library = read<LibraryOptions>({"-s", "s.json", "--core-types", "Haswell,SkylakeX"});
  EXPECT_THAT(library.tune.values, ElementsAre("Haswell", "SkylakeX"));
}

TEST(Options, LeaveWhatStandsBehindDashesToTheCommand) {
  const auto wrap = read<CommandOptions>({"--launches", "8", "--", "./x", "--launches=3", "a,b", "--", "-h"});
  EXPECT_EQ(wrap.launches, 8);
  EXPECT_THAT(wrap.command, ElementsAre("./x", "--launches=3", "a,b", "--", "-h"));
  EXPECT_EQ(command_of("wrap", wrap), "assay wrap --launches 8 -- ./x --launches=3 a,b -- -h");
  EXPECT_TRUE(parsed({"wrap", "--", "ls", "--base", "b", "--head", "h", "--help"}).call.has_value());
  EXPECT_THAT(parsed({"wrap", "--help"}).output, HasSubstr("assay wrap --base --head"));
}

TEST(Options, KeepTheirDefaults) {
  const auto loader = read<TuneLoaderOptions>({"--job", "j.json"});
  EXPECT_THAT(loader.tune.grid.workers, ElementsAre(0, 1, 2));
  EXPECT_THAT(read<RecordOptions>({"-s", "s", "--reason", "r"}).baselines, ElementsAre("baselines"));
}

TEST(Options, AreReadFromTheirVariablesUnlessGiven) {
  const auto filter = [](std::vector<std::string> arguments) {
    RunOptions out;
    OptionList options = listed(&out);
    read_options("assay run", options, std::move(arguments), [](const char* name) {
      return std::string_view(name) == "BENCHMARK_FILTER" ? "from_variable" : nullptr;
    });
    return out.selection.filter;
  };
  EXPECT_EQ(filter({"-s", "s"}), "from_variable");
  EXPECT_EQ(filter({"-s", "s", "--benchmark_filter=from_argument"}), "from_argument");
  EXPECT_EQ(filter({"-s", "s", "-k", "from_argument"}), "from_argument");
}

TEST(Options, OfGoogleBenchmarkAreReadInItsSpelling) {
  const auto run = read<RunOptions>({"--suite", "s.json", "--benchmark_list_tests", "--benchmark_color=auto",
                                     "--benchmark_format=csv", "--benchmark_min_time=100x"});
  EXPECT_TRUE(run.benchmark.list_tests);
  EXPECT_EQ(run.benchmark.format, BenchmarkFormat::csv);
  EXPECT_EQ(run.benchmark.min_time, "100x");
  EXPECT_FALSE(read<RunOptions>({"-s", "s", "--benchmark_list_tests=false"}).benchmark.list_tests);
  for (const char* bad :
       {"--benchmark_perf_counters=CYCLES", "--benchmark_filters=x", "--benchmark_repetitions=0",
        "--benchmark_repetitions=2.5", "--benchmark_format=xml", "--benchmark_format="}) {
    EXPECT_NE(parsed({"run", "-s", "s.json", bad}).errors, "") << bad;
  }
}

TEST(RepeatingCommand, HasOptionsThatAreNotAsUsualInOrderAndQuoted) {
  EXPECT_EQ(command_of("run", RunOptions{}), "assay run");
  RunOptions run{.selection = {.suite = "my suite.json", .filter = "a|b", .threads = {1, 2}, .seed = 7}};
  run.output = "r.json";
  run.benchmark.repetitions = 4;
  EXPECT_EQ(command_of("run", run),
            "assay run --suite 'my suite.json' -k 'a|b' --threads 1,2 --seed 7 --benchmark_repetitions 4");
  run.selection.filter = "-gemm";
  EXPECT_THAT(command_of("run", run), HasSubstr(" -k-gemm "));
  BuildsOptions builds{.programs = {.base = "main"}, .layouts = 4, .identical_too = true};
  builds.programs.outcome.rules.baselines = {"a", "b c"};
  EXPECT_EQ(command_of("gate", builds),
            "assay gate --base main --layouts 4 --identical --baselines a --baselines 'b c'");
}

/// The options that a command text gives, as a shell would split it.
TEST(RepeatingCommand, IsReadAsTheOptionsItWasPrintedFrom) {
  const LibraryOptions given{
      .tune = {.selection = {.suite = "s.json", .filter = "-gemm", .threads = {1, 2}, .seed = 9},
               .values = {"Haswell", "Zen"},
               .rounds = 12}};
  const std::string text = command_of("tune library", given);
  std::vector<std::string> words;
  std::istringstream in(text.substr(std::string_view("assay tune library").size()));
  for (std::string word; in >> word;) words.push_back(word);
  EXPECT_EQ(command_of("tune library", read<LibraryOptions>(words)), text);
  EXPECT_EQ(read<LibraryOptions>(words).tune.selection.filter, "-gemm");
}

// Commands of this form stand in results and reports.
TEST(CommandLine, UnderstandsCommandsThatOlderProgramsPrinted) {
  for (const auto& old : std::vector<std::vector<const char*>>{
           {"run", "--suite", "suites/smoke.json", "--launches", "6", "--seed", "42", "-k", "gemm",
            "--threads", "1,2", "--benchmark_min_time=100x", "--shard-count", "4", "--shard-index", "0"},
           {"gate", "--suite", "s.json", "--launches", "6", "--seed", "42", "--limit", "1.05", "--baselines",
            "b"},
           {"gate",      "--base", "b",       "--head", "h",           "--suite",   "s.json",
            "--threads", "1,2",    "--limit", "1.02",   "--identical", "--layouts", "8",
            "--budget",  "300",    "--seed",  "42",     "-k",          "^a$"},
           {"selftest", "--suite", "s.json", "--runs", "100", "--planted-runs", "0", "--budget", "20",
            "--seed", "42", "--plant", "0.02,0.03", "-k", "x", "--busy"},
           {"tune", "library", "--suite", "s.json", "--core-types", "Haswell,Zen", "--rounds", "10", "--seed",
            "42"},
           {"check", "--suite", "s.json", "-k", "gemm/packed", "--seed", "42"}}) {
    const Parsed line = parsed(old);
    EXPECT_TRUE(line.call.has_value()) << line.errors;
  }
}

}  // namespace
}  // namespace assay
