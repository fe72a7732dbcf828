#include "core/code/instruction.hpp"

namespace assay {
namespace {

/// What follows an opcode.
struct Layout {
  bool known = true;
  bool has_modrm = false;
  std::size_t immediate = 0;        // bytes
  std::size_t branch_distance = 0;  // bytes
};

constexpr Layout unknown{.known = false};
constexpr Layout alone{};

Layout modrm_and(std::size_t immediate) { return {.has_modrm = true, .immediate = immediate}; }
Layout only(std::size_t immediate) { return {.immediate = immediate}; }
Layout branch(std::size_t bytes) { return {.branch_distance = bytes}; }

/// Opcodes of two bytes, 0F xx; of VEX and EVEX as well, where all but vzeroupper have a ModRM byte.
Layout second_map(unsigned op, bool is_vector) {
  if (op == 0x70 || op == 0x71 || op == 0x72 || op == 0x73 || op == 0xc2 || (op >= 0xc4 && op <= 0xc6)) {
    return modrm_and(1);
  }
  if (op == 0x77) return alone;
  if (is_vector) return modrm_and(0);
  if (op >= 0x80 && op <= 0x8f) return branch(4);
  if (op == 0xa4 || op == 0xac || op == 0xba) return modrm_and(1);
  const bool lone = (op >= 0x05 && op <= 0x09) || op == 0x0b || (op >= 0x30 && op <= 0x37) ||
                    (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf);
  if (lone) return alone;
  return op == 0x0f || op == 0x04 || op == 0x0a ? unknown : modrm_and(0);
}

/// Opcodes of one byte. `full` is an immediate of the operand's size, at most four bytes.
Layout first_map(unsigned op, std::size_t full, bool wide, unsigned reg) {
  if (op < 0x40) {
    switch (op & 7U) {
      case 4: return only(1);
      case 5: return only(full);
      case 6:
      case 7: return unknown;
      default: return modrm_and(0);
    }
  }
  if (op < 0x60) return alone;
  if (op >= 0x70 && op <= 0x7f) return branch(1);
  if (op >= 0x84 && op <= 0x8f) return modrm_and(0);
  if (op >= 0x90 && op <= 0x9f) return op == 0x9a ? unknown : alone;
  if (op >= 0xa0 && op <= 0xa3) return only(8);
  if (op >= 0xb0 && op <= 0xb7) return only(1);
  if (op >= 0xb8 && op <= 0xbf) return only(wide ? 8 : full);
  if ((op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf)) return modrm_and(0);
  if (op >= 0xe0 && op <= 0xe3) return branch(1);
  if (op >= 0xe4 && op <= 0xe7) return only(1);
  switch (op) {
    case 0x63:
    case 0xfe:
    case 0xff: return modrm_and(0);
    case 0x68:
    case 0xa9: return only(full);
    case 0x69:
    case 0x81:
    case 0xc7: return modrm_and(full);
    case 0x6a:
    case 0xa8:
    case 0xcd: return only(1);
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6: return modrm_and(1);
    case 0xc2:
    case 0xca: return only(2);
    case 0xc8: return only(3);
    case 0xe8:
    case 0xe9: return branch(4);
    case 0xeb: return branch(1);
    case 0xf6: return modrm_and(reg < 2 ? 1 : 0);
    case 0xf7: return modrm_and(reg < 2 ? full : 0);
    case 0x60:
    case 0x61:
    case 0x82:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea: return unknown;
    default: return alone;
  }
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  Instruction decode() {
    const Layout layout = opcode();
    if (!layout.known) return {};
    if (layout.has_modrm) operands();
    if (layout.branch_distance > 0) {
      out_.distance = at_;
      out_.distance_size = layout.branch_distance;
      out_.branches = true;
    }
    at_ += layout.immediate + layout.branch_distance;
    if (at_ > bytes_.size()) return {};
    out_.length = at_;
    return out_;
  }

 private:
  /// Zero beyond the end: the length then tells that it was beyond.
  unsigned byte(std::size_t at) const {
    return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0;
  }
  unsigned next() { return byte(at_++); }

  static bool is_prefix(unsigned value) {
    return value == 0x66 || value == 0x67 || value == 0xf0 || value == 0xf2 || value == 0xf3 ||
           value == 0x2e || value == 0x36 || value == 0x3e || value == 0x26 || value == 0x64 || value == 0x65;
  }

  /// Of the maps that VEX and EVEX number.
  static Layout vector(unsigned map, unsigned op) {
    switch (map) {
      case 1: return second_map(op, true);
      case 2:
      case 5:
      case 6: return modrm_and(0);
      case 3: return modrm_and(1);
      default: return unknown;
    }
  }

  Layout opcode() {
    bool half = false, wide = false;
    while (at_ < bytes_.size() && is_prefix(byte(at_))) half |= next() == 0x66;
    if (byte(at_) >= 0x40 && byte(at_) <= 0x4f) wide = (next() & 8U) != 0;
    const unsigned op = next();
    if (op == 0xc5) {
      ++at_;
      return vector(1, next());
    }
    if (op == 0xc4) {
      const unsigned map = byte(at_) & 0x1fU;
      at_ += 2;
      return vector(map, next());
    }
    if (op == 0x62) {
      const unsigned map = byte(at_) & 7U;
      at_ += 3;
      return vector(map, next());
    }
    if (op != 0x0f) return first_map(op, half && !wide ? 2 : 4, wide, byte(at_) >> 3U & 7U);
    const unsigned second = next();
    if (second == 0x38) return ++at_, modrm_and(0);
    if (second == 0x3a) return ++at_, modrm_and(1);
    return second_map(second, false);
  }

  void operands() {
    const unsigned modrm = next(), mod = modrm >> 6U, rm = modrm & 7U;
    if (mod == 3) return;
    const bool has_sib = rm == 4;
    const unsigned base = has_sib ? next() & 7U : rm;
    if (mod == 0 && rm == 5) {  // relative to the next instruction
      out_.distance = at_;
      out_.distance_size = 4;
    }
    at_ += mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  Instruction out_;
};

}  // namespace

Instruction decoded(std::string_view bytes) { return Decoder(bytes).decode(); }

}  // namespace assay
