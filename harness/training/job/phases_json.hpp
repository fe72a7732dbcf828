/// Jobs as JSON that a person can write: `"schema": "assay.job/1"`. training/README.md describes every key.
#pragma once

#include "training/job/job.hpp"

#include <string>
#include <string_view>

namespace assay {

inline constexpr std::string_view job_schema = "assay.job/1";

class Fields;
void describe(Fields& f, Job& job);

/// Strict: an unknown key is refused with the keys that may have been meant, and every message names file and
/// key. Times below zero pass, since they are a finding of lint(), not a fault of the form. Throws Error.
Job read_phases_json(const std::string& text, const std::string& where);

}  // namespace assay
