#include "bench/measure/shared_region.hpp"

#include "assay/error.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace assay {
namespace {

/// Far from where Linux puts programs, heaps, libraries and stacks, and from what sanitizers reserve.
constexpr std::uintptr_t address = 0x2000'0000'0000;

/// Bytes that the process has mapped there, of which this one may be a copy.
std::size_t inherited = 0;

[[noreturn]] void fail(const char* what) {
  throw Error("shared memory", std::string(what) + ": " + std::strerror(errno),
              "free memory, or lift the limit on address space (ulimit -v)");
}

}  // namespace

SharedRegion::SharedRegion(int descriptor, std::size_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  void* found = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
  if (found == MAP_FAILED) fail("cannot be mapped at its address");
  inherited = bytes;
  data_ = static_cast<std::byte*>(found);
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedRegion::~SharedRegion() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
    inherited = 0;
  }
  if (descriptor_ >= 0) close(descriptor_);
}

SharedRegion SharedRegion::made(std::size_t bytes) {
  const int descriptor = memfd_create("assay", 0);
  if (descriptor < 0) fail("cannot be made");
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    close(descriptor);
    fail("cannot be given its size");
  }
  return {descriptor, bytes};
}

SharedRegion SharedRegion::mapped(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail("is not what was handed over");
  if (inherited > 0) munmap(reinterpret_cast<void*>(address), inherited);
  return {descriptor, static_cast<std::size_t>(status.st_size)};
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (begin + bytes > bytes_) throw std::bad_alloc();
  used_ = begin + bytes;
  return begin_ + begin;
}

}  // namespace assay
