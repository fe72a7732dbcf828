// Every suite file is what suites/README.md says: its keys, its name, and the sums stated for its network.

#include "assay/suite.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

std::vector<std::filesystem::path> suite_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SUITES_DIR)) {
    // Claims are about suites, and none themselves.
    if (entry.path().extension() == ".json" && entry.path().stem() != "claims") out.push_back(entry.path());
  }
  return out;
}

json parsed(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return json::parse(stream);
}

json suite(const std::string& name) {
  return parsed(std::filesystem::path(ASSAY_SUITES_DIR) / (name + ".json"));
}

/// Counts the operations of products and convolutions; other cases count none.
double flops_of(const json& row) {
  const auto of = [&](const char* key, double usual) { return row.value(key, usual); };
  const std::string op = row.at("op");
  if (op == "gemm") return 2 * of("m", 0) * of("n", 0) * of("k", 0);
  if (!op.starts_with("conv2d")) return 0;
  const double kernel = of("kernel", 0), stride = of("stride", 1), pad = of("pad", 0);
  const double rows = std::floor((of("h", 0) + 2 * pad - kernel) / stride) + 1;
  const double columns = std::floor((of("w", 0) + 2 * pad - kernel) / stride) + 1;
  return 2 * of("n", 0) * of("f", 0) * of("c", 0) * kernel * kernel * rows * columns;
}

double flops_per_step(const json& suite) {
  double sum = 0;
  for (const json& row : suite.at("cases")) sum += flops_of(row) * row.at("per_step").get<double>();
  return sum;
}

/// Training jobs by the stem of their file.
std::map<std::string, json> jobs() {
  std::map<std::string, json> out;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SUITES_DIR "/jobs")) {
    if (entry.path().extension() == ".json") out[entry.path().stem().string()] = parsed(entry.path());
  }
  return out;
}

TEST(Suites, ThereAreSome) { EXPECT_GE(suite_files().size(), 5U); }

TEST(Suites, FullHasACaseOfEveryOperation) {
  std::set<std::string> missing;
  const assay::Registry registry = assay::Registry::linked();
  for (const assay::Operation* operation : registry.operations()) {
    missing.insert(std::string(operation->name()));
  }
  const json full = suite("full");
  for (const json& row : full.at("cases")) missing.erase(row.at("op").get<std::string>());
  EXPECT_TRUE(missing.empty()) << *missing.begin();
}

TEST(Suites, NameOperationsAndFieldsThatTheProgramKnows) {
  const assay::Registry registry = assay::Registry::linked();
  for (const auto& file : suite_files()) {
    EXPECT_NO_THROW(assay::load_suite(file, registry)) << file;
  }
}

TEST(Suites, HaveTheKeysOfTheFormatAndNoOther) {
  const std::set<std::string> keys{"schema", "name", "about", "steps_per_epoch", "cases"};
  for (const auto& file : suite_files()) {
    SCOPED_TRACE(file.filename().string());
    const json suite = parsed(file);
    for (const auto& [key, value] : suite.items()) EXPECT_TRUE(keys.contains(key)) << key;
    EXPECT_EQ(suite.at("schema"), 1);
    EXPECT_FALSE(suite.at("about").get<std::string>().empty());
    EXPECT_FALSE(suite.at("cases").empty());
  }
}

TEST(Suites, AreNamedForTheirFile) {
  for (const auto& file : suite_files()) EXPECT_EQ(parsed(file).at("name"), file.stem().string());
}

TEST(Suites, GiveIntegersOrWordsAsFieldsOfAProblem) {
  for (const auto& file : suite_files()) {
    SCOPED_TRACE(file.filename().string());
    const json suite = parsed(file);
    for (const json& row : suite.at("cases")) {
      EXPECT_TRUE(row.at("op").is_string());
      for (const auto& [key, value] : row.items()) {
        EXPECT_TRUE(value.is_number_integer() || value.is_string()) << row << " " << key;
      }
    }
  }
}

TEST(Suites, CountEveryCaseOfANetworkAndNoneOutsideOne) {
  for (const auto& file : suite_files()) {
    SCOPED_TRACE(file.filename().string());
    const json suite = parsed(file);
    const bool network = suite.value("steps_per_epoch", 0) > 0;
    for (const json& row : suite.at("cases")) EXPECT_EQ(row.value("per_step", 0) > 0, network) << row;
  }
}

TEST(Suites, RepeatNoCase) {
  for (const auto& file : suite_files()) {
    SCOPED_TRACE(file.filename().string());
    std::set<std::string> seen;
    const json suite = parsed(file);
    for (json row : suite.at("cases")) {
      row.erase("note");
      row.erase("per_step");
      EXPECT_TRUE(seen.insert(row.dump()).second) << row;
    }
  }
}

// Multiply-adds per image of C1, C3, C5, F6 and the output layer: 28*28*25*6 = 117,600, 10*10*150*16 =
// 240,000, 400*120 = 48,000, 120*84 = 10,080, 84*10 = 840; together 416,520. Two operations each, 64 images,
// three products less the data gradient of C1.
TEST(Suites, LenetSumsToTheArithmeticOfItsLayers) {
  EXPECT_EQ(flops_per_step(suite("lenet_mnist")), 2.0 * 64 * (3 * 416'520 - 117'600));
}

// Multiply-adds per image: stem 1,769,472; stage 1 4 * 37,748,736; the first convolution of the later stages
// 18,874,368 each, with 2,097,152 for its projection, and 3 * 37,748,736 for the others; classifier 5,120.
// Three products of each, less the data gradient of the stem; 32 images.
TEST(Suites, Resnet18SumsToTheArithmeticOfItsLayers) {
  const double stem = 1'769'472,
               others = 4 * 37'748'736.0 + 3 * (18'874'368.0 + 2'097'152 + 3 * 37'748'736.0);
  EXPECT_EQ(flops_per_step(suite("resnet18_cifar10")), 2 * 32 * (3 * (stem + others + 5'120) - stem));
}

TEST(Jobs, AreNamedForTheirFile) {
  EXPECT_EQ(jobs().size(), 5U);
  for (const auto& [stem, job] : jobs()) EXPECT_EQ(job.at("name"), stem);
}

// A label and the pixels, of a byte or four each. Generated records lie in memory.
TEST(Jobs, HaveRecordsOfLessThanHalfAGibibyte) {
  for (const auto& [stem, job] : jobs()) {
    const double number = job.at("pixels") == "bytes" ? 1 : 4, side = job.at("side");
    const double bytes = number * (1 + job.at("channels").get<double>() * side * side);
    const double records = job.at("samples").get<double>() + job.value("validation_samples", 0.0);
    EXPECT_LT(records * bytes, 0x1p29) << stem;
    EXPECT_TRUE(bytes >= 1024 || records >= 100'000) << stem << ": small records are many";
  }
}

TEST(Jobs, HaveRecordsFrom64BytesTo16KiB) {
  double smallest = 1e9, largest = 0;
  for (const auto& [stem, job] : jobs()) {
    const double number = job.at("pixels") == "bytes" ? 1 : 4, side = job.at("side");
    const double pixels = number * job.at("channels").get<double>() * side * side;
    smallest = std::min(smallest, pixels);
    largest = std::max(largest, pixels);
  }
  EXPECT_EQ(smallest, 64);
  EXPECT_EQ(largest, 16384);
}

TEST(Jobs, HaveValidationInOneAndCheckpointsInAnother) {
  const auto all = jobs();
  EXPECT_GT(all.at("classifier").value("validation_samples", 0), 0);
  EXPECT_GT(all.at("transformer").value("checkpoint_every", 0), 0);
}

// 6 * parameters * tokens, for 124,439,808 parameters of which 786,432 (positions), 82,944 (biases) and
// 38,400 (LayerNorm) meet no matrix product; and the attention products, 6 * 4 * 12 * 12 of them.
TEST(Suites, Gpt2SumsToSixTimesParametersTimesTokens) {
  const double parameters = 124'439'808 - 786'432 - 82'944 - 38'400;
  const double attention = 6.0 * 4 * 12 * 12 * 2 * 64 * 64 * 64;
  EXPECT_EQ(flops_per_step(suite("gpt2_124m")), 6 * parameters * 256 + attention);
}

}  // namespace
