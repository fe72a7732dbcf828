#include "assay/ops/image_records.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <span>
#include <vector>

namespace assay::training::image_records_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr ImageRecords of_bytes{.channels = 1, .side = 2, .format = PixelFormat::bytes};
constexpr ImageRecords of_floats{.channels = 1, .side = 2, .format = PixelFormat::floats};

std::vector<float> pixels(const Batch& batch, Index count) { return {batch.pixels, batch.pixels + count}; }

TEST(ImageRecords, OfBytesHaveALabelAndAPixelPerByte) {
  EXPECT_EQ((ImageRecords{.channels = 3, .side = 32}.bytes()), 3073);  // a record of CIFAR-10
  const std::vector<std::byte> rows{std::byte{7},   std::byte{0}, std::byte{255}, std::byte{51},
                                    std::byte{204}, std::byte{0}, std::byte{255}, std::byte{0},
                                    std::byte{0},   std::byte{0}};
  ImageBatch batch(of_bytes, 3);
  batch.decode(rows.data(), 2);
  EXPECT_EQ(batch.view(2).n, 2);
  EXPECT_EQ(batch.view(2).labels[0], 7);
  EXPECT_EQ(batch.view(2).labels[1], 0);
  // 2 b / 255 - 1: 51 is a fifth of 255, 204 four fifths.
  EXPECT_THAT(pixels(batch.view(2), 5),
              ::testing::Pointwise(::testing::FloatNear(1e-6F), {-1.0F, 1.0F, -0.6F, 0.6F, 1.0F}));
}

TEST(ImageRecords, OfFloatsAreTakenAsTheyAre) {
  EXPECT_EQ(of_floats.bytes(), 20);
  const std::uint32_t label = 9;
  const float numbers[] = {0.1F, -2, 3e7F, 0};
  std::vector<std::byte> row(20);
  std::memcpy(row.data(), &label, 4);
  std::memcpy(row.data() + 4, numbers, 16);
  ImageBatch batch(of_floats, 1);
  batch.decode(row.data(), 1);
  EXPECT_EQ(batch.view(1).labels[0], 9);
  EXPECT_THAT(pixels(batch.view(1), 4), ElementsAre(0.1F, -2, 3e7F, 0));
}

TEST(ImageRecords, AreRefusedWhereALabelIsNoClass) {
  std::vector<std::byte> rows(10);
  rows[5] = std::byte{10};
  ImageBatch batch(of_bytes, 2);
  EXPECT_THAT(
      [&] { batch.decode(rows.data(), 2); },
      ThrowsMessage<Error>(AllOf(HasSubstr("record 1"), HasSubstr("label 10"), HasSubstr("10 classes"))));
}

std::vector<std::byte> generated(const ImageRecords& records, Index first, Index count) {
  std::vector<std::byte> rows(static_cast<std::size_t>(records.bytes() * count));
  separable_images(records, 7)(first, rows);
  return rows;
}

TEST(SeparableImages, DependOnTheirNumberAndNotOnTheBlock) {
  for (const PixelFormat format : {PixelFormat::bytes, PixelFormat::floats}) {
    const ImageRecords records{.channels = 2, .side = 8, .format = format};
    const auto all = generated(records, 0, 6), tail = generated(records, 4, 2);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), all.begin() + 4 * records.bytes()));
  }
}

/// Returns how many of 500 records a linear function tells apart: it chooses the class whose mean image, of
/// another 500, is the nearest.
int told_apart(const ImageRecords& records) {
  constexpr Index count = 500;
  ImageBatch known(records, count), asked(records, count);
  known.decode(generated(records, 0, count).data(), count);
  asked.decode(generated(records, count, count).data(), count);
  const auto n = static_cast<std::size_t>(records.pixels());
  std::vector<std::vector<double>> mean(classes, std::vector<double>(n));
  std::vector<double> members(classes);
  const auto label = [](const Batch& batch, Index i) { return static_cast<std::size_t>(batch.labels[i]); };
  for (Index i = 0; i < count; ++i) {
    const Batch batch = known.view(count);
    members[label(batch, i)] += 1;
    for (std::size_t j = 0; j < n; ++j)
      mean[label(batch, i)][j] += batch.pixels[static_cast<std::size_t>(i) * n + j];
  }
  int right = 0;
  for (Index i = 0; i < count; ++i) {
    const Batch batch = asked.view(count);
    std::size_t nearest = 0;
    double least = 1e300;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      double distance = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double difference = batch.pixels[static_cast<std::size_t>(i) * n + j] - mean[c][j] / members[c];
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    right += nearest == label(batch, i);
  }
  return right;
}

TEST(SeparableImages, CanBeToldApartInBothFormats) {
  for (const PixelFormat format : {PixelFormat::bytes, PixelFormat::floats}) {
    EXPECT_GT(told_apart({.channels = 1, .side = 8, .format = format}), 480);
  }
}

TEST(SeparableImages, HaveEveryClass) {
  ImageBatch batch(of_bytes, 200);
  batch.decode(generated(of_bytes, 0, 200).data(), 200);
  const Index* labels = batch.view(200).labels;
  EXPECT_EQ(std::set<Index>(labels, labels + 200).size(), 10U);
}

}  // namespace
}  // namespace assay::training::image_records_test
