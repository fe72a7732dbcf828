/// Records of labelled images: what they hold, how a batch of them becomes the input of a network, and a
/// generated set of them that a network can learn.
#pragma once

#include "assay/buffer.hpp"
#include "assay/ops/network.hpp"
#include "assay/ops/record_file.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::training {

/// `bytes`: the label as one byte, then channels x side x side bytes, as in the binary files of CIFAR-10
/// (Krizhevsky 2009); a pixel b becomes 2 b / 255 - 1. `floats`: the label as a little-endian u32, then as
/// many f32, taken as they are.
enum class PixelFormat : Index { bytes, floats };

struct ImageRecords {
  Index channels = 3, side = 16;
  PixelFormat format = PixelFormat::bytes;

  Index pixels() const { return channels * side * side; }
  Index label_bytes() const { return format == PixelFormat::bytes ? 1 : 4; }
  Index bytes() const { return label_bytes() + pixels() * label_bytes(); }
};

/// Room for a batch, which is decoded into it again and again.
class ImageBatch {
 public:
  ImageBatch(const ImageRecords& records, Index most);

  /// n records that lie one after the other. Throws Error naming the row and its label when that is no class:
  /// the records are not those of such images.
  void decode(const std::byte* rows, Index n);
  /// The first n images of the last decode().
  Batch view(Index n) const { return {pixels_.data(), labels_.data(), n}; }

 private:
  ImageRecords records_;
  Buffer<float> pixels_;
  Buffer<Index> labels_;
};

/// Records for write_record_file(): each class has an image of its own, random by `key`, and each record is
/// that image and noise, so that classes can be told apart by a linear function of the pixels. Record i
/// depends on key and i alone.
FillRecords separable_images(const ImageRecords& records, std::uint64_t key);

}  // namespace assay::training
