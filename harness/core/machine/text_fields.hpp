// Reading the small text files of /proc and /sys: fields, words, numbers and sizes. Odd text gives nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The content of a file; nothing when it cannot be read, as in a bare chroot.
std::optional<std::string> try_read(const std::string& path);
// The first line of the file without blanks at the ends; empty when it cannot be read.
std::string first_line(const std::string& path);

std::string trimmed(std::string_view text);
std::vector<std::string> words(std::string_view text);

// The value of the first line `name : value` or `name value`; empty when there is none.
std::string field_of(std::string_view text, std::string_view name);

// The bytes of the first line `name: 24337368 kB`; 0 when there is none.
double bytes_in(std::string_view text, std::string_view name);

// A whole word that is a number.
std::optional<double> number(std::string_view word);
// `32K`, `1024K`, `32M`, `1G` or plain bytes.
std::optional<double> size_in_bytes(std::string_view text);
// Returns the number of processors that `0-3,8` names; 0 for text that is no such list.
int count_in_list(std::string_view text);

}  // namespace assay
