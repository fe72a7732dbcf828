#include "assay/pick.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"
#include "core/registry/erased_operation.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::doubled;
using testing::Doubling;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::ThrowsMessage;
using testing::variant_index;

using Kernel = Variant<Doubling>::Kernel;

/// Prepared for one thread only, whatever a context says.
Kernel right(const Doubling::Problem&, const Doubling::Input&, const Context&) {
  return [](const Doubling::Input& in, Doubling::Output& out) {
    for (Index i = 0; i < in.x.size(); ++i) out.y[i] = in.x[i] + in.x[i];
  };
}
void wrong(const Doubling::Problem&, const Doubling::Input& in, Doubling::Output& out) {
  for (Index i = 0; i < in.x.size(); ++i) out.y[i] = 3 * in.x[i];
}
Kernel by_threads(const Doubling::Problem& p, const Doubling::Input&, const Context& context) {
  const bool right_here = context.threads == 2;
  return [p, right_here](const Doubling::Input& in, Doubling::Output& out) {
    (right_here ? doubled : wrong)(p, in, out);
  };
}

std::unique_ptr<Operation> with_pick(std::unique_ptr<Operation> operation, const Pick& pick,
                                     const VariantInfo& origin) {
  dynamic_cast<ErasedOperation&>(*operation).add_pick(pick, origin);
  return operation;
}

/// Variants of each sort, and `auto`, which is the one that `rule` names.
template <auto rule>
std::unique_ptr<Operation> operation() {
  static constexpr Pick pick = pick_by<Doubling, rule>("auto", "one of the others");
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "added", .prepare = right});
  registry.add<Doubling>({.name = "bad", .known_bad = "a paper", .run = wrong});
  registry.add<Doubling>(
      {.name = "large", .run = doubled, .unfit = [](const Doubling::Problem&, const Context&) {
         return std::optional<std::string>("is for more rows");
       }});
  registry.add<Doubling>({.name = "peer", .libraries = {"peer"}, .run = doubled});
  registry.add<Doubling>({.name = "threaded", .threaded = true, .prepare = by_threads});
  registry.add<Doubling>({.name = "wrong", .run = wrong});
  return with_pick(registry.take("doubling"), pick, {.source = "rules.cpp", .code = "77"});
}

Choice by_rows(const Doubling::Problem& p, const Context& context) {
  if (context.threads > 1) return {"threaded", "there are threads"};
  return p.rows > 1 ? "added" : "wrong";
}

Agreement checked(const Operation& operation, std::string_view problem, const Context& context) {
  return operation.open(problem, {})->check(variant_index(operation, "auto"), context);
}

TEST(Pick, IsTheVariantThatItsRuleNamesForTheProblem) {
  const auto doubling = operation<by_rows>();
  EXPECT_TRUE(checked(*doubling, "rows=3,columns=5", {}).agrees);
  EXPECT_FALSE(checked(*doubling, "rows=1,columns=5", {}).agrees);
  const std::size_t at = variant_index(*doubling, "auto");
  EXPECT_THAT(picked(*doubling, at, "rows=3,columns=5", {}), Optional(Field(&Choice::variant, "added")));
  EXPECT_EQ(picked(*doubling, variant_index(*doubling, "added"), "rows=3,columns=5", {}), std::nullopt);
}

TEST(Pick, SaysWhyItsRuleNamesAVariantWhereTheRuleDoes) {
  const auto doubling = operation<by_rows>();
  const std::size_t at = variant_index(*doubling, "auto");
  const auto reason_with = [&](int threads) {
    return picked(*doubling, at, "rows=3,columns=5", {.threads = threads}).value().reason;
  };
  EXPECT_EQ(reason_with(2), "there are threads");
  EXPECT_EQ(reason_with(1), "");
}

TEST(Pick, GivesAVariantItsThreads) {
  const auto doubling = operation<by_rows>();
  EXPECT_TRUE(checked(*doubling, "rows=1,columns=5", {.threads = 2}).agrees);
  EXPECT_FALSE(checked(*doubling, "rows=1,columns=5", {.threads = 3}).agrees);
}

TEST(Pick, LeavesTheOtherVariantsWhereTheirNamesAre) {
  const auto doubling = operation<by_rows>();
  std::vector<std::string> names;
  for (const VariantInfo& variant : doubling->variants()) names.push_back(variant.name);
  EXPECT_THAT(names, ElementsAre("naive", "added", "auto", "bad", "large", "peer", "threaded", "wrong"));
  const auto workload = doubling->open("rows=3,columns=5", {});
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (names[v] == "threaded") continue;
    const bool is_right = names[v] != "wrong" && names[v] != "bad";
    EXPECT_EQ(workload->check(v, Context{}).agrees, is_right) << names[v];
    EXPECT_EQ(doubling->unfit(v, "rows=3,columns=5", {}).has_value(), names[v] == "large") << names[v];
  }
}

TEST(Pick, KeepsItsPlaceWhenAVariantIsAdded) {
  Registry registry;
  registry.put(operation<by_rows>());
  registry.add<Doubling>({.name = "abacus", .run = wrong});
  const Operation& doubling = registry.at("doubling");
  EXPECT_EQ(variant_index(doubling, "abacus"), 1U);
  EXPECT_TRUE(checked(doubling, "rows=3,columns=5", {}).agrees);
}

template <const char* name>
std::string always(const Doubling::Problem&, const Context&) {
  return name;
}
constexpr char nobody[] = "nobody", bad[] = "bad", peer[] = "peer", large[] = "large", itself[] = "auto";

template <const char* name>
void expect_refused(const std::string& why) {
  const auto doubling = operation<always<name>>();
  const std::size_t at = variant_index(*doubling, "auto");
  EXPECT_THAT([&] { static_cast<void>(doubling->unfit(at, "rows=3,columns=5", {})); },
              ThrowsMessage<Error>(
                  HasSubstr("doubling/auto/rows=3,columns=5: picks '" + std::string(name) + "': " + why)));
  EXPECT_THROW(static_cast<void>(checked(*doubling, "rows=3,columns=5", {})), Error);
}

TEST(Pick, IsNoVariantThatDoesNotExistOrFitOrIsALibraryOrSetApart) {
  expect_refused<nobody>("there is no such variant");
  expect_refused<itself>("there is no such variant");
  expect_refused<bad>("which is a library, or set apart");
  expect_refused<peer>("which is a library, or set apart");
  expect_refused<large>("is for more rows");
}

/// `auto` of an operation whose naive has this code.
VariantInfo joined(const std::string& code_of_naive, const std::string& code_of_peer,
                   std::optional<std::vector<Calls>> calls = std::vector<Calls>{}) {
  static constexpr Pick pick = pick_by<Doubling, always<nobody>>("auto", "");
  Registry registry;
  registry.add<Doubling>({.name = "another_peer", .libraries = {"peer"}, .run = doubled});
  const auto add = [&](const VariantInfo& info, const VariantInfo& origin) {
    registry.add("doubling",
                 std::make_unique<detail::TypedVariant<Doubling>>(info, Variant<Doubling>{.run = doubled}),
                 origin);
  };
  add({.name = "naive"}, {.code = code_of_naive, .calls = std::move(calls)});
  add({.name = "peer", .libraries = {"peer"}},
      {.code = code_of_peer, .calls = std::vector<Calls>{{"peer", {"peer_double"}}}});
  return with_pick(registry.take("doubling"), pick, {.code = "77", .calls = std::vector<Calls>{}})
      ->variants()
      .at(2);
}

TEST(Pick, HasTheCodeOfAllThatItMayBeAndCallsWhatTheyCall) {
  EXPECT_NE(joined("01", "02").code, joined("03", "02").code);
  EXPECT_EQ(joined("01", "02").code, joined("01", "03").code);
  EXPECT_EQ(joined("", "02").code, "");
  const auto calls = joined("01", "02", std::vector<Calls>{{"threads", {"pthread_create"}}}).calls;
  ASSERT_TRUE(calls.has_value());
  ASSERT_EQ(calls->size(), 1U);
  EXPECT_EQ(calls->front().to, "threads");
  EXPECT_FALSE(joined("01", "02", std::nullopt).calls.has_value());
}

TEST(Pick, RefusesANameThatIsTaken) {
  static constexpr Pick pick = pick_by<Doubling, by_rows>("naive", "");
  EXPECT_THAT([] { with_pick(testing::doubling_registry().take("doubling"), pick, {}); },
              ThrowsMessage<Error>(HasSubstr("doubling/naive: registered twice")));
}

}  // namespace
}  // namespace assay
