// The report as JSON, schema "eyeroof/exam/1": documented in docs/json.md and described by
// report/schema/exam.schema.json. Computes nothing. Keys carry their units; a key is never renamed
// or removed within version 1.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/sink.hpp"
#include "report/exam/memory_fit.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace eyeroof::report {

// `memory`: of a GPU, where it is known.
std::string to_json(const analysis::Report& report);
// The same bytes and the members of the object `more` behind them, layer by layer: a hundred
// thousand are hundreds of megabytes. False where the sink takes no more.
bool write_json(const analysis::Report& report, const nlohmann::ordered_json& more,
                const TextSink& sink);

} // namespace eyeroof::report
