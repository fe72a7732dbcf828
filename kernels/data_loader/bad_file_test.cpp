// Record files that are damaged or change under the loaders. Every variant refuses them before anything is
// timed, or throws from its call, with worker threads and without.

#include "assay/error.hpp"
#include "assay/ops/data_loader.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* loaders[] = {"", ",workers=2,prefetch=1",
                                   ",workers=3,prefetch=4,delivery=out,life=respawned"};

/// 40 records of 1,000 bytes, record i full of the byte i.
class LoaderThreadsOnABadFile : public ::testing::TestWithParam<std::string> {
 protected:
  LoaderThreadsOnABadFile()
      : file_(fs::path(::testing::TempDir()) /
              ("bad_file_" + std::to_string(::getpid()) + "_" + GetParam() + ".rec")) {
    write();
  }
  ~LoaderThreadsOnABadFile() override { fs::remove(file_); }

  /// Has a time in the past, so that a later write shows at any grain of the clock.
  void write() const {
    write_record_file(file_, {.records = 40, .bytes = 1000}, [](Index first, std::span<std::byte> block) {
      for (std::size_t at = 0; at < block.size(); ++at) {
        block[at] = static_cast<std::byte>(static_cast<std::size_t>(first) + at / 1000);
      }
    });
    fs::last_write_time(file_, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  void overwrite(Index at, std::string_view bytes) const {
    std::fstream out(file_, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(at);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::unique_ptr<Workload> opened(const std::string& loader) const {
    return operation().open("samples=40,bytes=1000,batch=7" + loader, {.fill = Fill::uniform, .file = file_});
  }
  const Operation& operation() const { return registry_.at("data_loader"); }
  std::size_t variant() const {
    const auto named = std::ranges::find(operation().variants(), GetParam(), &VariantInfo::name);
    return static_cast<std::size_t>(named - operation().variants().begin());
  }
  auto refused(const std::string& why) const {
    return ThrowsMessage<Error>(AllOf(HasSubstr(file_.string()), HasSubstr(why)));
  }

  fs::path file_;
  Registry registry_ = Registry::linked();
};

TEST_P(LoaderThreadsOnABadFile, ReadAGoodOne) {
  for (const char* loader : loaders) EXPECT_TRUE(opened(loader)->check(variant(), {}).agrees) << loader;
}

TEST_P(LoaderThreadsOnABadFile, NeverSeeOneThatIsDamaged) {
  for (const char* loader : loaders) {
    const auto opening = [&] { opened(loader); };
    write();
    overwrite(0, "ARROW1");
    EXPECT_THAT(opening, refused("does not start with ASSAYREC"));
    write();
    overwrite(8, "\x02");
    EXPECT_THAT(opening, refused("is of version 2"));
    write();
    overwrite(4096 + 17 * 1000 + 3, "x");
    EXPECT_THAT(opening, refused("checksum differs"));
    fs::resize_file(file_, 0);
    EXPECT_THAT(opening, refused("is empty"));
    fs::remove(file_);
    EXPECT_THAT(opening, refused("cannot open"));
    write();
  }
}

TEST_P(LoaderThreadsOnABadFile, ThrowWhenOneIsOverwrittenUnderThem) {
  for (const char* loader : loaders) {
    write();
    const auto workload = opened(loader);
    const auto timed = workload->timed(variant(), {});
    timed->repeat(2);
    overwrite(4096 + 17 * 1000 + 3, "x");
    EXPECT_THAT([&] { timed->repeat(1); }, refused("was written to while it was read")) << loader;
  }
}

TEST_P(LoaderThreadsOnABadFile, ThrowWhenOneIsTruncatedBetweenTwoPasses) {
  for (const char* loader : loaders) {
    write();
    const auto workload = opened(loader);
    const auto timed = workload->timed(variant(), {});
    timed->repeat(2);
    fs::resize_file(file_, 4096 + 39 * 1000);
    EXPECT_THAT([&] { timed->repeat(1); }, refused("was truncated from 44096 to 43096 bytes")) << loader;
  }
}

TEST_P(LoaderThreadsOnABadFile, GoOnWhenOneIsRemovedOrReplaced) {
  for (const char* loader : loaders) {
    write();
    const auto removed = opened(loader);
    fs::remove(file_);
    EXPECT_TRUE(removed->check(variant(), {}).agrees) << loader;
    write();
    const auto replaced = opened(loader);
    write_record_file(file_, {.records = 1, .bytes = 1}, [](Index, std::span<std::byte>) {});
    EXPECT_TRUE(replaced->check(variant(), {}).agrees) << loader;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LoaderThreadsOnABadFile,
                         ::testing::Values("naive", "worker_threads", "worker_threads_prefetch"),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace assay
