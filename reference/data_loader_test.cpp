#include "assay/ops/data_loader.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::data_loader_test {
namespace {

using Problem = DataLoader::Problem;
using Input = DataLoader::Input;
using Output = DataLoader::Output;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EpochShape, CountsTheLastPartialBatchOrDropsIt) {
  // ADR-003: 10 samples in batches of 4 are 3 batches or 2, and nothing in between.
  const EpochShape keep{.samples = 10, .batch = 4}, drop{.samples = 10, .batch = 4, .drop_last = true};
  EXPECT_EQ(keep.batches(), 3);
  EXPECT_EQ(keep.delivered(), 10);
  EXPECT_EQ(keep.size(2), 2);
  EXPECT_EQ(drop.batches(), 2);
  EXPECT_EQ(drop.delivered(), 8);
  EXPECT_EQ((EpochShape{.samples = 3, .batch = 4, .drop_last = true}.delivered()), 0);
}

/// Hands over `batches` of 10 samples in batches of 4, in this order.
Agreement deliver(
    const std::vector<Index>& batches, const std::string& options, void (*spoil)(Output&) = [](Output&) {}) {
  static std::vector<Index> sequence;
  static void (*spoiler)(Output&);
  sequence = batches;
  spoiler = spoil;
  Registry registry;
  registry.add<DataLoader>({.name = "naive", .run = [](const Problem& p, const Input& in, Output& out) {
                              Consumer consumer(p, in, out);
                              std::vector<std::byte> rows;
                              for (const Index k : sequence) {
                                rows.clear();
                                for (const Index i : in.batch(p.shape(), k)) {
                                  rows.insert(rows.end(), in.records.file.record(i),
                                              in.records.file.record(i) + p.bytes);
                                }
                                consumer.take(k, rows.data());
                              }
                              spoiler(out);
                            }});
  return registry.at(DataLoader::name)
      .open("samples=10,bytes=8,batch=4" + options, {.fill = Fill::uniform, .rng = Rng(5)})
      ->check(0, {});
}

TEST(DataLoader, RefusesAPassWithoutABatch) {
  Registry registry;
  registry.add<DataLoader>({.name = "naive", .run = [](const Problem&, const Input&, Output&) {}});
  EXPECT_THAT(([&] { registry.at(DataLoader::name).open("samples=1,bytes=1,batch=2,last=drop", {}); }),
              ::testing::ThrowsMessage<Error>(HasSubstr("data_loader: has no batch")));
}

TEST(DataLoader, AcceptsTheBatchesInOrder) {
  const Agreement agreement = deliver({0, 1, 2}, "");
  EXPECT_TRUE(agreement.agrees) << agreement.detail;
  EXPECT_TRUE(deliver({0, 1}, ",last=drop").agrees);
}

TEST(DataLoader, AcceptsAnyOrderOfBatchesOnlyWhereThatIsAskedFor) {
  EXPECT_TRUE(deliver({2, 0, 1}, ",delivery=out").agrees);
  EXPECT_TRUE(deliver({1, 0}, ",delivery=out,last=drop").agrees);
  const Agreement agreement = deliver({1, 0, 2}, "");
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("sample[0] starts batch 1 where batch 0 is due"));
}

TEST(DataLoader, CatchesABatchThatIsMissing) {
  EXPECT_FALSE(deliver({0, 1}, "").agrees);
  EXPECT_FALSE(deliver({0, 2}, ",delivery=out").agrees);
}

TEST(DataLoader, CatchesABatchThatComesTwice) {
  const Agreement agreement = deliver({0, 0}, ",delivery=out,last=drop");
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("starts batch 0 a second time"));
}

TEST(DataLoader, CatchesAPartialBatchThatWasToBeDropped) {
  const Agreement agreement = deliver({2, 0}, ",delivery=out,last=drop", [](Output&) {});
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("which is to be dropped"));
}

TEST(DataLoader, CatchesRowsThatChangedPlacesWithinABatch) {
  for (const std::string options : {"", ",delivery=out"}) {
    const Agreement agreement = deliver({0, 1, 2}, options, [](Output& out) {
      std::swap(out.sample[1], out.sample[2]);
      std::swap(out.digest[1], out.digest[2]);
    });
    EXPECT_FALSE(agreement.agrees);
    EXPECT_THAT(agreement.detail, HasSubstr("of batch 0"));
  }
}

TEST(DataLoader, CatchesTheBytesOfAnotherSample) {
  const Agreement agreement =
      deliver({0, 1, 2}, "", [](Output& out) { std::swap(out.digest[1], out.digest[2]); });
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("but that of sample"));
}

TEST(DataLoader, CatchesBytesOfNoSample) {
  const Agreement agreement = deliver({0, 1, 2}, "", [](Output& out) { out.digest[9] ^= 1; });
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("digest[9]"));
  EXPECT_THAT(agreement.detail, HasSubstr("nor of any other"));
}

TEST(DataLoader, CatchesWhatIsNoSample) {
  EXPECT_THAT(deliver({0, 1, 2}, "", [](Output& out) { out.sample[0] = 10; }).detail,
              HasSubstr("sample[0] is 10, which is no sample"));
  EXPECT_THAT(deliver({0, 1, 2}, "", [](Output& out) { out.sample[4] = -1; }).detail,
              HasSubstr("sample[4] is -1, which is no sample"));
}

TEST(DataLoader, CatchesAStepThatWasLeftOut) {
  EXPECT_TRUE(deliver({0, 1, 2}, ",step=1000").agrees);
  EXPECT_TRUE(deliver({2, 0, 1}, ",step=1000,delivery=out").agrees);
  EXPECT_THAT(deliver({0, 1, 2}, ",step=1000", [](Output& out) { out.state[2] = out.state[1]; }).detail,
              HasSubstr("state[2] is not that of a step after its batch"));
}

TEST(DataLoader, WritesTheSampleAndItsDigestForEachRow) {
  Setting setting{.fill = Fill::uniform};
  const Problem p{.samples = 3, .bytes = 8, .batch = 2, .shuffle = 2};
  const Input in = DataLoader::make_input(p, setting);
  Output out = DataLoader::make_output(p, in, setting);
  Consumer consumer(p, in, out);
  consumer.take(0, in.records.file.record(0));
  consumer.take(1, in.records.file.record(2));
  EXPECT_THAT(std::vector(out.sample.begin(), out.sample.end()), ElementsAre(0, 1, 2));
  EXPECT_EQ(out.digest[1], digest({in.records.file.record(1), 8}, in.key[0]));
  EXPECT_NE(out.digest[1], digest({in.records.file.record(1), 8}, in.key[0] + 1)) << "kept from another call";
}

}  // namespace
}  // namespace assay::data_loader_test
