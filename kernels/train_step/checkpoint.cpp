#include "train_step/checkpoint.hpp"

#include "assay/error.hpp"
#include "assay/ops/record_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <system_error>

namespace assay::train_step {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const std::string& doing, const fs::path& file, int code) {
  throw Error(file.string(), "cannot " + doing + ": " + std::generic_category().message(code),
              "set TMPDIR to a folder with free space that can be written");
}

/// Closes a file, and removes it unless it was kept.
struct Unfinished {
  int descriptor = -1;
  fs::path file;
  ~Unfinished() {
    if (descriptor >= 0) ::close(descriptor);
    if (!file.empty()) ::unlink(file.c_str());
  }
};

void write_whole(const Unfinished& out, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(out.descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot("write", out.file, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

fs::path new_folder() {
  std::string name = (scratch_folder() / "assay-checkpoints-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) cannot("make", name, errno);
  return name;
}

}  // namespace

Checkpoints::~Checkpoints() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Checkpoints::write(const training::Parameters& at, Index t) {
  if (folder_.empty()) folder_ = new_folder();
  Unfinished out{.file = folder_ / "unfinished"};
  out.descriptor = ::open(out.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out.descriptor < 0) cannot("open", out.file, errno);
  const std::array<std::uint64_t, 2> header{static_cast<std::uint64_t>(t),
                                            static_cast<std::uint64_t>(at.p.size())};
  write_whole(out, std::as_bytes(std::span(header)));
  for (const Buffer<float>* each : {&at.p, &at.m, &at.v}) {
    write_whole(out, std::as_bytes(std::span(each->data(), static_cast<std::size_t>(each->size()))));
  }
  const fs::path file = folder_ / "parameters.checkpoint";
  if (::rename(out.file.c_str(), file.c_str()) != 0) cannot("rename", out.file, errno);
  out.file.clear();
  file_ = file;
}

}  // namespace assay::train_step
