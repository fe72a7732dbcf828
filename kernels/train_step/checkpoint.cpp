#include "train_step/checkpoint.hpp"

#include "assay/error.hpp"
#include "assay/ops/record_file.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace assay::train_step {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const std::string& doing, const fs::path& file, int code) {
  throw Error(file.string(), "cannot " + doing + ": " + std::generic_category().message(code),
              "set TMPDIR to a folder with free space that can be written");
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
  const fs::path unfinished = folder_ / "unfinished", file = folder_ / "parameters.checkpoint";
  std::ofstream out(unfinished, std::ios::binary);
  if (!out) cannot("open", unfinished, errno);
  const auto put = [&](const void* from, std::size_t bytes) {
    out.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
  };
  const std::array<std::uint64_t, 2> header{static_cast<std::uint64_t>(t),
                                            static_cast<std::uint64_t>(at.p.size())};
  put(header.data(), sizeof header);
  for (const Buffer<float>* each : {&at.p, &at.m, &at.v}) {
    put(each->data(), static_cast<std::size_t>(each->size()) * sizeof(float));
  }
  out.close();
  const auto give_up = [&](const char* doing, int code) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    cannot(doing, unfinished, code);
  };
  if (!out) give_up("write", errno);
  std::error_code failure;
  fs::rename(unfinished, file, failure);
  if (failure) give_up("rename", failure.value());
  file_ = file;
}

}  // namespace assay::train_step
