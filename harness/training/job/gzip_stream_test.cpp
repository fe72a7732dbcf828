#include "training/job/trace.hpp"

#include "assay/error.hpp"
#include "training/job/scratch_file_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// 200,000 bytes that do not pack into one piece.
std::string numbers() {
  std::string out;
  for (int i = 0; out.size() < 200000; ++i) out += std::to_string(i * 7919) + "\n";
  return out;
}

TEST(GzipStream, ReadsPackedAndPlainFilesAlike) {
  const ScratchFile plain(numbers()), packed(gzipped(numbers()));
  EXPECT_EQ(unpacked(plain.path()), numbers());
  EXPECT_EQ(unpacked(packed.path()), numbers());
  EXPECT_EQ(unpacked(packed.path(), 5), numbers().substr(0, 5));
  EXPECT_EQ(unpacked(ScratchFile("abc").path(), 5), "abc");
}

TEST(GzipStream, RefusesAFileThatIsCutOff) {
  const std::string whole = gzipped(numbers());
  const ScratchFile cut(whole.substr(0, whole.size() / 2));
  EXPECT_THAT([&] { unpacked(cut.path()); }, ThrowsMessage<Error>(HasSubstr("ends in the middle")));
  const ScratchFile without_check(whole.substr(0, whole.size() - 3));
  EXPECT_THAT([&] { unpacked(without_check.path()); }, ThrowsMessage<Error>(HasSubstr("ends in the middle")));
}

TEST(GzipStream, RefusesADamagedFile) {
  std::string damaged = gzipped(numbers());
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 50; ++i) damaged[i] = '\xff';
  const ScratchFile file(damaged);
  EXPECT_THAT([&] { unpacked(file.path()); }, ThrowsMessage<Error>(HasSubstr("cannot be unpacked")));
}

TEST(GzipStream, RefusesWhatIsNoFile) {
  EXPECT_THAT([] { unpacked("/nowhere/at/all"); }, ThrowsMessage<Error>(HasSubstr("there is no such file")));
  EXPECT_THAT([] { unpacked("/"); }, ThrowsMessage<Error>(HasSubstr("is a folder")));
}

}  // namespace
}  // namespace assay
