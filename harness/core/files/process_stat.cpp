#include "core/files/process_stat.hpp"

#include <fstream>
#include <sstream>
#include <utility>

namespace assay {

std::vector<std::string> fields_of_stat(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text, '\0');  // all of it, and nothing where the process ends meanwhile
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::vector<std::string> out{"", text.substr(0, text.find(' ')), ""};
  std::istringstream fields(text.substr(name_end + 1));
  for (std::string field; fields >> field;) out.push_back(std::move(field));
  return out;
}

}  // namespace assay
