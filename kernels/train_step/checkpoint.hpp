// Writes the state of a training as a file that a reader finds whole or not at all.
#pragma once

#include "assay/ops/trainer.hpp"

#include <filesystem>

namespace assay::train_step {

/// The checkpoints of one training; each replaces the one before. They lie in a folder of their own in
/// scratch_folder(), which is made for the first and removed with this object.
class Checkpoints {
 public:
  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  ~Checkpoints();

  /// Writes step t, the number of parameters (u64 each), parameters, first and second moments (f32 each)
  /// under a temporary name, then renames the file. Nothing is flushed to the disk: a step does not wait for
  /// safety from power loss. Throws Error naming the file; the checkpoint before is then still there.
  void write(const training::Parameters& at, Index t);

  /// Returns the file of the last checkpoint; empty before the first.
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path folder_, file_;
};

}  // namespace assay::train_step
