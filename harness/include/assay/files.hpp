/// Reads whole files at once, and writes them so that there is either the old content or the new one.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

/// Writes to a temporary name, flushes to the disk and renames, so that no reader ever sees half a file and a
/// full disk leaves the old one. Anything but a regular file (`/dev/stdout`, a pipe) is written to directly.
/// Folders are not made: a mistyped one is an Error, like everything else that fails.
void write_file(const std::filesystem::path& file, const std::string& content);
/// Throws Error when it cannot be read.
std::string read_file(const std::filesystem::path& file);

/// The folder of this user for what can be made again: $XDG_CACHE_HOME/assay, or ~/.cache/assay; empty where
/// there is neither.
std::filesystem::path cache_folder();

}  // namespace assay
