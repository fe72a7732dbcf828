// `assay list`: kernels that one would use, and what `auto` is for a case.
#include "app/verbs.hpp"
#include "assay/pick.hpp"
#include "core/check/doubling_test.hpp"
#include "core/registry/erased_operation.hpp"

#include <gmock/gmock.h>

#include <string>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::HasSubstr;
using ::testing::Not;

Choice by_threads(const Doubling::Problem&, const Context& context) {
  if (context.threads == 1) return {"added", "one thread has nothing to divide"};
  return {"naive", "threads pay"};
}

std::optional<std::string> lacks_vectors(const Doubling::Problem&, const Context&) { return "needs vectors"; }

Registry kernels() {
  static constexpr Pick pick = pick_by<Doubling, by_threads>("auto", "one of the others");
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "added", .run = doubled});
  registry.add<Doubling>({.name = "plausible", .known_bad = "a paper", .run = doubled});
  registry.add<Doubling>({.name = "wide", .run = doubled, .unfit = lacks_vectors});
  registry.add<Doubling>({.name = "wider", .run = doubled, .unfit = lacks_vectors});
  auto operation = registry.take("doubling");
  dynamic_cast<ErasedOperation&>(*operation).add_pick(pick, {});
  registry.put(std::move(operation));
  return registry;
}

std::string listed(const ListOptions& options) {
  ::testing::internal::CaptureStdout();
  list_verb(options, kernels());
  return ::testing::internal::GetCapturedStdout();
}

TEST(List, HasKernelsThatOneWouldUse) {
  EXPECT_THAT(listed({}),
              AllOf(HasSubstr("  added"), Not(HasSubstr("plausible")), Not(HasSubstr("because"))));
  EXPECT_THAT(listed({.known = true}),
              AllOf(HasSubstr("plausible      KNOWN BAD"), Not(HasSubstr("  added"))));
}

TEST(List, HasTheTensorsOfAContractInTheirOrder) {
  EXPECT_THAT(listed({}), HasSubstr("\n  tensors x (f32 input), y (f32 output)\n"));
}

TEST(List, SaysOnceWhyVariantsDoNotRunHere) {
  EXPECT_THAT(listed({}), AllOf(HasSubstr("\n  not here       wide, wider: needs vectors\n"),
                                Not(HasSubstr("\n  wide "))));
}

TEST(List, SaysWhatAutoIsForACaseAndWhy) {
  const std::string reason = "is added for rows=3,columns=5#1, because one thread has nothing to divide\n";
  EXPECT_THAT(listed({.filter = "doubling/rows=3,columns=5"}), HasSubstr(reason));
  EXPECT_THAT(listed({.filter = "doubling/rows=3,columns=5", .json = "-"}),
              HasSubstr("\"reason\":\"one thread has nothing to divide\""));
}

}  // namespace
}  // namespace assay
