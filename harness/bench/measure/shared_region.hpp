/// Memory that several processes map at one address: the same pages, caches and offsets for every build.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace assay {

/// Pages that exist once they are written to. Whoever is given descriptor() maps the same ones.
class SharedRegion {
 public:
  /// Makes one of at most `bytes`. Throws Error.
  static SharedRegion made(std::size_t bytes);
  /// Maps one that another process made, at the same address. Throws Error when the address is taken.
  static SharedRegion mapped(int descriptor);

  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) = delete;
  ~SharedRegion();

  /// Inherited by child processes.
  int descriptor() const { return descriptor_; }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  SharedRegion(int descriptor, std::size_t bytes);
  int descriptor_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// Hands out a region from its start to its end. Processes that ask for the same sizes in the same order get
/// the same addresses.
class Arena : public std::pmr::memory_resource {
 public:
  Arena(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}
  /// Everything that was handed out is free again. Pages keep their content.
  void reset() { used_ = 0; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::byte* begin_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

}  // namespace assay
