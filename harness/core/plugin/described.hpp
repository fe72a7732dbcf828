// The contract of an operation that a plug-in describes: its problems, tensors and reference.
#pragma once

#include "assay/detail/erased.hpp"
#include "core/plugin/library.hpp"

#include <cstddef>
#include <memory>

namespace assay {

/// Throws Error where the fields of the operation make no sense.
std::unique_ptr<const detail::ErasedContract> described_contract(std::shared_ptr<const PluginLibrary> library,
                                                                 std::size_t operation);

/// The reference of an operation as its variant `naive`.
std::unique_ptr<detail::ErasedVariant> reference_variant();

}  // namespace assay
