#include "assay/error.hpp"
#include "assay/ops/data_loader.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// Truncated between preparation and call: the variants that read the file in ways of their own.
class RetrievalFromATruncatedFile : public ::testing::TestWithParam<std::string> {};

TEST_P(RetrievalFromATruncatedFile, ThrowsAlsoOnThreads) {
  namespace fs = std::filesystem;
  const fs::path file = fs::path(::testing::TempDir()) / ("batch_retrieval_" + GetParam() + ".rec");
  for (const std::string options : {"", ",cache=cold"}) {
    write_record_file(file, {.records = 400, .bytes = 1000}, [](Index, std::span<std::byte>) {});
    const Registry registry = Registry::linked();
    const Operation& operation = registry.at("batch_retrieval");
    const auto named = std::ranges::find(operation.variants(), GetParam(), &VariantInfo::name);
    const auto variant = static_cast<std::size_t>(named - operation.variants().begin());
    const std::string text = "records=400,bytes=1000,batch=300" + options;
    if (operation.unfit(variant, text, {.threads = 2})) continue;
    const auto workload = operation.open(text, {.fill = Fill::uniform, .file = file});
    const auto timed = workload->timed(variant, {.threads = 2});
    fs::resize_file(file, 4096 + 5000);
    EXPECT_THAT([&] { timed->repeat(1); }, ::testing::ThrowsMessage<Error>(HasSubstr("was truncated")));
  }
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Variants, RetrievalFromATruncatedFile,
                         ::testing::Values("naive", "sorted", "prefetch_ahead", "random_advice", "willneed",
                                           "threaded", "io_uring"),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace assay
