// The question of an upgrade in a session file.
#pragma once

#include "analysis/upgrade/question.hpp"
#include "hwdb/yaml.hpp"

#include <yaml-cpp/yaml.h>

namespace eyeroof::report {

// A mapping: networks[] {name, share}, from and to[] {gpu, data_type, usd_per_hour, usd}, phase,
// batch, utilization, batches[], precisions[] ("fp16:bf16"). Errors are reported at their nodes.
analysis::UpgradeQuestion question_of(const hwdb::Node& node);
void emit_question(YAML::Emitter& out, const analysis::UpgradeQuestion& question);

} // namespace eyeroof::report
