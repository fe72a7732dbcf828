// Usage: assay_code_table BUILD OBJECTS OUTPUT [ARCHIVE]
// At build time: writes OUTPUT, the source of a CodeTable, from the objects below the folder BUILD that the
// file OBJECTS names, one a line, and from the library ARCHIVE that they are linked with. OUTPUT is left
// alone when it is right already, so that nothing is linked needlessly. Exit codes: 0 written, also when the
// code of these objects cannot be known; 2 a file cannot be read or written.

#include "core/code/identity.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("usage: assay_code_table BUILD OBJECTS OUTPUT [ARCHIVE]\n", stderr);
    return 2;
  }
  std::ifstream list(argv[2]);
  std::vector<std::filesystem::path> objects;
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) objects.emplace_back(line);
  }
  if (objects.empty()) {
    std::fprintf(stderr, "assay_code_table: %s: cannot be read, or names no objects\n", argv[2]);
    return 2;
  }
  std::string unknown;
  const std::string wanted = assay::table_of(objects, argv[1], unknown, argc == 5 ? argv[4] : "");
  if (!unknown.empty()) {
    std::fprintf(stderr, "assay_code_table: code is unknown and counts as changed: %s\n", unknown.c_str());
  }

  std::ifstream before(argv[3], std::ios::binary);
  const std::string there{std::istreambuf_iterator<char>(before), {}};
  if (before && there == wanted) return 0;
  std::ofstream out(argv[3], std::ios::binary);
  out << wanted;
  out.close();
  if (!out) {
    std::fprintf(stderr, "assay_code_table: %s: cannot be written\n", argv[3]);
    return 2;
  }
  return 0;
}
