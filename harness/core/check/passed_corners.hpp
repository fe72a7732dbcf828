/// Kernels that passed the corner cases of their contract, in a file from one process to the next: each is
/// checked once before it is timed.
#pragma once

#include "assay/check.hpp"
#include "assay/machine.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A kernel is known by its code, its name, the contract that judges it and the machine: the code of `naive`
/// is that of the reference, and its version, fills, corner cases and the fields that no kernel is told are
/// the rest of the contract. An edit of a judge that leaves all of these as they are checks nobody again.
class PassedCorners {
 public:
  /// Reads the file, before any kernel is called: kernels can write to it as well. A file that cannot be read
  /// holds none, and lines that make no sense are none. Without a file nothing is kept.
  explicit PassedCorners(std::filesystem::path file, const Machine& machine);

  /// Kernels whose code nothing identifies are never held, nor added: those of interpreters.
  bool hold(const Operation& operation, std::size_t variant) const;
  /// Adds the kernels of a whole check of corner cases that passed, and takes out those that failed.
  void note(std::span<const Operation* const> operations, std::span<const CornerCheck> checks);

  /// Replaces the file by the newest that are held. A folder that cannot be written keeps nothing, which is
  /// no error: kernels are checked once more.
  void save() const;

 private:
  std::string line_of(const Operation& operation, std::size_t variant) const;
  std::string identity_of(const VariantInfo& variant) const;

  std::filesystem::path file_;
  std::string machine_;                         ///< what it has to do with results of kernels
  std::vector<std::string> lines_;              ///< `0123456789abcdef gemm/packed`, the oldest first
  mutable std::optional<std::string> program_;  ///< a hash of its file; empty where there is none
};

/// The file `corners` in the cache_folder(); empty where there is none.
std::filesystem::path usual_passed_corners();

}  // namespace assay
