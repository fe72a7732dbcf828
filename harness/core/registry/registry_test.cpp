#include "assay/registry.hpp"

#include "assay/code_table.hpp"
#include "assay/error.hpp"
#include "assay/pick.hpp"
#include "core/check/doubling_test.hpp"
#include "core/registry/erased_operation.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

namespace assay {
namespace {

using testing::doubled;
using testing::Doubling;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Registry, PutsNaiveFirstAndTheOthersByName) {
  Registry registry;
  for (const char* name : {"zeta", "alpha", "naive", "simd@avx2"}) {
    registry.add<Doubling>({.name = name, .run = doubled});
  }
  std::vector<std::string> names;
  for (const VariantInfo& variant : registry.at("doubling").variants()) names.push_back(variant.name);
  EXPECT_THAT(names, ::testing::ElementsAre("naive", "alpha", "simd@avx2", "zeta"));
}

TEST(Registry, RefusesAnOperationWithoutNaive) {
  Registry registry;
  registry.add<Doubling>({.name = "packed", .run = doubled});
  EXPECT_THAT([&] { registry.validate(); },
              ThrowsMessage<Error>(HasSubstr("doubling: has no variant named 'naive'")));
}

TEST(Registry, RefusesStepsThatDoNotLeadToNaive) {
  const auto validated = [](const char* after_packed, const char* after_simd) {
    Registry registry;
    registry.add<Doubling>({.name = "naive", .run = doubled});
    registry.add<Doubling>({.name = "packed", .after = after_packed, .run = doubled});
    registry.add<Doubling>({.name = "simd@avx2", .after = after_simd, .run = doubled});
    registry.validate();
  };
  EXPECT_NO_THROW(validated("naive", "packed"));
  EXPECT_NO_THROW(validated("simd", "naive"));
  EXPECT_THAT(
      [&] { validated("pakced", "packed"); },
      ThrowsMessage<Error>(HasSubstr("doubling/packed: is a step after 'pakced', from which no steps")));
  EXPECT_THAT([&] { validated("simd", "packed"); }, ThrowsMessage<Error>(HasSubstr("doubling/packed: is a")));
  EXPECT_THAT([&] { validated("", "packed"); }, ThrowsMessage<Error>(HasSubstr("doubling/simd@avx2: is a")));
}

TEST(Registry, RefusesARepeatedVariant) {
  Registry registry = testing::doubling_registry();
  EXPECT_THAT([&] { registry.add<Doubling>({.name = "naive", .run = doubled}); },
              ThrowsMessage<Error>(HasSubstr("doubling/naive: registered twice")));
}

TEST(Registry, RefusesNamesOutsideTheGrammar) {
  Registry registry;
  for (const char* name : {"", "Fast", "two words", "a/b", "1st", "simd@", "simd@AVX2", "x#1"}) {
    EXPECT_THROW(registry.add<Doubling>({.name = name, .run = doubled}), Error) << name;
  }
}

TEST(Registry, RefusesBothOrNeitherOfRunAndPrepare) {
  Registry registry;
  EXPECT_THROW(registry.add<Doubling>({.name = "none"}), Error);
  EXPECT_THROW(registry.add<Doubling>({.name = "both",
                                       .run = doubled,
                                       .prepare = [](const Doubling::Problem&, const Doubling::Input&,
                                                     const Context&) { return nullptr; }}),
               Error);
}

TEST(Registry, ListsTheKnownNamesForAnUnknownOne) {
  const Registry registry = testing::doubling_registry();
  EXPECT_THAT([&] { registry.at("trebling"); },
              ThrowsMessage<Error>(HasSubstr("known operations: doubling")));
}

void add_naive(Registry& r) { r.add<Doubling>({.name = "naive", .libraries = {"peer"}, .run = doubled}); }
constexpr int line_before = __LINE__;
const Register registered{add_naive};  // in one line, since compilers differ in which of several they name
constexpr CodeRow rows[] = {
    {"harness/core/registry/registry_test.cpp", "0123456789abcdef", "peer peer_double\n"}};
const CodeTable table{rows};

TEST(Registry, KnowsWhereALinkedVariantIsRegisteredAndWhatItsCodeIs) {
  Registry registry = Registry::linked();
  const VariantInfo naive = registry.at("doubling").variants().front();
  EXPECT_EQ(naive.source, "harness/core/registry/registry_test.cpp");
  EXPECT_THAT(naive.line, ::testing::AnyOf(line_before + 1, 0));  // 0: Clang before 16
  EXPECT_EQ(naive.code, "0123456789abcdef");
  EXPECT_THAT(naive.libraries, ::testing::ElementsAre("peer"));
  ASSERT_TRUE(naive.calls.has_value());
  ASSERT_EQ(naive.calls->size(), 1U);
  EXPECT_EQ(naive.calls->front().to, "peer");
  EXPECT_THAT(naive.calls->front().names, ::testing::ElementsAre("peer_double"));
  EXPECT_EQ(registry.at("doubling").variants().at(1).source, "harness/core/registry/found.cpp");
  registry.add<Doubling>({.name = "by_hand", .run = doubled});
  EXPECT_EQ(registry.at("doubling").variants().back().code, "");
  EXPECT_FALSE(registry.at("doubling").variants().back().calls.has_value());
}

struct Impostor : Doubling {};

TEST(Registry, RefusesTwoContractsOfOneName) {
  Registry registry = testing::doubling_registry();
  EXPECT_THROW(registry.add<Impostor>({.name = "other", .run = doubled}), Error);
}

std::string reason(std::string_view problem) {
  const Registry registry = testing::doubling_registry();
  try {
    return registry.at("doubling").canonical("here", problem);
  } catch (const Error& failure) {
    return failure.what();
  }
}

TEST(Problem, HasOneCanonicalText) {
  EXPECT_EQ(reason("columns=2,rows=1"), "rows=1,columns=2");
  EXPECT_EQ(reason("columns=2,rows=1,mode=plain"), "rows=1,columns=2");
  EXPECT_EQ(reason("columns=2,rows=1,mode=fancy"), "rows=1,columns=2,mode=fancy");
}

TEST(Problem, NamesTheFieldAtFault) {
  EXPECT_THAT(reason("rows=1"), HasSubstr("here: field 'columns' is missing"));
  EXPECT_THAT(reason("rows=1,columns=1,depth=1"), HasSubstr("unknown field 'depth'"));
  EXPECT_THAT(reason("rows=1,rows=1,columns=1"), HasSubstr("field 'rows' is given twice"));
  EXPECT_THAT(reason("rows=0,columns=1"), HasSubstr("field 'rows' is 0, out of range"));
  EXPECT_THAT(reason("rows=-3,columns=1"), HasSubstr("field 'rows' is -3, out of range"));
  EXPECT_THAT(reason("rows=1.5,columns=1"), HasSubstr("field 'rows' is '1.5', not an integer"));
  EXPECT_THAT(reason("rows=99999999999999999999,columns=1"), HasSubstr("out of range"));
  EXPECT_THAT(reason("rows=,columns=1"), HasSubstr("not an integer"));
  EXPECT_THAT(reason("rows,columns=1"), HasSubstr("not of the form field=value"));
  EXPECT_THAT(reason("rows=1,columns=1,mode=odd"), HasSubstr("write mode=<plain|fancy>"));
}

/// The modes that each of these was told, by what it is.
std::map<std::string, std::set<Index>> told;

/// Here `mode` is what an input holds.
struct Filled : Doubling {
  static constexpr std::string_view name = "filled";
  struct Problem : Doubling::Problem {
    static constexpr auto fields() {
      return std::tuple{field("rows", &Problem::rows), field("columns", &Problem::columns),
                        of_content(choice("mode", &Problem::mode, modes))};
    }
    Problem noted(const std::string& by) const {
      told[by].insert(mode);
      return *this;
    }
  };
  static std::vector<Problem> corner_cases() { return problems<Problem>({"rows=1|2,columns=3,mode=fancy"}); }
  static bool has_helpers(const Problem& p) { return p.noted("contract").mode == 1; }
  static Input make_input(const Problem& p, Setting& setting) {
    return Doubling::make_input(p.noted("contract"), setting);
  }
  static Expected expect(const Problem& p, const Input& in, Setting& setting) {
    return Doubling::expect(p.noted("contract"), in, setting);
  }
  static Agreement judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
    return Doubling::judge(p.noted("contract"), in, want, out);
  }
  static Cost cost(const Problem& p) { return Doubling::cost(p.noted("contract")); }
};

Choice picked_by_rows(const Filled::Problem& p, const Context&) {
  return p.noted("pick").rows == 2 ? "prepared" : "naive";
}

TEST(Problem, TellsVariantsNothingOfWhatTheInputHolds) {
  using Problem = Filled::Problem;
  Registry registry;
  registry.add<Filled>({.name = "naive", .run = [](const Problem& p, const auto& in, auto& out) {
                          doubled(p.noted("run"), in, out);
                        }});
  registry.add<Filled>({.name = "prepared",
                        .helpers = [](const Problem& p) { return p.noted("helpers").rows; },
                        .prepare =
                            [](const Problem& p, const Filled::Input&, const Context&) {
                              return [p = p.noted("prepare")](const auto& in, auto& out) {
                                doubled(p.noted("call"), in, out);
                              };
                            },
                        .unfit =
                            [](const Problem& p, const Context&) {
                              return p.noted("unfit").mode == 0 ? std::nullopt
                                                                : std::optional<std::string>("is told");
                            }});
  static constexpr Pick pick = pick_by<Filled, picked_by_rows>("auto", "one of the others");
  auto operation = registry.take("filled");
  dynamic_cast<ErasedOperation&>(*operation).add_pick(pick, {});
  told.clear();
  for (const std::string& problem : operation->corner_cases()) {
    static_cast<void>(operation->cost(problem));
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      EXPECT_EQ(operation->unfit(v, problem, {}), std::nullopt);
      EXPECT_TRUE(operation->open(problem, {})->check(v, {}, Workload::no_rehearsal).agrees);
    }
  }
  const std::set<Index> fallback{0}, given{1};
  EXPECT_EQ(told["contract"], given);
  for (const char* by : {"run", "prepare", "call", "helpers", "unfit", "pick"})
    EXPECT_EQ(told[by], fallback) << by;
}

TEST(Buffer, IsPoisonedAlignedAndGuarded) {
  Buffer<float> buffer(5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
  for (const float x : buffer) EXPECT_TRUE(is_poison(x));
  EXPECT_TRUE(buffer.guards_intact());
  buffer.data()[5] = 1;
  EXPECT_FALSE(buffer.guards_intact());
}

TEST(Buffer, StartsAsManyElementsOffAlignmentAsAsked) {
  const Buffer<float> buffer(5, {.skew = 1});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, sizeof(float));
  EXPECT_TRUE(buffer.guards_intact());
}

TEST(Buffer, NoticesOneChangedByteAnywhereInItsGuards) {
  for (const Index at : {-256, -1, 20, 275}) {
    Buffer<char> buffer(20);
    buffer.data()[at] = static_cast<char>(buffer.data()[at] + 1);
    EXPECT_FALSE(buffer.guards_intact()) << at;
  }
}

// xoshiro256** seeded by splitmix64: first outputs for seed 0, from the authors' reference code
// (prng.di.unimi.it), with the state drawn by four calls of splitmix64.
TEST(Rng, IsTheSameGeneratorEverywhere) {
  Rng rng(0);
  EXPECT_EQ(rng.next(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(rng.next(), 0xbf6e1f784956452aU);
}

TEST(Rng, DrawsSmallIntegersOfAllSixValues) {
  Rng rng(1);
  std::set<float> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.small_integer());
  EXPECT_EQ(seen, (std::set<float>{-3, -2, -1, 1, 2, 3}));
}

// Clang gives a file that it finds by -I such a name.
#line 1 "harness/core/registry/./found.cpp"
const Register found{[](Registry& r) { r.add<Doubling>({.name = "found", .run = doubled}); }};

}  // namespace
}  // namespace assay
