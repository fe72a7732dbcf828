#include "core/files/this_program.hpp"

#include "assay/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

namespace assay {
namespace {

std::string typed_name = "assay";
Embedding embedding;

/// The variables that a process hands to the one that it starts.
void take_over(const ChildSetting& setting) {
  for (const auto& [name, value] : setting.environment) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  if (setting.printed != nullptr) setting.printed->take_over();
  if (setting.answers != nullptr) setting.answers->take_over();
  if (setting.output.empty()) return;
  const int file = open(setting.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  close(file);
}

}  // namespace

std::filesystem::path this_program() {
  const auto file = std::filesystem::read_symlink("/proc/self/exe");
  if (!std::filesystem::exists(file)) {
    throw Error(file.string(), "is gone: it was rebuilt or removed while it ran", "start it again");
  }
  return file;
}

void set_embedding(Embedding made) { embedding = std::move(made); }

std::string called_as() {
  if (embedding.words.empty()) return typed_name;
  std::string out;
  for (const std::string& word : embedding.words) out += (out.empty() ? "" : " ") + word;
  return out;
}

void set_called_as(const std::filesystem::path& typed) {
  if (typed.filename() != typed_name) typed_name = typed.string();
}

bool is_embedded() { return embedding.run != nullptr; }

pid_t start_this_program(const std::vector<std::string>& arguments, const ChildSetting& setting) {
  if (embedding.run && embedding.words.empty()) {
    return fork_child([&] {
      take_over(setting);
      return embedding.run(arguments);
    });
  }
  Command command{.words = embedding.words, .folder = {}};
  if (command.words.empty()) command.words.emplace_back("/proc/self/exe");
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return start_child(command, setting);
}

void start_anew_with(const Variables& variables, char** arguments) {
  bool lacks = false;
  for (const auto& [name, value] : variables) {
    if (!value || std::getenv(name.c_str()) != nullptr) continue;
    setenv(name.c_str(), value->c_str(), 1);
    lacks = true;
  }
  if (!lacks) return;
  std::error_code unknown;
  const auto file = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown) execv(file.c_str(), arguments);
}

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool is_embedded_side(const std::filesystem::path& program) { return program.string().starts_with('@'); }

}  // namespace assay
