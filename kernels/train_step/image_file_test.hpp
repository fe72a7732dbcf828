// A record file of images for tests, with a fault on request.
#pragma once

#include "assay/ops/data_loader.hpp"
#include "assay/ops/image_records.hpp"
#include "assay/training.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay::train_step {

/// 61 samples in 16 batches, the last of one sample; 10 more for validation, in 3 batches. A small
/// classifier.
inline TrainingPlan small_plan() {
  TrainingPlan out;
  out.channels = 1;
  out.side = 8;
  out.width = 2;
  out.samples = 61;
  out.batch = 4;
  return out;
}

/// The sample that an epoch of the plan takes at place i.
inline Index sample_at(const TrainingPlan& plan, Index i) {
  std::vector<Index> order(static_cast<std::size_t>(plan.samples));
  Rng rng(plan.seed);
  shuffle_into(order, Shuffle::full, 1, rng);
  return order[static_cast<std::size_t>(i)];
}

/// 71 records of images of small_plan(), in a file of this test alone, which removes it.
class ImageFile {
 public:
  static constexpr Index records = 71, bytes = 65;
  /// Record i may be replaced by another good one.
  using Source = std::function<Index(Index i)>;

  ImageFile() {
    write([](Index i) { return i; });
  }
  explicit ImageFile(const Source& source) { write(source); }
  /// Record `bad` has a label that is no class, and a checksum that is right.
  explicit ImageFile(Index bad) {
    write([](Index i) { return i; }, bad);
  }
  ~ImageFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void overwrite(Index at, std::string_view text) const {
    std::fstream out(path_, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(at);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  void write(const Source& source, Index bad = -1) const {
    const FillRecords images = training::separable_images({.channels = 1, .side = 8}, 7);
    write_record_file(
        path_, {.records = records, .bytes = bytes}, [&](Index first, std::span<std::byte> block) {
          const Index count = std::ssize(block) / bytes;
          for (Index i = 0; i < count; ++i) {
            const auto record =
                block.subspan(static_cast<std::size_t>(i * bytes), static_cast<std::size_t>(bytes));
            images(source(first + i), record);
            if (first + i == bad) record[0] = std::byte{77};
          }
        });
    // The time lies in the past, so that a later write shows at any grain of the clock.
    std::filesystem::last_write_time(path_,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  static int next() {
    static int count = 0;
    return count++;
  }
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("assay_images_" + std::to_string(::getpid()) + "_" + std::to_string(next()));
};

inline TrainingPlan small_plan(const ImageFile& file) {
  TrainingPlan out = small_plan();
  out.records = file.path();
  return out;
}

}  // namespace assay::train_step
