/// Files of jobs that the program trains itself, for `assay epoch` and `assay tune`.
#pragma once

#include "assay/training.hpp"

#include <filesystem>
#include <string>

namespace assay {

inline constexpr std::string_view training_schema = "assay.training/1";

/// A plan and its name.
struct TrainingJob {
  std::string name;
  TrainingPlan plan;
};

/// {"schema": "assay.training/1", "name": …} and the members of TrainingPlan, of which samples and batch are
/// required; a relative path of `records` starts from the folder of `where`, and is written as an absolute
/// one. Throws Error naming file and key: an unknown one, a wrong type, fewer samples than a batch, numbers
/// beyond any use, more of validation than of training, checkpoints that no epoch reaches.
TrainingJob training_job_from_json(const std::string& text, const std::filesystem::path& where);
std::string to_json(const TrainingJob& job);
class Fields;
void describe(Fields& f, TrainingJob& job);

/// Throws Error naming `where` when the records that are generated for the plan and the batches that its
/// loader holds need more than `bytes`, the free memory: the rest of a training is small beside them.
void require_memory(const TrainingPlan& plan, const std::string& where, double bytes);

/// "classifier 3x16x16, width 16, batch 64, workers 1, prefetch 2": for one line of a table.
std::string in_words(const TrainingPlan& plan);

}  // namespace assay
