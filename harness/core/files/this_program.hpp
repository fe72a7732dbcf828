/// The program that runs, and copies of it.
#pragma once

#include "core/files/child_process.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Returns the file of this program. Throws Error when it is gone, as after a rebuild during the run.
std::filesystem::path this_program();

/// How copies start where this process's file is another program, such as an interpreter that loads this.
struct Embedding {
  /// They start it anew, such as an interpreter and its script. None: a copy of this process does the rest.
  std::vector<std::string> words;
  std::function<int(const std::vector<std::string>& arguments)> run;
};
/// To be called once, before anything else.
void set_embedding(Embedding embedding);
bool is_embedded();

/// How a user starts this program: `assay`, a program that links it as typed, or the words of an embedding.
std::string called_as();
/// To be called with the first argument of main().
void set_called_as(const std::filesystem::path& typed);

/// One more process of this program. Throws Error when it cannot be started.
pid_t start_this_program(const std::vector<std::string>& arguments, const ChildSetting& setting);

/// Replaces this process by a new start of its program, with the variables that are not set yet: libraries
/// read them when loaded. `arguments` are main()'s. Returns where all are set, or where the start fails.
void start_anew_with(const Variables& variables, char** arguments);

/// The value of a variable of the environment; nothing where it is not set.
std::optional<std::string> variable(const char* name);

/// A side of a comparison that is no file: `@name` is this program with this variable set to the name. A
/// program that embeds assay tells its sides apart by it.
inline constexpr const char* side_variable = "ASSAY_SIDE";
bool is_embedded_side(const std::filesystem::path& program);
/// Its length moves the stacks of sides that are compared.
inline constexpr const char* padding_variable = "ASSAY_PADDING";
/// Names the plug-ins of this process and of those that it starts, with ':' between them.
inline constexpr const char* plugins_variable = "ASSAY_PLUGINS";

}  // namespace assay
