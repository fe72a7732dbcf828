#include "app/teeth.hpp"

#include "assay/error.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace assay {
namespace {

/// The commit of the program that hands its arguments over.
constexpr const char* commit_variable = "ASSAY_TEETH_OF";

bool has_teeth(const Registry& registry) {
  return std::ranges::any_of(registry.operations(), [](const Operation* operation) {
    return std::ranges::any_of(operation->variants(),
                               [](const VariantInfo& one) { return one.kin() != Kin::sound; });
  });
}

/// A stale judge would find what this build's judge no longer does.
void require_same_build() {
  const char* const wanted = std::getenv(commit_variable);
  const std::string& here = build_info().commit;
  if (wanted == nullptr || wanted == here) return;
  const std::filesystem::path program = this_program();
  throw Error(program.string(),
              fmt::format("is of commit {}, and the program that starts it of {}", here, wanted),
              way_to_teeth(program));
}

std::vector<std::string> arguments_of_this_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> out;
  for (std::string word; std::getline(file, word, '\0');) out.push_back(word);
  return out;
}

}  // namespace

std::filesystem::path find_teeth(const std::filesystem::path& program, std::string_view path) {
  std::vector<std::filesystem::path> folders{program.parent_path()};
  std::istringstream rest{std::string(path)};
  for (std::string folder; std::getline(rest, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const std::filesystem::path& folder : folders) {
    std::filesystem::path file = folder / "assay-teeth";
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string way_to_teeth(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path();
  if (std::filesystem::exists(folder / "CMakeCache.txt"))
    return fmt::format("build it: cmake --build {} --target assay_teeth", shell_word(folder.string()));
  return "install the package assay-teeth, or the component teeth of a checkout:\n"
         "  cmake --build --preset release --target assay_teeth && "
         "cmake --install build/release --component teeth";
}

void require_teeth(const Registry& registry, std::string_view request) {
  if (has_teeth(registry)) return require_same_build();
  if (is_embedded()) {
    throw Error(std::string(request), "needs a program of its own, and this is an interpreter",
                fmt::format("run it in a shell: assay {}", request));
  }
  const std::filesystem::path program = this_program();
  const char* const path = std::getenv("PATH");
  const std::filesystem::path teeth = find_teeth(program, path != nullptr ? path : "");
  if (teeth.empty()) {
    throw Error(std::string(request),
                "needs the program assay-teeth, which has the kernels that are wrong or cheat",
                way_to_teeth(program));
  }
  std::vector<std::string> words = arguments_of_this_process();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv(commit_variable, build_info().commit.c_str(), 1);
  execv(teeth.c_str(), arguments.data());
  throw std::system_error(errno, std::generic_category(), teeth.string());
}

}  // namespace assay
