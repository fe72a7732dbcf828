#include "core/registry/content.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::detail {
namespace {

/// Inputs that are hashed after every slice: it takes some ten microseconds.
constexpr std::size_t small_input = std::size_t{1} << 18;

/// Elements that are turned together: so few that they stay in the nearest caches meanwhile.
Index turned_together(const BufferView& part) {
  constexpr std::size_t bytes = std::size_t{1} << 15;
  return static_cast<Index>(std::max<std::size_t>(2, bytes / part.width));
}

/// Calls visit(first byte, bytes) for each block that turns by itself.
template <class Visit>
void each_block(const BufferView& part, const Visit& visit) {
  const std::size_t block = static_cast<std::size_t>(turned_together(part)) * part.width;
  for (std::size_t begin = 0; begin < part.bytes(); begin += block) {
    visit(part.data + begin, std::min(block, part.bytes() - begin));
  }
}

std::uint64_t mixed(std::uint64_t bits) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
  bits *= factor;
  return (bits ^ (bits >> 32)) * factor;
}

/// A hash of all elements and of which follows which, that stays the same while blocks turn.
std::uint64_t digest(const BufferView& part) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::vector<std::byte> text;  // a block, and what follows its last element when it is turned
  std::uint64_t out = part.bytes();
  each_block(part, [&](const std::byte* data, std::size_t size) {
    text.assign(data, data + size);
    while (text.size() < size + part.width + word)
      text.insert(text.end(), data, data + std::min(size, part.width + word));
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < size; at += part.width) {
      // The words of an element reach into the next one.
      std::uint64_t hash = 0;
      for (std::size_t begin = at; begin <= at + part.width - 1; begin += word) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, text.data() + begin, word);
        hash = mixed(hash ^ bits);
      }
      if (part.width >= word) {
        std::uint64_t next = 0;
        std::memcpy(&next, text.data() + at + part.width, word);
        hash = mixed(hash + next);
      }
      sum += hash;
    }
    out = mixed(out ^ sum);
  });
  return out;
}

/// Turns the elements of each block to the left by `by` of them, or to the right by as many.
void turn_blocks(const BufferView& part, Index by, bool left) {
  std::vector<std::byte> kept;
  each_block(part, [&](std::byte* data, std::size_t size) {
    const std::size_t turned = static_cast<std::size_t>(by) * part.width % size;
    const std::size_t first = left ? turned : size - turned;
    kept.assign(data, data + first);
    std::memmove(data, data + first, size - first);
    std::memcpy(data + (size - first), kept.data(), first);
  });
}

/// Flips `bit` of the fraction of every number but zeros, subnormal ones, infinities and NaNs.
template <class Bits>
void flip(const BufferView& part, Bits exponent, Bits bit) {
  auto* const numbers = reinterpret_cast<Bits*>(part.data);
  for (Index i = 0; i < part.size; ++i) {
    const auto its = static_cast<Bits>(numbers[i] & exponent);
    numbers[i] = static_cast<Bits>(numbers[i] ^ (its != 0 && its != exponent ? bit : 0));
  }
}

/// Returns whether its elements are such numbers. Either way all of them are written.
bool flip_last_bits(const BufferView& part, bool change) {
  const std::uint8_t bit = change ? 1 : 0;
  switch (part.type) {
    case ElementType::f32: flip<std::uint32_t>(part, 0x7f800000, bit); return true;
    case ElementType::f64: flip<std::uint64_t>(part, 0x7ff0000000000000, bit); return true;
    case ElementType::f16: flip<std::uint16_t>(part, 0x7c00, bit); return true;
    case ElementType::bf16: flip<std::uint16_t>(part, 0x7f80, bit); return true;
    default: turn_blocks(part, 0, true); return false;
  }
}

bool turns(const BufferView& part) {
  return (part.role == Role::changing || part.role == Role::permuted) && part.size > 1;
}

}  // namespace

Content::Content(std::vector<BufferView> parts, Salting salting)
    : parts_(std::move(parts)), states_(parts_.size()), salting_(std::move(salting)) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const BufferView& part = parts_[i];
    states_[i].digest = states_[i].original_digest = digest(part);
    if (part.role == Role::redrawn) states_[i].original.assign(part.data, part.data + part.bytes());
    bytes += part.bytes();
  }
  small_ = bytes <= small_input;
  constexpr std::size_t most_users = 64;
  users_.reserve(most_users);  // nothing is allocated where allocations of a kernel are counted
}

void Content::renew(std::uint64_t seed, Renewal what) {
  Rng rng(seed);
  salting_.setting.rng = Rng(rng.next());
  salting_.setting.timed = what == Renewal::timed;
  if (what == Renewal::one_element) {
    put_back_element();
    return salt(rng);
  }
  put_back();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const BufferView& part = parts_[i];
    if (part.role == Role::redrawn) redraw(i);
    if (!turns(part)) continue;
    const Index by = rng.integer(1, std::min(part.size, turned_together(part)) - 1);
    turn_blocks(part, by, true);
    states_[i].turned += by;
  }
  salt(rng);
}

bool Content::nudge(bool change) {
  bool any = false;
  for (const BufferView& part : parts_) {
    if (turns(part)) any = flip_last_bits(part, change) || any;
  }
  nudged_ = nudged_ != (any && change);
  return any;
}

void Content::put_back_element() {
  if (nudged_) nudge(true);
  if (salted_ != nullptr) std::memcpy(salted_->element(salted_at_), kept_.data(), salted_->width);
  salted_ = nullptr;
}

void Content::put_back() {
  put_back_element();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].role != Role::redrawn) continue;
    std::ranges::copy(states_[i].original, parts_[i].data);
    states_[i].digest = states_[i].original_digest;
  }
}

void Content::restore() {
  put_back();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (states_[i].turned != 0) turn_blocks(parts_[i], std::exchange(states_[i].turned, 0), false);
  }
}

void Content::used_by(const void* user) {
  if (std::ranges::find(users_, user) == users_.end()) users_.push_back(user);
}

std::string_view Content::written_part(bool due, const std::function<void()>& make_again) {
  std::string_view written;
  if (due || small_ || seeking_) {
    for (std::size_t i = 0; i < parts_.size() && written.empty(); ++i) {
      if (parts_[i].role == Role::redrawn && digest(parts_[i]) != states_[i].digest) written = parts_[i].name;
    }
  }
  put_back();
  if (!due && !small_ && !seeking_) return {};
  for (std::size_t i = 0; i < parts_.size() && written.empty(); ++i) {
    if (parts_[i].role != Role::redrawn && digest(parts_[i]) != states_[i].digest) written = parts_[i].name;
  }
  const bool alone = users_.size() <= 1;
  users_.clear();
  if (written.empty()) return {};
  make_again();
  for (State& state : states_) state.turned = 0;
  seeking_ = true;
  return alone ? written : std::string_view();
}

void Content::redraw(std::size_t part) {
  for (Index at = 0; at < parts_[part].size; ++at) parts_[part].salt(salting_, parts_[part], at);
  states_[part].digest = digest(parts_[part]);
}

void Content::salt(Rng& rng) {
  std::vector<const BufferView*> candidates;
  for (const BufferView& part : parts_) {
    if (part.role == Role::changing && part.salt != nullptr && part.size > 0) candidates.push_back(&part);
  }
  if (candidates.empty()) return;
  salted_ = candidates[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(candidates.size()) - 1))];
  salted_at_ = rng.integer(0, salted_->size - 1);
  std::memcpy(kept_.data(), salted_->element(salted_at_), salted_->width);
  salted_->salt(salting_, *salted_, salted_at_);
}

}  // namespace assay::detail
