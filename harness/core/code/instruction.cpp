#include "core/code/instruction.hpp"

namespace assay {
namespace {

/// The bytes that follow an opcode.
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

/// Opcodes of one byte, sixteen a row. `-` none, `.` nothing follows, `M` ModRM, `N` ModRM and a byte, `F`
/// ModRM and an immediate of the operand's size, at most four bytes, `f` that immediate alone, `b` a byte,
/// `w` two, `e` three, `a` an address of eight, `v` an immediate that may have eight, `j` and `J` a branch by
/// one or four bytes, `t` and `T` as `N` and `F` where ModRM says test.
constexpr std::string_view first_map =
    "MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--"
    "................................--.M....fFbN....jjjjjjjjjjjjjjjj"
    "NF-NMMMMMMMMMMMM..........-.....aaaa....bf......bbbbbbbbvvvvvvvv"
    "NNw...NFe.w..b-.MMMM---.MMMMMMMMjjjjbbbbJJ-j..........tT......MM";
/// Opcodes of two bytes, 0F xx. `n` as `N`, of VEX and EVEX as well, where all others but vzeroupper have
/// ModRM alone.
constexpr std::string_view second_map =
    "MMMM-.....-.MMM-MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM........MMMMMMMM"
    "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMnnnnMMM.MMMMMMMM"
    "JJJJJJJJJJJJJJJJMMMMMMMMMMMMMMMM...MNMMM...MNMMMMMMMMMMMMMNMMMMM"
    "MMnMnnnM........MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM";

Layout layout_of(char letter, std::size_t full, bool wide, unsigned reg) {
  switch (letter) {
    case '.': return alone;
    case 'M': return modrm_and(0);
    case 'n':
    case 'N': return modrm_and(1);
    case 'F': return modrm_and(full);
    case 'f': return only(full);
    case 'b': return only(1);
    case 'w': return only(2);
    case 'e': return only(3);
    case 'a': return only(8);
    case 'v': return only(wide ? 8 : full);
    case 'j': return branch(1);
    case 'J': return branch(4);
    case 't': return modrm_and(reg < 2 ? 1 : 0);
    case 'T': return modrm_and(reg < 2 ? full : 0);
    default: return unknown;
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

  /// Returns the layout for an opcode of the map that VEX or EVEX names.
  static Layout vector(unsigned map, unsigned op) {
    switch (map) {
      case 1: return op == 0x77 ? alone : modrm_and(second_map[op] == 'n' ? 1 : 0);
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
    if (op != 0x0f) return layout_of(first_map[op], half && !wide ? 2 : 4, wide, byte(at_) >> 3U & 7U);
    const unsigned second = next();
    if (second == 0x38) return ++at_, modrm_and(0);
    if (second == 0x3a) return ++at_, modrm_and(1);
    return layout_of(second_map[second], 4, false, 0);
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
