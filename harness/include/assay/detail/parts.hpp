/// Parts of inputs and outputs as bytes: what harness and kernels may not do to them, whatever their types.
#pragma once

#include "assay/detail/untyped.hpp"
#include "assay/operation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace assay::detail {

/// A part whose type does not matter.
struct PartBytes {
  std::string_view name;
  std::byte* data = nullptr;
  std::size_t width = 1, size = 0;  ///< of an element, and of all, in bytes
};

template <class T>
PartBytes bytes_of(std::string_view name, Buffer<T>& buffer) {
  return {name, reinterpret_cast<std::byte*>(buffer.data()), sizeof(T),
          static_cast<std::size_t>(buffer.size()) * sizeof(T)};
}

/// All buffers of an input or an output.
template <class Owner>
std::vector<PartBytes> all_parts(Owner& owner) {
  return std::apply(
      [&](const auto&... parts) {
        return std::vector<PartBytes>{bytes_of(name_of(parts, owner), parts.of(owner))...};
      },
      Owner::parts());
}

template <class Op>
std::vector<PartBytes> changing_parts(typename Op::Input& input) {
  std::vector<PartBytes> out;
  const auto take = [&](const auto& part) {
    if (part.role != Role::constant) out.push_back(bytes_of(name_of(part, input), part.of(input)));
  };
  std::apply([&](const auto&... parts) { (take(parts), ...); }, Op::Input::parts());
  return out;
}

/// Other content in the same memory, for as long as this lives: each block of each part turned by a drawn
/// number of elements, which keeps every one of them valid.
class Decoy {
 public:
  Decoy(std::vector<PartBytes> parts, Rng& rng);
  ~Decoy();
  Decoy(const Decoy&) = delete;
  Decoy& operator=(const Decoy&) = delete;

 private:
  std::vector<PartBytes> parts_;
  std::vector<std::size_t> turned_;  ///< elements, of each part
};

/// Copies of drawn lines of an output, by which it is seen that somebody still writes to it.
class Glimpse {
 public:
  Glimpse(const std::vector<PartBytes>& parts, Rng& rng);
  /// The part that changed since; empty when none did.
  std::string_view changed() const;

 private:
  struct Line {
    std::string_view part;
    const std::byte* at;
    std::array<std::byte, 64> bytes;
    std::size_t size;
  };
  std::vector<Line> lines_;
};

/// Watches the parts of an input, and tells who wrote to them.
class InputWatch {
 public:
  explicit InputWatch(std::vector<PartBytes> parts);
  /// From now on `user` has the input as well.
  void used_by(const void* user);
  /// The part that changed since it was last looked at, when nobody but one user can have done it; empty when
  /// none did, or when it is not known yet who it was: everybody is then looked at in turn.
  /// Calls `make_again` when anything changed. Large inputs are looked at when it is `due` or when somebody
  /// is sought.
  std::string_view written_part(bool due, const std::function<void()>& make_again);

 private:
  std::vector<PartBytes> parts_;
  std::vector<std::uint64_t> digests_;
  std::vector<const void*> users_;
  bool small_ = true, seeking_ = false;
};

/// Notes in `outcome`, if it agreed until now, that it does not, and why.
void blame(Agreement& outcome, std::string detail);

/// Notes that a part of the input was written to. Whatever else was found may come from that.
void blame_for_input(Agreement& outcome, std::string_view part);

}  // namespace assay::detail
