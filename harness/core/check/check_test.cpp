// Plants every fault a kernel is known for and demands that checking finds it, in the right place.

#include "assay/check.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"
#include "core/check/teeth_test.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <numeric>

namespace assay {
namespace {

using testing::doubled;
using testing::Doubling;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Problem = Doubling::Problem;
using Input = Doubling::Input;
using Output = Doubling::Output;
using Kernel = void (*)(const Problem&, const Input&, Output&);

Agreement outcome_of(Kernel kernel, std::string_view problem = "rows=3,columns=5", Fill fill = Fill::exact) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "planted", .run = kernel});
  const Operation& operation = registry.at("doubling");
  const auto workload = operation.open(problem, {.fill = fill, .rng = Rng(7)});
  return workload->check(testing::variant_index(operation, "planted"), {});
}

void copied(const Problem&, const Input& in, Output& out) {
  for (Index i = 0; i < in.x.size(); ++i) out.y[i] = in.x[i];
}

TEST(Check, NamesTheCaseWhoseInputFindsNoMemory) {
  std::array<std::byte, 64> few{};
  std::pmr::monotonic_buffer_resource memory(few.data(), few.size(), std::pmr::null_memory_resource());
  const Registry registry = testing::doubling_registry();
  EXPECT_THAT([&] { registry.at("doubling").open("rows=8,columns=16", {.placement = {.memory = &memory}}); },
              ThrowsMessage<Error>(HasSubstr("doubling/rows=8,columns=16: finds no memory for its input")));
}

TEST(Check, LetsARightKernelPass) {
  const Agreement outcome = outcome_of(doubled);
  EXPECT_TRUE(outcome.agrees) << outcome.detail;
  EXPECT_EQ(outcome.worst_error, 0);
  EXPECT_EQ(outcome.compared, 15);
  EXPECT_EQ(outcome.total, 15);
}

TEST(Check, FindsOneWrongElementAndNamesIt) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    out.y[7] += 1;
  });
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("y[1, 2]"));
  EXPECT_THAT(outcome.detail, HasSubstr("1 of 15"));
}

TEST(Check, FindsTheLastBitOfOneElement) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    out.y[0] = std::nextafter(out.y[0], std::numeric_limits<float>::infinity());
  });
  EXPECT_FALSE(outcome.agrees);
}

TEST(Check, FindsAnUnwrittenTailAndSaysWhichColumns) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    for (Index r = 0; r < p.rows; ++r) {
      for (Index c = 0; c + 1 < p.columns; ++c) out.y[r * p.columns + c] = 2 * in.x[r * p.columns + c];
    }
  });
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("all in y[any, 4]"));
}

TEST(Check, FindsNaN) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    out.y[3] = std::numeric_limits<float>::quiet_NaN();
  });
  EXPECT_FALSE(outcome.agrees);
  EXPECT_TRUE(std::isinf(outcome.worst_error));
}

TEST(Check, FindsInfinity) {
  const Agreement outcome = outcome_of(
      [](const Problem& p, const Input& in, Output& out) {
        doubled(p, in, out);
        out.y[3] = std::numeric_limits<float>::infinity();
      },
      "rows=3,columns=5", Fill::uniform);
  EXPECT_FALSE(outcome.agrees);
}

TEST(Check, FindsAllZeros) {
  const Agreement outcome = outcome_of([](const Problem&, const Input&, Output& out) {
    for (float& y : out.y) y = 0;
  });
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("15 of 15"));
}

TEST(Check, FindsSwappedRows) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    for (Index c = 0; c < p.columns; ++c) std::swap(out.y[c], out.y[p.columns + c]);
  });
  EXPECT_FALSE(outcome.agrees);
}

// The write is within the 256 guard bytes, yet outside the payload, so that no sanitizer sees it first.
TEST(Check, FindsAWriteOnePastTheEnd) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    out.y.data()[p.rows * p.columns] = 1;
  });
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("outside y"));
}

TEST(Check, FindsAWriteBeforeTheStart) {
  const Agreement outcome = outcome_of([](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    out.y.data()[-64] = 1;
  });
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("outside y"));
}

TEST(Check, FindsAKernelThatIsRightTheFirstTimeOnly) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "planted", .prepare = [](const Problem& p, const Input&, const Context&) {
                            return [p, calls = 0](const Input& in, Output& out) mutable {
                              doubled(p, in, out);
                              if (calls++ > 0) out.y[0] = 0;
                            };
                          }});
  const Operation& operation = registry.at("doubling");
  const auto workload = operation.open("rows=2,columns=2", {});
  const Agreement outcome = workload->check(testing::variant_index(operation, "planted"), {});
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("called again"));
}

TEST(Check, FindsAFaultThatOnlyMisalignedBuffersShow) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "planted", .run = [](const Problem& p, const Input& in, Output& out) {
                            doubled(p, in, out);
                            if (reinterpret_cast<std::uintptr_t>(out.y.data()) % 64 != 0) out.y[0] = 0;
                          }});
  std::size_t wrong = 0;
  for (const CornerCheck& c : check_corners(registry, "doubling/planted", 2, 42, {})) {
    if (c.agreement.agrees) continue;
    ++wrong;
    EXPECT_TRUE(c.fenced);
  }
  EXPECT_EQ(wrong, 2 * Doubling::corner_cases().size());
}

TEST(Check, TakesThreadedVariantsThroughOneTwoAndAllThreads) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "threaded", .threaded = true, .run = doubled});
  std::set<int> counts;
  for (const CornerCheck& c : check_corners(registry, "doubling/threaded", 8, 42, {}))
    counts.insert(c.threads);
  EXPECT_EQ(counts, (std::set<int>{1, 2, 8}));
}

TEST(Check, SkipsAnUnfitVariantWithItsReason) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "exotic", .run = doubled, .unfit = [](const Problem&, const Context&) {
                            return std::optional<std::string>("needs a unicorn");
                          }});
  EXPECT_THAT(check_corners(registry, "exotic", 1, 42, {}),
              Each(Field(&CornerCheck::skipped, "needs a unicorn")));
}

TEST(Check, KeepsKnownBadVariantsApartFromTheSoundOnes) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "plausible", .known_bad = "nowhere: forgets to double", .run = copied});
  EXPECT_THAT(check_corners(registry, "", 1, 42, {}), Each(Field(&CornerCheck::variant, "naive")));
  const auto bad = check_corners(registry, "", 1, 42, {}, Kin::known_bad);
  EXPECT_THAT(bad, Each(Field(&CornerCheck::variant, "plausible")));
  EXPECT_TRUE(std::ranges::any_of(bad, [](const CornerCheck& c) { return !c.agreement.agrees; }));
  EXPECT_THROW(check_corners(registry, "naive", 1, 42, {}, Kin::known_bad), Error);
}

TEST(Check, KeepsCheatsAndHonestVariantsThatLookLikeThemApart) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "replayed", .known_cheat = "nowhere: replays", .run = copied});
  registry.add<Doubling>({.name = "suspicious", .known_honest = "nowhere: remembers", .run = doubled});
  EXPECT_THAT(check_corners(registry, "", 1, 42, {}), Each(Field(&CornerCheck::variant, "naive")));
  for (const auto& [kin, name] :
       {std::pair{Kin::known_cheat, "replayed"}, {Kin::known_honest, "suspicious"}}) {
    EXPECT_THAT(check_corners(registry, "", 1, 42, {}, kin), Each(Field(&CornerCheck::variant, name)));
  }
  EXPECT_THROW(check_corners(registry, "", 1, 42, {}, Kin::known_bad), Error);
}

/// Takes its problem from a file, and has a figure of what was written: the sum, of which less is better.
struct FromFile : Doubling {
  static constexpr std::string_view name = "from_file";
  static Problem problem_of(const std::filesystem::path& file) {
    if (file != "two_by_three") throw Error(file.string(), "is no such file", "give another");
    return {2, 3};
  }
  static Input make_input(const Problem& p, Setting& setting) {
    EXPECT_EQ(setting.file, "two_by_three");
    return Doubling::make_input(p, setting);
  }
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected& want, const Output& out) {
    return {{.name = "sum",
             .value = std::accumulate(out.y.begin(), out.y.end(), 0.0),
             .better = Figure::Better::lower,
             .bound = std::accumulate(want.y.begin(), want.y.end(), 0.0)}};
  }
};

TEST(CheckFile, ChecksOnTheProblemOfTheFileWithFiguresAndTimes) {
  Registry registry;
  registry.add<FromFile>({.name = "naive", .run = doubled});
  registry.add<FromFile>({.name = "wrong", .run = copied});
  registry.add<FromFile>({.name = "plausible", .known_bad = "nowhere", .run = copied});
  const auto checks = check_file(registry, "from_file", "two_by_three", 42, {});
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].problem, "rows=2,columns=3");
  EXPECT_TRUE(checks[0].agreement.agrees);
  ASSERT_EQ(checks[0].agreement.figures.size(), 1U);
  EXPECT_EQ(checks[0].agreement.figures[0].name, "sum");
  EXPECT_EQ(checks[0].agreement.figures[0].value, checks[0].agreement.figures[0].bound);
  EXPECT_GE(checks[0].seconds.size(), 3U);
  EXPECT_FALSE(checks[1].agreement.agrees);
  EXPECT_TRUE(checks[1].agreement.figures.empty()) << "those of a wrong output say nothing";
  EXPECT_TRUE(checks[1].seconds.empty());
  EXPECT_THROW(check_file(registry, "from_file", "elsewhere", 42, {}), Error);
}

/// Lets everything pass that is not too small, and has the sum of it as a figure.
struct AtLeastDouble : Doubling {
  static constexpr std::string_view name = "at_least_double";
  static Agreement judge(const Problem&, const Input&, const Expected& want, const Output& out) {
    Agreement outcome{.compared = out.y.size(), .total = out.y.size()};
    outcome.agrees = std::ranges::equal(out.y, want.y, std::ranges::greater_equal{});
    return outcome;
  }
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output& out) {
    return {{.name = "sum",
             .value = std::accumulate(out.y.begin(), out.y.end(), 0.0),
             .better = Figure::Better::lower}};
  }
};

TEST(Check, FindsAKernelWhoseFiguresAreGoodTheFirstTimeOnly) {
  const auto worse_from = [](int call) {
    return [call](const Problem& p, const Input&, const Context&) {
      return [p, call, calls = 0](const Input& in, Output& out) mutable {
        doubled(p, in, out);
        if (calls++ >= call) out.y[0] += 1;
      };
    };
  };
  Registry registry;
  registry.add<AtLeastDouble>({.name = "naive", .run = doubled});
  registry.add<AtLeastDouble>({.name = "steady", .prepare = worse_from(0)});
  registry.add<AtLeastDouble>({.name = "first_time", .prepare = worse_from(1)});
  const Operation& operation = registry.at("at_least_double");
  const auto workload = operation.open("rows=3,columns=5", {.rng = Rng(7)});
  const auto checked = [&](const char* name) {
    return workload->check(testing::variant_index(operation, name), {});
  };
  EXPECT_EQ(checked("steady").detail, "");
  EXPECT_EQ(checked("steady").figures.at(0).value, checked("naive").figures.at(0).value + 1);
  EXPECT_FALSE(checked("first_time").agrees);
  EXPECT_THAT(checked("first_time").detail,
              HasSubstr("has other figures when it is called again on the same input: sum "));
}

/// The same with a bound, so that outputs for different inputs can be compared.
struct NoMoreThanDouble : AtLeastDouble {
  static constexpr std::string_view name = "no_more_than_double";
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected& want, const Output& out) {
    const auto sum = [](const auto& all) {
      return std::accumulate(all.begin(), all.end(), 0.0,
                             [](double before, double next) { return before + std::abs(next); });
    };
    return {{.name = "sum", .value = sum(out.y), .better = Figure::Better::lower, .bound = sum(want.y)}};
  }
};

TEST(Check, FindsAKernelWhoseFiguresAreGoodForTheFirstInputOnly) {
  Registry registry;
  registry.add<NoMoreThanDouble>({.name = "naive", .run = doubled});
  const auto raised = [](float by, bool first_as_well) {
    return [=](const Problem& p, const Input&, const Context&) {
      return [=, first = std::vector<float>()](const Input& in, Output& out) mutable {
        doubled(p, in, out);
        if (first.empty()) first.assign(in.x.begin(), in.x.end());
        if (std::ranges::equal(first, in.x) && !first_as_well) return;
        for (float& y : out.y) y += by;
      };
    };
  };
  registry.add<NoMoreThanDouble>({.name = "as_bad_for_all", .prepare = raised(50, true)});
  registry.add<NoMoreThanDouble>({.name = "a_little_worse", .prepare = raised(0.5F, false)});
  registry.add<NoMoreThanDouble>({.name = "good_once", .prepare = raised(50, false)});
  const Operation& operation = registry.at("no_more_than_double");
  const auto workload = operation.open("rows=3,columns=5", {.fill = Fill::uniform, .rng = Rng(7)});
  const auto fault_of = [&](const char* name) {
    return workload->check(testing::variant_index(operation, name), {}).detail;
  };
  for (const char* name : {"naive", "as_bad_for_all", "a_little_worse"})
    EXPECT_EQ(fault_of(name), "") << name;
  EXPECT_THAT(fault_of("good_once"), HasSubstr("is far worse in some calls than in others: sum "));
}

float without_work(const Buffer<float>& x) { return x[0] > 0 ? 1000 : 50; }

/// The same where an answer without work is as bad as the input has it.
struct KnowsTheWorst : NoMoreThanDouble {
  static constexpr std::string_view name = "knows_the_worst";
  static std::vector<Figure> figures(const Problem& p, const Input& in, const Expected& want,
                                     const Output& out) {
    auto all = NoMoreThanDouble::figures(p, in, want, out);
    all[0].worst = *all[0].bound + without_work(in.x) * static_cast<double>(out.y.size());
    return all;
  }
};

template <class Op>
std::string fault_of_who_never_works() {
  Registry registry;
  const auto run = [](const Problem& p, const Input& in, Output& out) {
    doubled(p, in, out);
    for (float& y : out.y) y += without_work(in.x);
  };
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name)
      .open("rows=3,columns=5", {.fill = Fill::uniform, .rng = Rng(7)})
      ->check(0, {}, 0.1)
      .detail;
}

TEST(Check, BlamesNobodyWhoNeverDoesMuchForInputsOfWhichLittleIsToBeMade) {
  EXPECT_THAT(fault_of_who_never_works<NoMoreThanDouble>(), HasSubstr("is far worse in some calls"));
  EXPECT_EQ(fault_of_who_never_works<KnowsTheWorst>(), "");
}

TEST(CheckFile, RefusesAnOperationThatTakesNone) {
  EXPECT_THAT([] { check_file(testing::doubling_registry(), "", "any", 42, {}); },
              ThrowsMessage<Error>(HasSubstr("takes no file")));
}

/// An operation whose name begins with that of another.
struct DoublingTwice : Doubling {
  static constexpr std::string_view name = "doubling_twice";
};

TEST(Check, TakesTheWholeNameOfAnOperationForThatOneAlone) {
  Registry registry = testing::doubling_registry();
  registry.add<DoublingTwice>({.name = "naive", .run = doubled});
  EXPECT_THAT(check_corners(registry, "doubling", 1, 42, {}),
              Each(Field(&CornerCheck::operation, "doubling")));
  EXPECT_THAT(check_corners(registry, "-doubling", 1, 42, {}),
              Each(Field(&CornerCheck::operation, "doubling_twice")));
  EXPECT_EQ(check_corners(registry, "doubl", 1, 42, {}).size(),
            2 * check_corners(registry, "doubling_twice", 1, 42, {}).size());
}

TEST(Check, RefusesASelectionOfNothing) {
  const Registry registry = testing::doubling_registry();
  EXPECT_THROW(check_corners(registry, "no_such_variant", 1, 42, {}), Error);
  EXPECT_THROW(check_corners(registry, "(", 1, 42, {}), Error);
}

TEST(Teeth, FindsNoSurvivorWhereTheJudgeLooksAtEverything) {
  const Registry registry = testing::doubling_registry();
  const auto workload =
      registry.at("doubling").open("rows=3,columns=5", {.fill = Fill::uniform, .rng = Rng(3)});
  EXPECT_THAT(testing::surviving_corruptions(*workload, 1, 20), IsEmpty());
}

/// A judge that forgets the last column, as a hurried author might.
struct Toothless : Doubling {
  static constexpr std::string_view name = "toothless";
  static Agreement judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
    Agreement all;
    for (Index r = 0; r < p.rows; ++r) {
      const auto begin = static_cast<std::size_t>(r * p.columns),
                 count = static_cast<std::size_t>(p.columns - 1);
      all =
          all & within({"y", {p.columns - 1}}, std::span<const float>(out.y).subspan(begin, count),
                       std::span(want.y).subspan(begin, count), std::span(want.bound).subspan(begin, count));
    }
    return all;
  }
};

TEST(Teeth, FindsTheCorruptionsThatAToothlessJudgeLetsPass) {
  Registry registry;
  registry.add<Toothless>({.name = "naive", .run = doubled});
  const auto workload =
      registry.at("toothless").open("rows=3,columns=5", {.fill = Fill::uniform, .rng = Rng(3)});
  EXPECT_THAT(testing::surviving_corruptions(*workload, 1, 20), Not(IsEmpty()));
}

TEST(Check, FindsAKernelThatIsRightForTheSizesOfTheSuiteOnly) {
  Registry registry = testing::doubling_registry();
  registry.add<testing::Doubling>({.name = "tuned", .run = [](const auto& p, const auto& in, auto& out) {
                                     if (p.rows % 2 == 0) testing::doubled(p, in, out);
                                   }});
  const Operation& operation = registry.at("doubling");
  const std::size_t tuned = testing::variant_index(operation, "tuned");
  const std::vector<Trial> trials{{.operation = &operation,
                                   .variant = tuned,
                                   .row = {.operation = "doubling", .problem = "rows=4,columns=6"},
                                   .key = "k"}};
  EXPECT_TRUE(check(trials, 1, {}).front().agrees);
  const Checked found = check(trials, 1, {}, {}, Sizes::and_beside).front();
  EXPECT_FALSE(found.agrees);
  EXPECT_THAT(found.detail, HasSubstr("beside it, at rows=3,columns=5"));
}

TEST(Check, KnowsTheProblemsBesideOne) {
  const Registry registry = testing::doubling_registry();
  const Operation& operation = registry.at("doubling");
  EXPECT_THAT(problems_beside(operation, "rows=4,columns=6,mode=fancy"),
              ::testing::ElementsAre("rows=3,columns=5,mode=fancy", "rows=5,columns=7,mode=fancy"));
  EXPECT_THAT(problems_beside(operation, "rows=1,columns=1"), ::testing::ElementsAre("rows=2,columns=2"));
}

}  // namespace
}  // namespace assay
