#include "assay/operation.hpp"

namespace assay {

std::string_view to_string(Fill fill) {
  switch (fill) {
    case Fill::exact: return "exact";
    case Fill::uniform: return "uniform";
    case Fill::offset: return "offset";
  }
  return "?";
}

}  // namespace assay
