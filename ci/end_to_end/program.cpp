#include "program.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace assay::testing {
namespace {

/// Whoever runs these tests may divide them among shards, or run them on GitHub. The program under test would
/// honour that too.
constexpr const char* unset_variables =
    "unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX GTEST_SHARD_STATUS_FILE TEST_TOTAL_SHARDS TEST_SHARD_INDEX "
    "TEST_SHARD_STATUS_FILE TESTBRIDGE_TEST_ONLY XML_OUTPUT_FILE GITHUB_ACTIONS GITHUB_STEP_SUMMARY "
    "GITHUB_OUTPUT; ";

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::string Finished::last_lines(int count) const {
  std::size_t from = output.size();
  for (int seen = 0; from > 0; --from) {
    if (output[from - 1] == '\n' && from != output.size() && ++seen == count) break;
  }
  return output.substr(from);
}

Finished run_shell(const std::string& command, const std::filesystem::path& folder) {
  const Folder capture;
  const auto out = capture.path() / "out", err = capture.path() / "err";
  const std::string line = std::string(unset_variables) + "cd '" + folder.string() + "' && { " + command +
                           "; } >'" + out.string() + "' 2>'" + err.string() + "' </dev/null";
  const int status = std::system(line.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return {code, contents(out), contents(err)};
}

Finished run_program(const std::string& arguments, const std::filesystem::path& folder,
                     const std::string& plant) {
  return run_shell("ASSAY_PLANT='" + plant + "' '" ASSAY_PROGRAM "' " + arguments, folder);
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder at " + name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Folder::write(const std::string& name, const std::string& content) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

std::string Folder::read(const std::string& name) const { return contents(path_ / name); }

std::string Folder::listing() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(path_).string());
  }
  std::ranges::sort(names);
  std::string out;
  for (const std::string& name : names) out += name + '\n';
  return out;
}

}  // namespace assay::testing
