#include "assay/files.hpp"
#include "assay/error.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/this_program.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Whether all of it was written; errno says what went wrong.
bool writes(const Descriptor& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file.value(), content.data(), content.size());
    if (count < 0 && errno != EINTR) return false;
    content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

[[noreturn]] void cannot(const fs::path& file, std::string_view doing, int code, const std::string& remedy) {
  throw Error(file.string(), fmt::format("cannot {}: {}", doing, std::generic_category().message(code)),
              remedy);
}

void write_directly(const fs::path& file, const std::string& content) {
  // Appending, since /dev/stdout may stand for a file that others write to as well.
  Descriptor out(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (out.value() < 0) cannot(file, "open for writing", errno, "check its permissions");
  if (!writes(out, content) || out.close() != 0)
    cannot(file, "write", errno, "free some space or name another file");
}

bool is_written_directly(const fs::path& file) {
  std::error_code ignored;
  const auto status = fs::status(file, ignored);
  return (fs::exists(status) && !fs::is_regular_file(status)) || file.string().starts_with("/dev/");
}

}  // namespace

void write_file(const fs::path& file, const std::string& content) {
  if (fs::is_directory(file)) throw Error(file.string(), "is a folder", "name a file in it");
  if (is_written_directly(file)) return write_directly(file, content);
  // The file that a link stands for: renaming over the link would replace it.
  std::error_code failure;
  fs::path target = fs::canonical(file, failure);
  if (failure) target = file;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw Error(file.string(), fmt::format("there is no folder {}", folder.string()),
                fmt::format("make it: mkdir -p '{}'", folder.string()));
  }
  fs::path temporary = target;
  temporary += fmt::format(".{}.tmp", ::getpid());

  Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (out.value() < 0)
    cannot(file, fmt::format("write into {}", folder.string()), errno, "check its permissions");
  const auto give_up = [&](std::string_view doing, int code) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    cannot(file, doing, code, "free some space or name another file; the old content is untouched");
  };
  if (!writes(out, content) || ::fsync(out.value()) != 0 || out.close() != 0) give_up("write", errno);
  fs::rename(temporary, target, failure);
  if (failure) give_up("rename the finished file", failure.value());
}

fs::path cache_folder() {
  fs::path folder = variable("XDG_CACHE_HOME").value_or("");
  if (!folder.is_absolute()) {  // as the specification of these folders demands
    folder = variable("HOME").value_or("");
    if (!folder.is_absolute()) return {};
    folder /= ".cache";
  }
  return folder / "assay";
}

std::string read_file(const fs::path& file) {
  std::error_code failure;
  const auto status = fs::status(file, failure);
  if (!fs::exists(status)) throw Error(file.string(), "there is no such file", "check the name");
  if (fs::is_directory(status)) throw Error(file.string(), "is a folder", "name a file in it");
  std::ifstream in(file, std::ios::binary);
  if (!in) cannot(file, "open", errno, "check its permissions");
  // In pieces: an iterator over characters takes a second for ten megabytes, and half a minute unoptimized.
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string content;
  while (in.good()) {
    const std::size_t before = content.size();
    content.resize(before + piece);
    in.read(content.data() + before, static_cast<std::streamsize>(piece));
    content.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) cannot(file, "read", errno, "check the disk");
  return content;
}

}  // namespace assay
