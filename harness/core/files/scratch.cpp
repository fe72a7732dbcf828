#include "core/files/scratch.hpp"

#include "assay/error.hpp"
#include "core/files/child_process.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {
namespace {

/// The variables that temp_directory_path() asks, in its order.
std::string what_names_it() {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* value = std::getenv(name)) return std::string(name) + "=" + value;
  }
  return "/tmp";
}

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& what) {
  throw Error(folder.string(), what, "set TMPDIR to a folder that can be written");
}

std::filesystem::path folder_for_temporary_files() {
  std::error_code failure;
  std::filesystem::path out = std::filesystem::temp_directory_path(failure);
  if (!failure) return out;
  refuse(what_names_it(), "is no folder for temporary files: " + failure.message());
}

/// Start of a process, in clock ticks since the system's; nothing when there is none of that number. A number
/// is used again, but not with the same start.
std::optional<std::string> start_of(pid_t process) {
  constexpr std::size_t start = 22;
  const std::vector<std::string> fields = fields_of_stat("/proc/" + std::to_string(process) + "/stat");
  if (fields.size() <= start) return std::nullopt;
  return fields[start];
}

/// Whether the process runs that a folder is named for, `PROCESS-START-XXXXXX`; true of any other name.
bool may_be_in_use(const std::string& name) {
  const std::vector<std::string_view> parts = parts_of(name, '-');
  const auto process = number_from<pid_t>(parts.front());
  return !process || parts.size() < 3 || start_of(*process) == parts[1];
}

/// Returns the lock of a folder, or none while another process has it. That process may run in another
/// container, whose process numbers mean nothing here.
Descriptor locked(const std::filesystem::path& folder) {
  Descriptor out(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (out.value() >= 0 && flock(out.value(), LOCK_EX | LOCK_NB) != 0) out.close();
  return out;
}

/// Returns the folder of this user's folders. Refuses a link or a folder of another user, who could read and
/// change measured files.
std::filesystem::path folder_of_user() {
  std::filesystem::path out = folder_for_temporary_files() / ("assay-" + std::to_string(geteuid()));
  if (mkdir(out.c_str(), 0700) != 0 && errno != EEXIST) refuse(out, std::strerror(errno));
  struct stat found {};
  if (lstat(out.c_str(), &found) != 0) refuse(out, std::strerror(errno));
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid()) refuse(out, "is not a folder of this user");
  return out;
}

}  // namespace

int remove_abandoned(const std::filesystem::path& parent) {
  int out = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(parent, none)) {
    if (may_be_in_use(entry.path().filename().string())) continue;
    const Descriptor lock = locked(entry.path());
    if (lock.value() < 0) continue;
    std::error_code failure;
    std::filesystem::remove_all(entry.path(), failure);
    if (!failure) ++out;
  }
  return out;
}

ScratchFolder::ScratchFolder() {
  const std::filesystem::path parent = folder_of_user();
  static const int removed = remove_abandoned(parent);
  static_cast<void>(removed);
  const std::string own = std::to_string(getpid()) + "-" + start_of(getpid()).value_or("0") + "-XXXXXX";
  std::string name = (parent / own).string();
  if (mkdtemp(name.data()) == nullptr) refuse(name, std::strerror(errno));
  path_ = name;
  lock_ = locked(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

FileLock::FileLock(const std::filesystem::path& file, std::string_view work, const Hooks& hooks)
    // Children must not inherit it: one that outlives this process would go on holding the lock.
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  const auto cannot = [&](std::string_view doing) {
    return Error(file.string(), fmt::format("cannot {}: {}", doing, std::generic_category().message(errno)),
                 "check the permissions of its folder");
  };
  if (file_.value() < 0) throw cannot("open");
  bool told = false;
  while (flock(file_.value(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) throw cannot("lock");
    if (hooks.stopped()) throw Stopped{};
    if (!told) hooks.say(fmt::format("waiting for another process: {}", work));
    told = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace assay
