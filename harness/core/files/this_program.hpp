/// The program that runs, and copies of it.
#pragma once

#include "core/files/child_process.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

/// Its file. Throws Error when that is gone, as after a rebuild while it runs.
std::filesystem::path this_program();

/// The way in which copies start where the file of this process is no such program: that of an interpreter,
/// say, which has the program as a library.
struct Embedding {
  /// They start it anew, such as an interpreter and its script. None: a copy of this process does the rest.
  std::vector<std::string> words;
  std::function<int(const std::vector<std::string>& arguments)> run;
};
/// To be called once, before anything else.
void set_embedding(Embedding embedding);

/// One more process of this program. Throws Error when it cannot be started.
pid_t start_this_program(const std::vector<std::string>& arguments, const ChildSetting& setting);

/// Starts the program of this process anew in its place, with those of the variables that are not set yet:
/// for what libraries read when they are loaded. `arguments` are those of main(). Returns where all are set,
/// or it cannot.
void start_anew_with(const Variables& variables, char** arguments);

/// A side of a comparison that is no file: `@name` is this program with this variable set to the name, by
/// which whoever embeds it tells its sides apart.
inline constexpr const char* side_variable = "ASSAY_SIDE";
bool is_embedded_side(const std::filesystem::path& program);

}  // namespace assay
