/// Answers of a child to its parent, which are out of the child's reach once they are sent.
#pragma once

#include "core/files/descriptor.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// They go through a socket, which nobody at the child's end can read back, open anew or change, as files,
/// shared memory and pipes can be. Kernels of a child have its memory and its descriptors, and may answer in
/// its place: so an answer is sent before anything else of a kernel runs, and after the last one the socket
/// takes no more. To read answers can wait for that: the parent is not woken while others are timed.
class Answers {
 public:
  /// In the parent. Throws Error.
  Answers();
  /// In a child that was given the descriptor.
  explicit Answers(int descriptor) : child_end_(descriptor) {}

  /// The child's end, which only that child keeps that is started with it (ChildSetting::answers).
  int descriptor() const { return child_end_.value(); }
  /// In a copy of this process: gives up the parent's end.
  void take_over() { parent_end_.close(); }
  /// In the child. Where a kernel has sealed or spoilt them, ends the process by the code `cut_off`.
  void send(const std::string& answer) const;
  static constexpr int cut_off = 71;
  /// In the child: says that this was all, and waits until the parent has seen it.
  void seal() const;

  /// In the parent: calls `look` at the seal, while the child waits.
  void when_sealed(std::function<void()> look) { look_ = std::move(look); }
  /// Reads what is there. Called by wait_for_children().
  void read();
  const std::vector<std::string>& all() const { return all_; }
  bool sealed() const { return sealed_; }
  /// Whether anything was sent that no child of this program sends.
  bool spoilt() const { return spoilt_; }
  int parent_end() const { return parent_end_.value(); }

 private:
  void take_whole();
  Descriptor parent_end_, child_end_;
  std::string rest_;  ///< that was read, and is not whole
  std::vector<std::string> all_;
  bool sealed_ = false, spoilt_ = false;
  std::function<void()> look_;
};

}  // namespace assay
