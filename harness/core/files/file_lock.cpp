#include "core/files/file_lock.hpp"

#include "assay/error.hpp"
#include "core/files/child_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace assay {

FileLock::FileLock(const std::filesystem::path& file, std::string_view work, const Hooks& hooks)
    // Children must not inherit it: one that outlives this process would go on holding the lock.
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  const auto cannot = [&](std::string_view doing) {
    return Error(file.string(), fmt::format("cannot {}: {}", doing, std::generic_category().message(errno)),
                 "check the permissions of its folder");
  };
  if (file_ < 0) throw cannot("open");
  bool told = false;
  while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      const Error failure = cannot("lock");
      ::close(file_);
      throw failure;
    }
    if (hooks.stopped()) {
      ::close(file_);
      throw Stopped{};
    }
    if (!told) hooks.say(fmt::format("waiting for another process: {}", work));
    told = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

FileLock::~FileLock() { ::close(file_); }

}  // namespace assay
