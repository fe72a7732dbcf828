// The pipeline that the variants of data_loader share. Its workers read records in one of two ways.
#pragma once

#include "batch_retrieval/records.hpp"

#include <string_view>

namespace assay {

enum class Reading {
  plain,  ///< one copy per record from the input's mapping
  ahead   ///< hot: prefetches ahead of the copy; cold: requests for all pages of the batch first
};

void add_loader(Registry& r, std::string_view name, std::string_view summary, Reading reading);

}  // namespace assay
