#include "core/registry/content.hpp"

#include <algorithm>
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

/// Elements turn from one content of a part to the next, in which other bits are flipped.
struct Change {
  FlippedBits free_bits;
  std::uint64_t before = 0, after = 0;  ///< seeds of their patterns; 0: no bits are flipped
};

/// Copies a block, turned to the left by `first` bytes, as Change says.
void copy_turned(const BufferView& part, const std::byte* block, std::byte* to, const std::byte* from,
                 const std::byte* kept, std::size_t size, std::size_t first, const Change& change) {
  const auto place = static_cast<std::size_t>(block - part.data) / part.width;
  // Places of short numbers wrap around.
  const auto pattern = [&](std::uint64_t seed, std::size_t begin) {
    return FlipPattern{.seed = seed == 0 ? 0 : seed + 2 * (place >> 12), .first = place + begin / part.width};
  };
  const auto copy = [&](std::size_t end, const std::byte* source, std::size_t begin, std::size_t bytes) {
    copy_flipped(part.type, to + end, source, bytes, change.free_bits, pattern(change.before, begin),
                 pattern(change.after, end));
  };
  copy(0, from + first, first, size - first);
  copy(size - first, kept, 0, first);
}

/// Turns the elements of each block to the left by `by` of them, or to the right by as many.
void turn_blocks(const BufferView& part, Index by, bool left, const Change& change) {
  std::vector<std::byte> kept;
  each_block(part, [&](std::byte* data, std::size_t size) {
    const std::size_t turned = static_cast<std::size_t>(by) * part.width % size;
    const std::size_t first = left ? turned : (size - turned) % size;
    kept.assign(data, data + first);
    copy_turned(part, data, data, data, kept.data(), size, first, change);
  });
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
    if (takes_other_values && salting_.setting.fill != Fill::exact) states_[i].free_bits = free_bits(part);
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
  salting_.setting.alone = what == Renewal::one_element;
  if (salting_.setting.alone) {
    put_back_element();
    return salt(rng);
  }
  put_back();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const BufferView& part = parts_[i];
    if (part.role == Role::redrawn) redraw(i);
    if (!turns(part)) continue;
    const Index by = rng.integer(1, std::min(part.size, turned_together(part)) - 1);
    const std::uint64_t pattern = rng.next() | 1;
    turn_blocks(part, by, true, {states_[i].free_bits, std::exchange(states_[i].pattern, pattern), pattern});
    states_[i].turned += by;
  }
  salt(rng);
}

bool Content::nudge(bool change) {
  bool any = false;
  for (const BufferView& part : parts_) {
    if (!turns(part)) continue;
    any = any || is_floating(part.type);
    // Either way all of it is written.
    copy_flipped(part.type, part.data, part.data, part.bytes(), change ? FlippedBits{1, 1} : FlippedBits{});
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
    turn_blocks(parts_[i], std::exchange(state.turned, 0), false,
                {state.free_bits, std::exchange(state.pattern, 0), 0});
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
  if (salting_.setting.placement.shared) restore();
  const bool alone = users_.size() <= 1;
  if (share >= 1) users_.clear();  // else it may have been one before these
  if (written.empty()) return {};
  make_again();
  for (State& state : states_) state.turned = 0, state.pattern = 0;
  users_.clear();
  seeking_ = true;
  return alone ? written : std::string_view();
}

bool Content::is_as_it_was(std::size_t part, double share) const {
  const BufferView& its = parts_[part];
  const State& state = states_[part];
  Rng rng(secret());
  std::vector<std::byte> before;  // a block, turned back, with its bits
  std::size_t block = 0;
  bool out = true;
  each_block(its, [&](const std::byte* data, std::size_t size) {
    const std::uint64_t wanted = state.digests[block++];
    if (!out || (share < 1 && rng.unit() >= share)) return;
    const std::size_t first = size - static_cast<std::size_t>(state.turned) * its.width % size;
    before.resize(size);
    copy_turned(its, data, before.data(), data, data, size, first, {state.free_bits, state.pattern, 0});
    out = digest(before.data(), size) == wanted;
  });
  return out;
}

void Content::redraw(std::size_t part) {
  for (Index at = 0; at < parts_[part].size; ++at) parts_[part].salt(salting_, parts_[part], at);
  states_[part].digests = digests(parts_[part]);
}

void Content::salt(Rng& rng) {
  std::vector<std::size_t> candidates;
  // The elements of redrawn parts have other values already, unless one is to change alone.
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool may_change = parts_[i].role == Role::changing || salting_.setting.alone;
    if (may_change && parts_[i].salt != nullptr && parts_[i].size > 0) candidates.push_back(i);
  }
  if (candidates.empty()) return;
  const std::size_t part =
      candidates[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(candidates.size()) - 1))];
  salted_ = &parts_[part];
  salted_at_ = rng.integer(0, salted_->size - 1);
  std::byte* const element = salted_->element(salted_at_);
  std::memcpy(kept_.data(), element, salted_->width);
  if (salted_->role == Role::redrawn)
    std::memcpy(element, states_[part].original.data() + (element - salted_->data), salted_->width);
  salted_->salt(salting_, *salted_, salted_at_);
}

}  // namespace assay::detail
