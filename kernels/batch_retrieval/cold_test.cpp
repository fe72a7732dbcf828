#include "assay/ops/data_loader.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// One call of each variant on a file on disk whose pages are all in memory before.
class ColdRetrieval : public ::testing::TestWithParam<std::string> {};

TEST_P(ColdRetrieval, EndsWithNoPageOfTheFileInMemory) {
  if (!scratch_disk_is_a_disk()) GTEST_SKIP() << "TMPDIR lies in memory";
  const fs::path file = scratch_folder() / ("cold_" + GetParam() + ".rec");
  write_record_file(file, {.records = 400, .bytes = 1000}, [](Index, std::span<std::byte>) {});
  const RecordFile watched(file);
  RecordFile(file).verify();
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("batch_retrieval");
  const auto named = std::ranges::find(operation.variants(), GetParam(), &VariantInfo::name);
  const auto variant = static_cast<std::size_t>(named - operation.variants().begin());
  const std::string problem = "records=400,bytes=1000,batch=300,cache=cold";
  if (const auto reason = operation.unfit(variant, problem, {})) GTEST_SKIP() << *reason;
  const auto workload = operation.open(problem, {.fill = Fill::uniform, .file = file});
  // The first call drops earlier pages, unless another mapping holds them.
  workload->timed(variant, {})->repeat(2);
  EXPECT_EQ(watched.mapping().resident(), 0);
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Variants, ColdRetrieval,
                         ::testing::Values("naive", "sorted", "prefetch_ahead", "random_advice", "willneed",
                                           "threaded", "io_uring"),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace assay
