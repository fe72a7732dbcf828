#include "core/registry/content.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace assay::detail {
namespace {

/// Inputs that are hashed after every slice: it takes a few microseconds.
constexpr std::size_t small_input = std::size_t{1} << 16;

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

/// A hash of all bytes and their places. Where it starts is secret: nobody makes another content of the same.
std::uint64_t digest(const std::byte* data, std::size_t size) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
  constexpr std::size_t lanes = 8, block = lanes * sizeof(std::uint64_t);
  static const std::uint64_t start = secret();
  std::array<std::uint64_t, lanes> sums{}, words{};
  sums.fill(start);
  std::size_t at = 0;
  for (; at + block <= size; at += block) {
    std::memcpy(words.data(), data + at, block);
    for (std::size_t i = 0; i < lanes; ++i) {
      sums[i] = (sums[i] ^ words[i]) * factor;
      sums[i] ^= sums[i] >> 32;
    }
  }
  std::uint64_t out = size;
  for (; at < size; ++at) out = (out + static_cast<std::uint64_t>(data[at])) * factor;
  for (const std::uint64_t sum : sums) out = (out ^ sum ^ (sum >> 32)) * factor;
  return out;
}

std::vector<std::uint64_t> digests(const BufferView& part) {
  std::vector<std::uint64_t> out;
  each_block(part, [&](const std::byte* data, std::size_t size) { out.push_back(digest(data, size)); });
  return out;
}

/// Turns the elements of each block to the left by `by` of them, or to the right by as many. Calls
/// done(first byte, bytes) for each block while it is near.
template <class Done>
void turn_blocks(const BufferView& part, Index by, bool left, const Done& done) {
  std::vector<std::byte> kept;
  each_block(part, [&](std::byte* data, std::size_t size) {
    const std::size_t turned = static_cast<std::size_t>(by) * part.width % size;
    const std::size_t first = left ? turned : size - turned;
    if (first > 0) {
      kept.assign(data, data + first);
      std::memmove(data, data + first, size - first);
      std::memcpy(data + (size - first), kept.data(), first);
    }
    done(data, size);
  });
}

/// How a floating-point type is made.
template <class Bits>
struct Format {
  Bits exponent, two;   ///< mask; exponent of 2.0
  int fraction, small;  ///< bits; those that change a number by some 2^-10, and short ones by more
};
constexpr Format<std::uint32_t> single{0x7f800000, 0x40000000, 23, 14};
constexpr Format<std::uint64_t> twice{0x7ff0000000000000, 0x4000000000000000, 52, 42};
constexpr Format<std::uint16_t> half{0x7c00, 0x4000, 10, 4}, brain{0x7f80, 0x4000, 7, 2};

/// Calls visit(Format) for a type that has one.
template <class Visit>
void with_format(ElementType type, const Visit& visit) {
  switch (type) {
    case ElementType::f32: return visit(single);
    case ElementType::f64: return visit(twice);
    case ElementType::f16: return visit(half);
    case ElementType::bf16: return visit(brain);
    default: return;
  }
}

/// Flips bits of the fraction of every number but zeros, subnormal ones, infinities and NaNs:
/// `bits.below_two` below 2, and `bits.of_others` else. `plain` when none is such a one, nor 2 or more: that
/// takes a third of the time.
void flip_bits(ElementType type, std::byte* data, std::size_t size, FlippedBits bits, bool plain) {
  with_format(type, [&]<class Bits>(const Format<Bits>& format) {
    auto* const numbers = reinterpret_cast<Bits*>(data);
    if (plain) {
      for (std::size_t i = 0; i < size / sizeof(Bits); ++i)
        numbers[i] = static_cast<Bits>(numbers[i] ^ static_cast<Bits>(bits.below_two));
      return;
    }
    const auto any = static_cast<Bits>(bits.below_two), large = static_cast<Bits>(bits.of_others);
    for (std::size_t i = 0; i < size / sizeof(Bits); ++i) {
      const auto its = static_cast<Bits>(numbers[i] & format.exponent);
      const auto flipped = static_cast<Bits>(its < format.two ? any : large);
      numbers[i] = static_cast<Bits>(numbers[i] ^ (its != 0 && its != format.exponent ? flipped : 0));
    }
  });
}

/// The bits by which numbers of this part may differ and still be as good an input. Below 2 it is the whole
/// fraction: a number stays within a factor of two, and far enough from what it was that no answer from
/// before can be mended by a slope. Large numbers, which may stand for a mean far from zero, change little.
/// Bits that no number uses stay so, as where all of them are rounded to a shorter type.
FlippedBits free_bits(const BufferView& part, bool& plain) {
  FlippedBits out;
  plain = true;
  with_format(part.type, [&]<class Bits>(const Format<Bits>& format) {
    const auto* const numbers = reinterpret_cast<const Bits*>(part.data);
    Bits used = 0;
    for (Index i = 0; i < part.size; ++i) {
      const auto its = static_cast<Bits>(numbers[i] & format.exponent);
      used = static_cast<Bits>(used | (its != 0 && its != format.exponent ? numbers[i] : 0));
      plain = plain && its != 0 && its < format.two;
    }
    const int unused = used == 0 ? format.fraction : std::min(format.fraction, std::countr_zero(used));
    const auto up_to = [&](int end) { return (std::uint64_t{1} << end) - (std::uint64_t{1} << unused); };
    out.below_two = up_to(format.fraction);
    // A quarter of the digits of a type as short as that.
    out.of_others = up_to(std::min(format.fraction, std::max(format.small, unused + 2)));
  });
  return out;
}

bool turns(const BufferView& part) {
  return (part.role == Role::changing || part.role == Role::permuted) && part.size > 1;
}

}  // namespace

Content::Content(std::vector<BufferView> parts, Salting salting)
    : parts_(std::move(parts)), states_(parts_.size()), salting_(std::move(salting)) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const BufferView& part = parts_[i];
    states_[i].digests = digests(part);
    const bool takes_other_values = part.role == Role::changing && part.salt != nullptr;
    if (takes_other_values && salting_.setting.fill != Fill::exact)
      states_[i].free_bits = free_bits(part, states_[i].plain);
    if (part.role == Role::redrawn) {
      states_[i].original.assign(part.data, part.data + part.bytes());
      states_[i].original_digests = states_[i].digests;
    }
    bytes_ += part.bytes();
  }
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
    const std::uint64_t drawn = rng.next();
    const FlippedBits bits{drawn & states_[i].free_bits.below_two, drawn & states_[i].free_bits.of_others};
    turn_blocks(part, by, true, [&](std::byte* data, std::size_t size) {
      flip_bits(part.type, data, size, bits ^ states_[i].bits, states_[i].plain);
    });
    states_[i].turned += by;
    states_[i].bits = bits;
  }
  salt(rng);
}

bool Content::nudge(bool change) {
  bool any = false;
  for (const BufferView& part : parts_) {
    if (!turns(part)) continue;
    with_format(part.type, [&](const auto&) { any = true; });
    // Either way all of it is written.
    turn_blocks(part, 0, true, [&](std::byte* data, std::size_t size) {
      flip_bits(part.type, data, size, change ? FlippedBits{1, 1} : FlippedBits{}, false);
    });
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
    states_[i].digests = states_[i].original_digests;
  }
}

void Content::restore() {
  put_back();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    State& state = states_[i];
    if (state.turned == 0) continue;
    turn_blocks(parts_[i], std::exchange(state.turned, 0), false, [&](std::byte* data, std::size_t size) {
      flip_bits(parts_[i].type, data, size, state.bits, state.plain);
    });
    state.bits = {};
  }
}

void Content::used_by(const void* user) {
  if (std::ranges::find(users_, user) == users_.end()) users_.push_back(user);
}

std::string_view Content::written_part(Look look, const std::function<void()>& make_again) {
  const bool all = look == Look::all || seeking_ || bytes_ <= small_input;
  constexpr double most = 1 << 21;
  const double share = all ? 1 : look == Look::none ? 0 : most / static_cast<double>(bytes_);
  put_back_element();
  std::string_view written;
  for (std::size_t i = 0; i < parts_.size() && share > 0 && written.empty(); ++i) {
    if (!is_as_it_was(i, share)) written = parts_[i].name;
  }
  put_back();
  // The other sides of a gate share the memory, and know nothing of these changes.
  if (salting_.setting.placement.memory != nullptr) restore();
  const bool alone = users_.size() <= 1;
  if (share >= 1) users_.clear();  // else it may have been one before these
  if (written.empty()) return {};
  make_again();
  for (State& state : states_) state.turned = 0, state.bits = {};
  users_.clear();
  seeking_ = true;
  return alone ? written : std::string_view();
}

bool Content::is_as_it_was(std::size_t part, double share) const {
  const BufferView& its = parts_[part];
  const State& state = states_[part];
  Rng rng(secret());
  std::vector<std::byte> before;  // a block, turned back
  std::size_t block = 0;
  bool out = true;
  each_block(its, [&](const std::byte* data, std::size_t size) {
    const std::uint64_t wanted = state.digests[block++];
    if (!out || (share < 1 && rng.unit() >= share)) return;
    const std::size_t first = size - static_cast<std::size_t>(state.turned) * its.width % size;
    before.assign(data + first, data + size);
    before.insert(before.end(), data, data + first);
    flip_bits(its.type, before.data(), size, state.bits, state.plain);
    out = digest(before.data(), size) == wanted;
  });
  return out;
}

void Content::redraw(std::size_t part) {
  for (Index at = 0; at < parts_[part].size; ++at) parts_[part].salt(salting_, parts_[part], at);
  states_[part].digests = digests(parts_[part]);
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
