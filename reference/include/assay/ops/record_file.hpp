/// Record files: many records of one size behind a checked header, written once and read through a mapping.
#pragma once

#include "assay/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace assay {

/// Read-only bytes of an open file.
///
/// A page of a mapping cannot be read once the file was truncated before it, or when the disk fails: the
/// kernel sends SIGBUS to the thread that reads. A look at the size beforehand does not help, since the file
/// may shrink right after it; and jumping out of the handler would leave a kernel in the middle of its loop,
/// with its destructors not run. So the handler puts zero pages over the rest of the mapping, from the page
/// that was lost, and lets the read go on; lost() says so afterwards. Kernels read with plain loads, on any
/// thread, and pay nothing. What they read from a lost page is zeros: ask lost() before using it.
///
/// The first mapping of a process installs the handler. A SIGBUS anywhere else goes to whoever handled it
/// before.
class GuardedMapping {
 public:
  enum class Pages {
    on_demand,  ///< read when they are touched, with what the kernel thinks should be read around them
    at_random,  ///< read when they are touched, nothing around them (MADV_RANDOM)
    populated   ///< read and mapped now
  };

  GuardedMapping() = default;
  /// Maps `bytes` > 0 of the file. On failure data() is nullptr and errno is set.
  GuardedMapping(int descriptor, Index bytes, Pages pages);
  GuardedMapping(GuardedMapping&& other) noexcept { swap(other); }
  GuardedMapping& operator=(GuardedMapping&& other) noexcept {
    GuardedMapping(static_cast<GuardedMapping&&>(other)).swap(*this);
    return *this;
  }
  ~GuardedMapping();

  const std::byte* data() const { return data_; }
  Index size() const { return bytes_; }
  /// Whether a read met a page that is no longer there. Stays so: map anew.
  bool lost() const;
  /// Pages that are in memory, as a share of all. 0 where the kernel does not say.
  double resident() const;
  /// Reads a byte of each page, so that all are in memory and mapped: later reads find them as they would
  /// after a pass over the file.
  void map_pages() const;
  /// Takes the pages out of the page table, so that the file's own may be dropped.
  void unmap_pages() const;

 private:
  void swap(GuardedMapping& other) noexcept;

  std::byte* data_ = nullptr;
  Index bytes_ = 0;
  int place_ = -1;  ///< in the table that the handler reads
};

/// The number of records and the bytes of each; both at least 1.
struct RecordShape {
  Index records = 1, bytes = 1;
};

/// Layout, all numbers little-endian: at 0 the magic "ASSAYREC"; at 8 version (u32); at 12 bytes of the
/// header (u32); at 16 bytes of a record (u64); at 24 records (u64); at 32 checksum of the records (u64); at
/// 40 checksum of bytes 0 to 39 (u64); zeros up to 4,096, so that records of a power of two never cross more
/// pages than they must; at 4,096 the records, one after the other.
inline constexpr Index record_file_header_bytes = 4096;
inline constexpr std::uint32_t record_file_version = 1;

/// 64 bits that depend on every byte and on their order. Not cryptographic.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t key = 0);

/// Writes the records of [first, first + block.size() / bytes) into `block`.
using FillRecords = std::function<void(Index first, std::span<std::byte> block)>;

/// Writes a whole file under a temporary name in the same folder, flushes it to the disk and renames it:
/// there is the old file, or the new one. Throws Error naming `file`; nothing of the temporary file remains
/// then.
void write_record_file(const std::filesystem::path& file, RecordShape shape, const FillRecords& fill);

/// The descriptor of an open file, which closes it in the end.
struct OwnedDescriptor {
  explicit OwnedDescriptor(int opened) : descriptor(opened) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~OwnedDescriptor();

  /// 0, or the error.
  int write(std::span<const std::byte> bytes, Index offset) const;
  /// Bytes read, fewer than asked for only at the end of the file; -1 with errno on failure.
  Index read(std::span<std::byte> into, Index offset) const;

  int descriptor = -1;  ///< negative where opening failed
};

/// A record file, open and mapped. Records are read from the mapping with plain loads, from any thread.
///
/// Removing the file, or renaming another over it, does no harm: the mapping keeps the file alive that it
/// was made of. Truncating or overwriting it does: reads never crash (see GuardedMapping), and
/// require_unchanged() throws.
class RecordFile {
 public:
  using Pages = GuardedMapping::Pages;

  /// Throws Error naming the file and what to do when it cannot be opened, is truncated, empty, of another
  /// magic or version, has a damaged header, or holds fewer or more bytes than its records take.
  explicit RecordFile(const std::filesystem::path& file, Pages pages = Pages::on_demand);

  /// A file without a name: it is gone when the object is, however the program ends.
  enum class Scratch {
    memory,  ///< in memory, every page mapped
    disk     ///< in $TMPDIR or /tmp, clean pages that drop_pages() can drop
  };
  static RecordFile scratch(Scratch where, RecordShape shape, const FillRecords& fill);
  /// Opens and maps the same file a second time, with an advice and a read-ahead state of its own.
  RecordFile again(Pages pages) const;

  RecordShape shape() const { return shape_; }
  const std::string& name() const { return name_; }
  const std::byte* record(Index i) const { return mapping_.data() + offset(i); }
  /// Copies records from the mapping, one after the other, to `to`.
  void copy(std::span<const Index> records, std::byte* to) const {
    const auto size = static_cast<std::size_t>(shape_.bytes);
    for (const Index i : records) {
      std::memcpy(to, record(i), size);
      to += size;
    }
  }
  Index offset(Index i) const { return record_file_header_bytes + i * shape_.bytes; }
  const GuardedMapping& mapping() const { return mapping_; }
  int descriptor() const { return file_.descriptor; }

  /// Throws Error when the file was truncated or written to since it was opened: what was read may be zeros,
  /// or half old and half new. A write through another process's mapping shows only once the kernel wrote it
  /// back.
  void require_unchanged() const;
  /// Throws Error when the records are not those that were written. Reads all of them.
  void verify() const;
  /// Copies record i by a system call, around the mapping. Throws Error.
  void read(Index i, std::span<std::byte> into) const;
  /// Drops the file's pages from this mapping and from memory. Dirty pages, and those that another mapping
  /// holds, stay.
  void drop_pages() const;
  /// Reads a byte of each page: the file is *hot* then, as after a pass over it.
  void map_pages() const { mapping_.map_pages(); }

 private:
  RecordFile(OwnedDescriptor file, std::string name, Pages pages);

  std::string name_;
  OwnedDescriptor file_;
  RecordShape shape_;
  std::uint64_t checksum_ = 0;
  std::int64_t modified_seconds_ = 0, modified_nanoseconds_ = 0;
  GuardedMapping mapping_;
};

/// $TMPDIR, or /tmp: where files lie that nobody keeps.
std::filesystem::path scratch_folder();
/// Whether it lies on a disk: the pages of a file there can be dropped.
bool scratch_disk_is_a_disk();
/// A new file there without a name, from the start where the file system can do that, else from right after.
/// Its descriptor is negative, and errno set, where it cannot be made.
OwnedDescriptor nameless_scratch_file();

}  // namespace assay
