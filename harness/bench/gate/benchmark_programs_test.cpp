// Reads answers of programs of Google Benchmark, and starts none.
#include "bench/gate/benchmark_programs.hpp"

#include <gmock/gmock.h>

#include <regex>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BenchmarkNames, AreWhatAListingHasBesidesWhatIsAlwaysSaid) {
  EXPECT_THAT(
      names_in("hello\nBM_a\nhello\nBM_b/8\n\n", "hello\nFailed to match any benchmarks against regex: ^$\n"),
      ElementsAre("BM_a", "hello", "BM_b/8"));
  EXPECT_THAT(names_in("", "hello\n"), IsEmpty());
  EXPECT_THAT(
      names_in("pid 1234, 0x7ffe12ab at 12:34:56\nBM_a/8\nBM_a/16\n", "pid 1240, 0x7fff0003 at 12:34:57\n"),
      ElementsAre("BM_a/8", "BM_a/16"));
}

TEST(BenchmarkSettings, AreReadFromTheName) {
  const BenchmarkSettings plain = settings_of("BM_copy/8/real");
  EXPECT_EQ(plain.clock, BenchmarkClock::processor);
  EXPECT_TRUE(plain.shares_core());
  const BenchmarkSettings all =
      settings_of("BM/8/min_time:2.500/iterations:3/repeats:10/process_time/real_time/threads:4");
  EXPECT_EQ(all.clock, BenchmarkClock::real);
  EXPECT_EQ(all.threads, 4);
  EXPECT_EQ(all.min_seconds, 2.5);
  EXPECT_EQ(all.iterations, 3);
  EXPECT_EQ(all.repetitions, 10);
  EXPECT_EQ(settings_of("BM/manual_time").clock, BenchmarkClock::manual);
  EXPECT_EQ(settings_of("BM/threads:2").clock, BenchmarkClock::real) << "threads wait for each other";
  EXPECT_EQ(settings_of("BM/threads:1").clock, BenchmarkClock::processor);
  EXPECT_FALSE(settings_of("BM/process_time").shares_core());
  EXPECT_EQ(settings_of("BM/threads:many").threads, 1) << "a part of a name may look like a setting";
}

TEST(BenchmarkFilter, SelectsNamesAsTheyAre) {
  const std::vector<std::string> names{"odd [1]{2}|(3).*+?^$\\ \"x\"", "BM_a/8"};
  const std::regex filter(filter_of(names), std::regex::extended);
  for (const std::string& name : names) EXPECT_TRUE(std::regex_search(name, filter)) << name;
  for (const char* other : {"BM_a/80", "xBM_a/8", "BM_a", "odd 1"}) {
    EXPECT_FALSE(std::regex_search(other, filter)) << other;
  }
}

TEST(BenchmarkTiming, SaysWhichClockIsTaken) {
  EXPECT_EQ(timing_of(matched({"a", "b"}, {"a", "b"})), "processor time of 2, all sides at once on one core");
  const std::vector<std::string> names{"a", "b/real_time", "c/threads:2", "d/manual_time", "e/process_time"};
  EXPECT_EQ(timing_of(matched(names, names)),
            "processor time of 1, all sides at once on one core; real time of 2, manual time of 1, processor "
            "time of the whole process of 1, one side after the other");
}

constexpr const char* whole_file = R"({
  "context": {
    "executable": "./b",
    "caches": [
      {
        "type": "Data"
      }
    ]
  },
  "benchmarks": [
    {
      "name": "A", "run_name": "A", "run_type": "iteration", "real_time": 3.0, "cpu_time": 2.0, "c": NaN,
      "time_unit": "us"
    },
    {
      "name": "B/real_time", "run_name": "B/real_time", "run_type": "iteration", "hits": 7.0, "rate": 8.0,
      "allocs_per_iter": 2.0,
      "real_time": 3.0, "cpu_time": 2.0, "time_unit": "us"
    },
    {
      "name": "C", "run_name": "C", "run_type": "iteration", "error_occurred": true, "error_message": "boom",
      "real_time": 0, "cpu_time": 0, "time_unit": "us"
    },
    {
      "name": "D", "run_name": "D", "run_type": "iteration", "real_time": 3.0, "cpu_time": NaN, "time_unit": "us"
    }
  ]
}
)";

TEST(BenchmarkTimes, AreOfTheClockThatIsAskedFor) {
  const ReportedTimes times = times_in(whole_file, "b");
  EXPECT_THAT(times.at("A").seconds, ElementsAre(2e-6));
  EXPECT_THAT(times.at("B/real_time").seconds, ElementsAre(3e-6));
  EXPECT_EQ(times.at("C").error, "reports an error: boom");
  EXPECT_TRUE(times.at("C").failed);
  EXPECT_THAT(times.at("D").seconds, IsEmpty());
}

TEST(BenchmarkTimes, HaveTheCountersWhoseDirectionIsKnown) {
  const std::vector<Figure> figures =
      times_in(whole_file, "b", directions_of({"hits=higher"})).at("B/real_time").figures;
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].name, "allocs_per_iter");
  EXPECT_EQ(figures[0].better, Figure::Better::lower);
  EXPECT_EQ(figures[1].value, 7);
  EXPECT_EQ(figures[1].better, Figure::Better::higher);
  EXPECT_THAT([] { directions_of({"hits"}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("--counter hits: says no direction")));
}

TEST(BenchmarkTimes, MakeNoPairsOfColdCallsAndWarmOnes) {
  const std::string cold = std::regex_replace(std::string(whole_file), std::regex("\"cpu_time\": 2.0"),
                                              "\"iterations\": 20, \"cpu_time\": 2.0");
  EXPECT_DOUBLE_EQ(times_in(cold, "b").at("A").sampled, 40e-6);
  EXPECT_TRUE(cold_beside_warm({40e-6, 5e-3, 6e-3}, 5e-3));
  EXPECT_FALSE(cold_beside_warm({40e-6, 41e-6, 40e-6}, 5e-3)) << "all of them are cold";
  EXPECT_FALSE(cold_beside_warm({20e-3, 2, 20e-3}, 5e-3)) << "calls that are longer than a repetition";
  EXPECT_FALSE(cold_beside_warm({0, 5e-3, 5e-3}, 5e-3)) << "a side that counts no calls";
}

TEST(BenchmarkTimes, AreNoneOfALaunchWithoutSlices) {
  const std::string text = R"({"schema": "assay.result/1", "suite": "s", "trials": [
    {"key": "o/v/p#1", "operation": "o", "variant": "v", "problem": "p", "launches": [{"seconds": []}]
    }
  ]
})";
  EXPECT_THAT(times_in(text, "b").at("o/v/p#1").seconds, IsEmpty());
}

TEST(BenchmarkTimes, OfAProgramThatBrokeOffAreThoseBefore) {
  const std::string text = whole_file;
  const ReportedTimes times = times_in(text.substr(0, text.find("\"C\"")), "b");
  EXPECT_EQ(times.size(), 2U);
  EXPECT_TRUE(times.contains("B/real_time"));
  EXPECT_THAT(times_in(text.substr(0, text.find("\"A\"")), "b"), IsEmpty());
  EXPECT_THAT(times_in("", "b"), IsEmpty());
}

}  // namespace
}  // namespace assay
