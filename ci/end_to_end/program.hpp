/// Starts the program as a user would and keeps what it said.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace assay::testing {

/// Two products and an addition of few numbers.
inline constexpr const char* tiny_suite =
    R"({"schema": 1, "name": "tiny", "about": "end to end", "steps_per_epoch": 10,
 "cases": [{"op": "gemm", "m": 24, "n": 24, "k": 25, "per_step": 2},
           {"op": "gemm", "m": 16, "n": 40, "k": 33, "per_step": 1},
           {"op": "elementwise_add", "n": 1, "c": 2, "h": 16, "w": 16, "per_step": 1}]})";

struct Finished {
  int exit_code = -1;  ///< or minus the signal that ended it
  std::string output, errors;
  /// The last lines of the output, where the verdict stands.
  std::string last_lines(int count) const;
};

/// Runs `arguments` of the program under test through sh, in `folder`, with ASSAY_FAULT set to `plant`.
Finished run_program(const std::string& arguments, const std::filesystem::path& folder,
                     const std::string& plant = "");

/// Runs any command through sh in `folder`.
Finished run_shell(const std::string& command, const std::filesystem::path& folder);

/// A folder of this test alone, empty, removed with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  /// Names of all files below, sorted.
  std::string listing() const;

 private:
  std::filesystem::path path_;
};

/// The program under test while it runs.
class Running {
 public:
  Running(const std::string& arguments, const std::filesystem::path& folder, const std::string& plant = "");
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  void send(int signal);
  Finished wait();

 private:
  Folder capture_;
  pid_t process_ = 0;
};

}  // namespace assay::testing
