#include "assay/ops/image_records.hpp"

#include "assay/error.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace assay::training {
namespace {

static_assert(std::endian::native == std::endian::little, "records are read as they lie");

Index label_of(const ImageRecords& records, const std::byte* record) {
  if (records.format == PixelFormat::bytes) return std::to_integer<Index>(record[0]);
  std::uint32_t label = 0;
  std::memcpy(&label, record, sizeof label);
  return static_cast<Index>(label);
}

/// Half of a pixel's range each, so that their sum stays in it.
constexpr double signal = 0.5, noise = 0.5;

void write_pixel(PixelFormat format, double x, std::byte* to) {
  if (format == PixelFormat::bytes) {
    *to = static_cast<std::byte>(std::lround((x + 1) * 127.5));
  } else {
    const auto value = static_cast<float>(x);
    std::memcpy(to, &value, sizeof value);
  }
}

}  // namespace

ImageBatch::ImageBatch(const ImageRecords& records, Index most)
    : records_(records), pixels_(most * records.pixels()), labels_(most) {}

void ImageBatch::decode(const std::byte* rows, Index n) {
  float* to = pixels_.data();
  for (Index i = 0; i < n; ++i, rows += records_.bytes()) {
    labels_[i] = label_of(records_, rows);
    if (labels_[i] >= classes) {
      throw Error("record " + std::to_string(i) + " of a batch",
                  "has label " + std::to_string(labels_[i]) + ", and there are " + std::to_string(classes) +
                      " classes",
                  "give the channels, the side and the pixel format that the record file was written with");
    }
    const std::byte* from = rows + records_.label_bytes();
    if (records_.format == PixelFormat::bytes) {
      for (Index j = 0; j < records_.pixels(); ++j) {
        *to++ = static_cast<float>(std::to_integer<int>(from[j])) * (2.0F / 255) - 1;
      }
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(records_.pixels()) * sizeof(float));
      to += records_.pixels();
    }
  }
}

FillRecords separable_images(const ImageRecords& records, std::uint64_t key) {
  Rng rng(key);
  std::vector<double> images(static_cast<std::size_t>(classes * records.pixels()));
  for (double& x : images) x = rng.uniform(-signal, signal);
  return [records, key, images = std::move(images)](Index first, std::span<std::byte> block) {
    for (std::byte* at = block.data(); at < block.data() + block.size(); at += records.bytes(), ++first) {
      Rng own(key ^ (static_cast<std::uint64_t>(first) + 1) * 0x9e3779b97f4a7c15U);
      const Index label = own.integer(0, classes - 1);
      std::memset(at, 0, static_cast<std::size_t>(records.label_bytes()));
      at[0] = static_cast<std::byte>(label);
      const double* image = images.data() + label * records.pixels();
      for (Index j = 0; j < records.pixels(); ++j) {
        write_pixel(records.format, image[j] + own.uniform(-noise, noise),
                    at + records.label_bytes() * (1 + j));
      }
    }
  };
}

}  // namespace assay::training
