#include "program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
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

/// The command in its folder, with what it says in files of `capture`.
std::string shell_line(const std::string& command, const std::filesystem::path& folder,
                       const Folder& capture) {
  return std::string(unset_variables) + "cd '" + folder.string() + "' && { " + command + "; } >'" +
         (capture.path() / "out").string() + "' 2>'" + (capture.path() / "err").string() + "' </dev/null";
}

Finished finished(int status, const Folder& capture) {
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return {code, capture.read("out"), capture.read("err")};
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
  return finished(std::system(shell_line(command, folder, capture).c_str()), capture);
}

Finished run_program(const std::string& arguments, const std::filesystem::path& folder,
                     const std::string& plant) {
  return run_shell("ASSAY_FAULT='" + plant + "' '" ASSAY_PROGRAM "' " + arguments, folder);
}

Running::Running(const std::string& arguments, const std::filesystem::path& folder,
                 const std::string& plant) {
  const std::string line =
      shell_line("ASSAY_FAULT='" + plant + "' exec '" ASSAY_PROGRAM "' " + arguments, folder, capture_);
  process_ = fork();
  if (process_ != 0) return;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);  // this may run under nohup
  execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
  _exit(127);
}

Running::~Running() {
  if (process_ <= 0) return;
  send(SIGKILL);
  wait();
}

void Running::send(int signal) { kill(process_, signal); }

Finished Running::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return finished(status, capture_);
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
