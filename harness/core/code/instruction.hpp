// The length of an x86-64 instruction, and the place of the relative distance in it.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

// A distance counts from the end of its instruction. All other bytes of an instruction are equal in another
// link, since the code is position-independent.
struct Instruction {
  std::size_t length = 0;         // 0 where the bytes begin no instruction that is known
  std::size_t distance = 0;       // offset of its distance; 0 where it has none
  std::size_t distance_size = 0;  // 1 or 4
  bool branches = false;          // the distance leads to code: a call or a jump
};

// Decodes the instruction that `bytes` begins with: Intel 64 manual, volume 2, chapter 2 and appendix A, with
// VEX and EVEX. Knows no XOP and no 3DNow.
Instruction decoded(std::string_view bytes);

}  // namespace assay
