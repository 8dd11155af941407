// The report as JSON, schema "eyeroof/exam/1": documented in docs/json.md and described by
// study/schema/exam.schema.json.
// Called by cli and gui.
// Computes nothing. Keys carry their units; a key is never renamed or removed within version 1.
#pragma once

#include "study/exam/report.hpp"
#include "study/report/memory_fit.hpp"
#include "study/text/sink.hpp"

#include <string>

namespace eyeroof::study {

// `memory`: of a GPU, where it is known.
std::string to_json(const Report& report);
// The same bytes, layer by layer: a hundred thousand are hundreds of megabytes. False where the
// sink takes no more.
bool write_json(const Report& report, const TextSink& sink);

} // namespace eyeroof::study
