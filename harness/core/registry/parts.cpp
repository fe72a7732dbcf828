#include "core/registry/parts.hpp"

#include "assay/random.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace assay::detail {

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
