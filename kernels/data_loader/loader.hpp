// The pipeline that the variants of data_loader share. Its workers read records in one of two ways.
#pragma once

#include "batch_retrieval/records.hpp"

namespace assay {

enum class Reading {
  plain,  ///< one copy per record from the input's mapping
  ahead   ///< hot: prefetches ahead of the copy; cold: requests for all pages of the batch first
};

Variant<DataLoader>::Kernel prepare_loader(const DataLoader::Problem& problem, const DataLoader::Input& input,
                                           Reading reading);

}  // namespace assay
