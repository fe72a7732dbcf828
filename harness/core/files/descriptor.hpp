/// An open file, socket or pipe that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace assay {

class Descriptor {
 public:
  /// -1 for none.
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }
  int value() const { return value_; }
  /// As close(2): network file systems report a full disk only here.
  int close() { return value_ < 0 ? 0 : ::close(std::exchange(value_, -1)); }

 private:
  int value_;
};

}  // namespace assay
