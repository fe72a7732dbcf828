#include "training/job/gzip_stream.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace assay {

struct GzipStream::File {
  gzFile handle = nullptr;
  ~File() {
    if (handle != nullptr) gzclose_r(handle);
  }
};

GzipStream::GzipStream(const std::filesystem::path& file)
    : file_(std::make_unique<File>()), name_(file.string()) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (!std::filesystem::exists(status)) throw Error(name_, "there is no such file", "check the name");
  if (std::filesystem::is_directory(status)) throw Error(name_, "is a folder", "name a file in it");
  errno = 0;
  file_->handle = gzopen(name_.c_str(), "rb");
  if (file_->handle == nullptr) {
    throw Error(name_, "cannot open: " + std::generic_category().message(errno), "check its permissions");
  }
  gzbuffer(file_->handle, 1 << 16);
}

GzipStream::~GzipStream() = default;

GzipStream::int_type GzipStream::underflow() {
  const int count = gzread(file_->handle, piece_.data(), static_cast<unsigned>(piece_.size()));
  int code = Z_OK;
  const char* message = gzerror(file_->handle, &code);
  if (code == Z_BUF_ERROR) {
    throw Error(name_, "ends in the middle of its compressed data", "the file is cut off: copy it again");
  }
  if (count < 0 || code != Z_OK) {
    throw Error(name_, fmt::format("cannot be unpacked: {}", message), "the file is damaged: copy it again");
  }
  if (count == 0) return traits_type::eof();
  setg(piece_.data(), piece_.data(), piece_.data() + count);
  return traits_type::to_int_type(piece_.front());
}

std::string beginning_of(const std::filesystem::path& file, std::size_t most) {
  GzipStream in(file);
  std::string out(most, '\0');
  out.resize(static_cast<std::size_t>(in.sgetn(out.data(), static_cast<std::streamsize>(most))));
  return out;
}

std::string unpacked(const std::filesystem::path& file) {
  GzipStream in(file);
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string out;
  for (std::streamsize count = 1; count > 0;) {
    const std::size_t before = out.size();
    out.resize(before + piece);
    count = in.sgetn(out.data() + before, static_cast<std::streamsize>(piece));
    out.resize(before + static_cast<std::size_t>(std::max<std::streamsize>(0, count)));
  }
  return out;
}

}  // namespace assay
