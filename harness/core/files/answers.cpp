#include "core/files/answers.hpp"

#include "assay/error.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace assay {
namespace {

/// Before the bytes of each answer stands how many there are: so many are no answer.
using Size = std::uint64_t;
constexpr Size most = Size{1} << 30;

}  // namespace

Answers::Answers() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error("the answers of a process", std::strerror(errno), "raise the limit on open files");
  parent_end_ = Descriptor(ends[0]);
  child_end_ = Descriptor(ends[1]);
  fcntl(parent_end(), F_SETFL, O_NONBLOCK);
}

void Answers::send(const std::string& answer) const {
  const Size size = answer.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes += answer;
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t sent = ::send(descriptor(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) _exit(cut_off);
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
}

void Answers::seal() const {
  shutdown(descriptor(), SHUT_WR);
  char seen = 0;
  while (recv(descriptor(), &seen, 1, 0) < 0 && errno == EINTR) {
  }
}

void Answers::read() {
  constexpr std::size_t at_once = 1 << 16;
  std::array<char, at_once> part;
  // No more than that at once: who sends on and on does not keep the parent from looking at clocks.
  constexpr int parts = 256;
  for (int i = 0; i < parts && !sealed_; ++i) {
    const ssize_t count = recv(parent_end(), part.data(), part.size(), 0);
    if (count < 0) return;
    if (!spoilt_) rest_.append(part.data(), static_cast<std::size_t>(count));
    take_whole();
    if (count > 0) continue;
    sealed_ = true;
    spoilt_ = spoilt_ || !rest_.empty();
    if (look_) look_();
    constexpr char seen = 1;
    static_cast<void>(::send(parent_end(), &seen, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

void Answers::take_whole() {
  std::size_t at = 0;
  while (!spoilt_ && rest_.size() - at >= sizeof(Size)) {
    Size size = 0;
    std::memcpy(&size, rest_.data() + at, sizeof size);
    spoilt_ = size > most;
    if (spoilt_ || rest_.size() - at - sizeof size < size) break;
    at += sizeof size;
    all_.push_back(rest_.substr(at, size));
    at += size;
  }
  rest_.erase(0, at);
}

}  // namespace assay
