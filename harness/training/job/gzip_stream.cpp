#include "training/job/gzip_stream.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <cerrno>
#include <iterator>
#include <system_error>

namespace assay {

GzipStream::GzipStream(const std::filesystem::path& file, JsonMender* mender)
    : file_(nullptr, gzclose_r), name_(file.string()), mender_(mender) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (!std::filesystem::exists(status)) throw Error(name_, "there is no such file", "check the name");
  if (std::filesystem::is_directory(status)) throw Error(name_, "is a folder", "name a file in it");
  errno = 0;
  file_.reset(gzopen(name_.c_str(), "rb"));
  if (file_ == nullptr) {
    throw Error(name_, "cannot open: " + std::generic_category().message(errno), "check its permissions");
  }
}

GzipStream::int_type GzipStream::underflow() {
  const int count = gzread(file_.get(), piece_.data(), static_cast<unsigned>(piece_.size()));
  int code = Z_OK;
  const char* message = gzerror(file_.get(), &code);
  if (code == Z_BUF_ERROR) {
    throw Error(name_, "ends in the middle of its compressed data", "the file is cut off: copy it again");
  }
  if (count < 0 || code != Z_OK) {
    throw Error(name_, fmt::format("cannot be unpacked: {}", message), "the file is damaged: copy it again");
  }
  if (count == 0) return traits_type::eof();
  if (mender_ == nullptr) {
    setg(piece_.data(), piece_.data(), piece_.data() + count);
  } else {
    mended_ = mender_->mended({piece_.data(), static_cast<std::size_t>(count)});
    if (mended_.empty()) return underflow();
    setg(mended_.data(), mended_.data(), mended_.data() + mended_.size());
  }
  return traits_type::to_int_type(*gptr());
}

std::string unpacked(const std::filesystem::path& file, std::size_t most) {
  GzipStream in(file);
  std::string out;
  for (std::istreambuf_iterator<char> next(&in), end; next != end && out.size() < most; ++next) out += *next;
  return out;
}

}  // namespace assay
