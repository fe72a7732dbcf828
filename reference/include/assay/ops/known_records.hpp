/// A record file whose content is also known by other means than its mapping, so that reads of it can be
/// judged.
#pragma once

#include "assay/operation.hpp"
#include "assay/ops/record_file.hpp"

#include <array>
#include <string>
#include <utility>

namespace assay {

/// The state of a workload's file. `hot`: in memory, every page mapped and read once. `cold`: on a disk, and
/// each call starts and ends with none of its pages in memory.
enum class FileState : Index { hot, cold };
inline constexpr std::array<std::string_view, 2> file_states{"hot", "cold"};

/// Record i of a generated file: numbers of splitmix64 (Steele, Lea and Flood 2014) counted from key and i.
void generate_record(std::uint64_t key, Index i, std::span<std::byte> into);

struct KnownRecords {
  RecordFile file;
  FileState state = FileState::hot;

  /// The user's file of the setting if there is one, else a scratch file of `shape`. Throws Error when the
  /// records of a user's file are not those that were written.
  static KnownRecords open(RecordShape shape, FileState state, Setting& setting);
  /// Ends every call: throws Error when the file changed, and makes a cold file cold again through `used`,
  /// the mapping that was read. Its time is part of the call, the same work for every variant, and more for
  /// those that made more pages resident.
  void end_call(const RecordFile& used) const;
  void end_call() const { end_call(file); }

 private:
  // What kernels are to read from the file, contracts know without it.
  friend struct BatchRetrieval;
  friend struct DataLoader;
  KnownRecords(RecordFile its_file, FileState its_state, std::uint64_t key, bool from_user)
      : file(std::move(its_file)), state(its_state), key_(key), from_user_(from_user) {}
  /// Writes the expected bytes of record i. Throws Error where a user's file cannot be read.
  void expected(Index i, std::span<std::byte> into) const;
  /// Says that calls left much of a cold file in memory; empty where they did not.
  std::string fault_of_pages() const;
  std::uint64_t key_;
  bool from_user_;  ///< what is expected is read by system calls
};

/// A reason why a file of this state cannot be had here, or nothing: cold needs $TMPDIR on a disk.
std::optional<std::string> no_such_file_state(FileState state);

}  // namespace assay
