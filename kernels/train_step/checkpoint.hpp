// The state of a training as a file that a reader finds whole or not at all.
#pragma once

#include "assay/ops/trainer.hpp"

#include <filesystem>

namespace assay::train_step {

/// The checkpoints of one training, each in place of the one before. They lie in a folder of their own in
/// scratch_folder(), which is made for the first and removed with this.
class Checkpoints {
 public:
  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  ~Checkpoints();

  /// Writes step t, the number of parameters (u64 each), parameters, first and second moments (f32 each)
  /// under a temporary name, which is then renamed. Nothing is flushed to the disk: what is lost with the
  /// power is not what a step waits for. Throws Error naming the file; the checkpoint before is still there
  /// then.
  void write(const training::Parameters& at, Index t);

  /// Returns the file of the last checkpoint; empty before the first.
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path folder_, file_;
};

}  // namespace assay::train_step
