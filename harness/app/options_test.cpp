#include "app/options.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const char* no_variables(const char*) { return nullptr; }

BenchmarkFlags flags(std::vector<std::string> arguments) {
  return take_benchmark_flags(arguments, no_variables);
}

TEST(BenchmarkFlags, AreTakenOutOfTheArguments) {
  std::vector<std::string> arguments{"run", "--benchmark_filter=gemm", "--suite", "s.json",
                                     "--benchmark_list_tests"};
  const BenchmarkFlags found = take_benchmark_flags(arguments, no_variables);
  EXPECT_EQ(found.filter, "gemm");
  EXPECT_TRUE(found.list_tests);
  EXPECT_THAT(arguments, ElementsAre("run", "--suite", "s.json"));
}

TEST(BenchmarkFlags, AcceptAllThreeSpellingsOfMinTime) {
  EXPECT_EQ(flags({"--benchmark_min_time=0.1"}).min_time, 0.1);
  EXPECT_EQ(flags({"--benchmark_min_time=0.1s"}).min_time, 0.1);
  EXPECT_EQ(flags({"--benchmark_min_time=100x"}).calls_per_slice, 100);
}

TEST(BenchmarkFlags, RefuseWhatTheyCannotHonour) {
  for (const char* bad :
       {"--benchmark_perf_counters=CYCLES", "--benchmark_filters=x", "--benchmark_min_time=soon",
        "--benchmark_min_time=-1", "--benchmark_min_time=inf", "--benchmark_min_time=nan",
        "--benchmark_min_time=1e999s", "--benchmark_repetitions=0", "--benchmark_repetitions=2.5",
        "--benchmark_format=xml", "--benchmark_list_tests=perhaps",
        "--benchmark_enable_random_interleaving=false"}) {
    EXPECT_THROW(flags({bad}), Error) << bad;
  }
  EXPECT_THAT([] { flags({"--benchmark_nonsense"}); },
              ThrowsMessage<Error>(HasSubstr("--benchmark_nonsense: is not a flag that assay honours")));
}

TEST(BenchmarkFlags, ComeFromVariablesUnlessAnArgumentWins) {
  const auto variables = [](const char* name) -> const char* {
    return std::string_view(name) == "BENCHMARK_FILTER" ? "from_variable" : nullptr;
  };
  std::vector<std::string> none;
  EXPECT_EQ(take_benchmark_flags(none, variables).filter, "from_variable");
  std::vector<std::string> given{"--benchmark_filter=from_argument"};
  EXPECT_EQ(take_benchmark_flags(given, variables).filter, "from_argument");
}

CommandLine parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "assay");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CommandLine, MapsEveryMistakeToExitCodeTwo) {
  for (const auto& bad : std::vector<std::vector<const char*>>{
           {},
           {"dance"},
           {"run"},
           {"run", "--suite"},
           {"run", "--suite", "s.json", "--benchmark_nonsense"},
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
           {"tune", "library"},
           {"tune", "library", "--suite", "s.json", "--rounds", "5"},
           {"selftest", "--again", "kept.jsonl", "--runs", "3"},
           {"selftest", "--again", "kept.jsonl", "--suite", "s.json"},
           {"selftest", "--again", "kept.jsonl", "-o", "kept.jsonl"},
           {"compare", "one.json"}}) {
    const CommandLine line = parsed(bad);
    EXPECT_FALSE(line.options.has_value()) << (bad.empty() ? "nothing" : bad.back());
    EXPECT_EQ(line.exit_code, 2) << (bad.empty() ? "nothing" : bad.back());
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
      const CommandLine line = parsed({verb, "--suite", "s.json", option, number});
      EXPECT_EQ(line.exit_code, 2) << option << ' ' << number;
      EXPECT_THAT(line.errors, HasSubstr(option)) << number;
    }
  }
}

TEST(CommandLine, NamesAnOptionWhoseVariableWasNotSet) {
  EXPECT_THAT(parsed({"gate", "--suite", "s.json", "--base", ""}).errors,
              AllOf(HasSubstr("--base"), HasSubstr("is a variable unset?")));
  EXPECT_THAT(parsed({"gate", "--suite", "s.json", "--base=b", "--head="}).errors, HasSubstr("--head"));
}

TEST(CommandLine, ReadsShardsAndWhatCIEnginesWant) {
  const CommandLine line = parsed({"gate", "--suite", "s.json", "--shard-count", "4", "--shard-index", "3",
                                   "--shard=auto", "--exit-code=bisect", "--junit", "j.xml"});
  ASSERT_TRUE(line.options.has_value()) << line.errors;
  EXPECT_EQ(line.options->shard.count, 4);
  EXPECT_EQ(line.options->shard.index, 3);
  EXPECT_TRUE(line.options->shard.detect);
  EXPECT_EQ(line.options->exit_codes, ExitCodes::bisect);
  EXPECT_EQ(line.options->junit, "j.xml");
  const CommandLine plain = parsed({"check"});
  ASSERT_TRUE(plain.options.has_value()) << plain.errors;
  EXPECT_FALSE(plain.options->shard.count.has_value());
  EXPECT_FALSE(plain.options->shard.detect);
}

TEST(CommandLine, ReadsTheFilesOfAMerge) {
  const CommandLine line = parsed({"merge", "a.json", "b.json", "-o", "all.json"});
  ASSERT_TRUE(line.options.has_value()) << line.errors;
  EXPECT_THAT(line.options->shards, ElementsAre("a.json", "b.json"));
  EXPECT_EQ(line.options->output, "all.json");
}

TEST(CommandLine, TreatsHelpAndVersionAsSuccess) {
  EXPECT_EQ(parsed({"--help"}).exit_code, 0);
  EXPECT_THAT(parsed({"--help"}).output, HasSubstr("gate"));
  EXPECT_EQ(parsed({"run", "--help"}).exit_code, 0);
  EXPECT_THAT(parsed({"--version"}).output, HasSubstr("assay "));
}

TEST(CommandLine, ReadsAGate) {
  const CommandLine line =
      parsed({"gate", "--suite", "s.json", "--baselines", "a", "--baselines", "b", "--limit", "1.1",
              "--on-undecided", "fail", "-k", "gemm", "--threads", "1,2"});
  ASSERT_TRUE(line.options.has_value()) << line.errors;
  EXPECT_EQ(line.options->verb, Verb::gate);
  EXPECT_THAT(line.options->baselines, ElementsAre("a", "b"));
  EXPECT_THAT(line.options->threads, ElementsAre(1, 2));
  EXPECT_TRUE(line.options->undecided_fails);
  EXPECT_EQ(line.options->limit, 1.1);
}

TEST(CommandLine, RecordsNoStepOfWhatATestRunnerSelects) {
  ::setenv("TESTBRIDGE_TEST_ONLY", "gemm", 1);
  const CommandLine line = parsed({"gate", "--suite", "s.json", "--record-step"});
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.errors, HasSubstr("TESTBRIDGE_TEST_ONLY: selects trials"));
  EXPECT_TRUE(parsed({"gate", "--suite", "s.json"}).options.has_value());
  ::unsetenv("TESTBRIDGE_TEST_ONLY");
}

TEST(CommandLine, ReadsWhatAMeasuredJobDoesNotSay) {
  const CommandLine line =
      parsed({"predict", "a.json", "b.json", "--train-size", "50000", "--batch", "32", "--workers", "0",
              "--against", "c.json", "--unit", "ms", "--md", "d.md", "--drop-last"});
  ASSERT_TRUE(line.options.has_value()) << line.errors;
  EXPECT_EQ(line.options->verb, Verb::predict);
  const PredictOptions& predict = line.options->predict;
  EXPECT_THAT(predict.files, ElementsAre("a.json", "b.json"));
  EXPECT_EQ(predict.train, 50000);
  EXPECT_EQ(predict.batch, 32);
  EXPECT_EQ(predict.workers, 0);
  EXPECT_FALSE(predict.prefetch.has_value());
  EXPECT_EQ(predict.against, "c.json");
  EXPECT_TRUE(predict.drop_last);
  EXPECT_FALSE(parsed({"predict"}).options.has_value());
  EXPECT_FALSE(parsed({"predict", "a.json", "--batch", "0"}).options.has_value());
}

TEST(CommandLine, ReadsTheQuestionForAThreshold) {
  const CommandLine line = parsed({"tune", "threshold", "layernorm/cols=768", "--vary", "rows", "--from", "1",
                                   "--to", "4096", "--between", "threaded,threaded", "--threads", "1,2",
                                   "--header", "rows.hpp", "--constant", "threads_from_rows", "--seed", "7"});
  ASSERT_TRUE(line.options.has_value()) << line.errors;
  EXPECT_EQ(line.options->verb, Verb::tune_threshold);
  const ThresholdOptions& tune = line.options->tune_threshold;
  EXPECT_EQ(tune.request.subject, "layernorm/cols=768");
  EXPECT_EQ(tune.request.vary, "rows");
  EXPECT_EQ(tune.request.from, 1);
  EXPECT_EQ(tune.request.to, 4096);
  EXPECT_EQ(tune.request.between, "threaded,threaded");
  EXPECT_THAT(tune.request.threads, ElementsAre(1, 2));
  EXPECT_EQ(tune.header, "rows.hpp");
  EXPECT_EQ(tune.constant, "threads_from_rows");
  EXPECT_EQ(line.options->seed, 7U);
}

TEST(CommandLine, ReadsTheSearchForACoreType) {
  const CommandLine line =
      parsed({"tune", "library", "--suite", "s.json", "-k", "gemm", "--core-types", "Haswell,SkylakeX",
              "--threads", "1", "--rounds", "6", "-o", "chosen.json"});
  ASSERT_TRUE(line.options.has_value()) << line.errors;
  EXPECT_EQ(line.options->verb, Verb::tune_library);
  EXPECT_THAT(line.options->tune_library.core_types, ElementsAre("Haswell", "SkylakeX"));
  EXPECT_EQ(line.options->tune_library.rounds, 6);
  EXPECT_EQ(line.options->filter, "gemm");
  EXPECT_EQ(line.options->output, "chosen.json");
}

TEST(CommandLine, ReadsChangesOfTheLedger) {
  const auto ledger = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"record", "--suite", "s.json"});
    const CommandLine line = parsed(std::move(arguments));
    EXPECT_TRUE(line.options.has_value()) << line.errors;
    return line.options.value_or(Options{});
  };
  EXPECT_FALSE(ledger({"--reason", "x"}).ledger.is_given());
  const Options accepted =
      ledger({"--accept", "gemm/packed/m=1#1", "--reason", "x", "--until", "2026-10-01", "--ratio", "1.1"});
  EXPECT_EQ(accepted.ledger.accept, "gemm/packed/m=1#1");
  EXPECT_EQ(accepted.ledger.until, "2026-10-01");
  EXPECT_EQ(accepted.ledger.ratio, 1.1);
  EXPECT_EQ(ledger({"--withdraw", "k"}).ledger.withdraw, "k");
  EXPECT_EQ(ledger({"--release", "v1.2"}).ledger.release, "v1.2");
  EXPECT_TRUE(ledger({"--withdraw", ""}).ledger.is_given()) << "or it would measure";
}

}  // namespace
}  // namespace assay
