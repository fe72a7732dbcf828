#include "core/registry/parts.hpp"

#include "assay/random.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace assay::detail {
namespace {

/// Inputs that are hashed after every slice: it takes some ten microseconds.
constexpr std::size_t small_input = std::size_t{1} << 18;

/// A hash of all bytes and their places.
std::uint64_t digest(const BufferView& part) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
  constexpr std::size_t lanes = 8, block = lanes * sizeof(std::uint64_t);
  std::array<std::uint64_t, lanes> sums{};
  std::array<std::uint64_t, lanes> words{};
  const std::byte* const data = part.data;
  const std::size_t size = part.bytes();
  std::size_t at = 0;
  for (; at + block <= size; at += block) {
    std::memcpy(words.data(), data + at, block);
    for (std::size_t i = 0; i < lanes; ++i) sums[i] = (sums[i] + words[i]) * factor;
  }
  std::uint64_t out = size;
  for (; at < size; ++at) out = (out + static_cast<std::uint64_t>(data[at])) * factor;
  for (const std::uint64_t sum : sums) out = (out ^ sum ^ (sum >> 32)) * factor;
  return out;
}

std::vector<std::uint64_t> digests_of(const std::vector<BufferView>& parts) {
  std::vector<std::uint64_t> out;
  for (const BufferView& part : parts) out.push_back(digest(part));
  return out;
}

/// Elements that are turned together: so few that they stay in the nearest caches meanwhile.
std::size_t turned_together(const BufferView& part) {
  constexpr std::size_t bytes = std::size_t{1} << 15;
  return std::max<std::size_t>(2, bytes / part.width);
}

/// Turns the elements of each block to the left by `by` of them, or to the right by as many.
void turn_blocks(const BufferView& part, std::size_t by, bool left) {
  const std::size_t block = turned_together(part) * part.width;
  std::vector<std::byte> kept(block);
  for (std::size_t begin = 0; begin < part.bytes(); begin += block) {
    std::byte* data = part.data + begin;
    const std::size_t size = std::min(block, part.bytes() - begin);
    const std::size_t turned = by * part.width % size;
    const std::size_t first = left ? turned : size - turned;
    std::memcpy(kept.data(), data, first);
    std::memmove(data, data + first, size - first);
    std::memcpy(data + (size - first), kept.data(), first);
  }
}

}  // namespace

void poison(const BufferView& part, Index begin, Index end) {
  std::array<std::byte, sizeof(double)> value;
  const auto set = [&](const auto& element) { std::memcpy(value.data(), &element, sizeof element); };
  if (part.type == ElementType::f32) {
    set(poison_value<float>());
  } else if (part.type == ElementType::f64) {
    set(poison_value<double>());
  } else {  // bytes, whatever the type
    std::memset(part.element(begin), static_cast<int>(poison_value<std::uint8_t>()),
                static_cast<std::size_t>(end - begin) * part.width);
    return;
  }
  for (Index i = begin; i < end; ++i) std::memcpy(part.element(i), value.data(), part.width);
}

Agreement guards_of(const std::vector<BufferView>& parts) {
  Agreement outcome;
  for (const BufferView& part : parts) {
    if (part.block->intact()) continue;
    blame(outcome,
          "wrote outside " + std::string(part.name) + ": the guard bytes before or after it changed");
  }
  return outcome;
}

std::vector<BufferView> changing(std::vector<BufferView> parts) {
  std::erase_if(parts, [](const BufferView& part) { return part.role == Role::constant; });
  return parts;
}

Decoy::Decoy(std::vector<BufferView> parts, Rng& rng) : parts_(std::move(parts)) {
  for (const BufferView& part : parts_) {
    const auto elements = std::min(part.size, static_cast<Index>(turned_together(part)));
    turned_.push_back(elements > 1 ? static_cast<std::size_t>(rng.integer(1, elements - 1)) : 0);
    turn_blocks(part, turned_.back(), true);
  }
}

Decoy::~Decoy() {
  for (std::size_t i = 0; i < parts_.size(); ++i) turn_blocks(parts_[i], turned_[i], false);
}

Glimpse::Glimpse(const std::vector<BufferView>& parts, Rng& rng) {
  constexpr Index most_lines = 32;
  for (const BufferView& part : parts) {
    constexpr std::size_t line = std::tuple_size_v<decltype(Line::bytes)>;
    const auto count = static_cast<Index>((part.bytes() + line - 1) / line);
    for (Index i = 0; i < std::min(count, most_lines); ++i) {
      const auto begin = static_cast<std::size_t>(count <= most_lines ? i : rng.integer(0, count - 1)) * line;
      Line next{.part = part.name,
                .at = part.data + begin,
                .bytes = {},
                .size = std::min(line, part.bytes() - begin)};
      std::memcpy(next.bytes.data(), next.at, next.size);
      lines_.push_back(next);
    }
  }
}

std::string_view Glimpse::changed() const {
  for (const Line& line : lines_) {
    if (std::memcmp(line.bytes.data(), line.at, line.size) != 0) return line.part;
  }
  return {};
}

InputWatch::InputWatch(std::vector<BufferView> parts)
    : parts_(std::move(parts)), digests_(digests_of(parts_)) {
  std::size_t bytes = 0;
  for (const BufferView& part : parts_) bytes += part.bytes();
  small_ = bytes <= small_input;
  constexpr std::size_t most_users = 64;
  users_.reserve(most_users);  // nothing is allocated where allocations of a kernel are counted
}

void InputWatch::used_by(const void* user) {
  if (std::ranges::find(users_, user) == users_.end()) users_.push_back(user);
}

std::string_view InputWatch::written_part(bool due, const std::function<void()>& make_again) {
  if (!due && !small_ && !seeking_) return {};
  std::string_view written;
  for (std::size_t i = 0; i < parts_.size() && written.empty(); ++i) {
    if (digest(parts_[i]) != digests_[i]) written = parts_[i].name;
  }
  const bool alone = users_.size() <= 1;
  users_.clear();
  if (written.empty()) return {};
  make_again();
  seeking_ = true;
  return alone ? written : std::string_view();
}

void blame(Agreement& outcome, std::string detail) {
  if (!outcome.agrees) return;
  outcome.agrees = false;
  outcome.worst_error = std::numeric_limits<double>::infinity();
  outcome.detail = std::move(detail);
}

void blame_for_input(Agreement& outcome, std::string_view part) {
  outcome.agrees = true;
  blame(outcome, "wrote into its input " + std::string(part));
}

}  // namespace assay::detail
