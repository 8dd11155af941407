#include "report/exam/scalesim_answer.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

Answer scalesim_answer(const model::Network& network, Count rows, Count columns,
                       model::DataflowKind dataflow, const std::vector<ScalesimRow>& layers) {
    double total = 0.0;
    for (const ScalesimRow& row : layers) {
        total += static_cast<double>(row.cycles) * static_cast<double>(row.layer->count);
    }
    Column<ScalesimRow> own("eyeroof_cycles", "eyeroof", Unit::count, &ScalesimRow::own_cycles,
                            kAll, "compute cycles of its own mapping");
    own.head.absent = true;
    Answer a;
    a.schema = "eyeroof/scalesim/1";
    a.title = "SCALE-Sim's compute cycles";
    a.sentences = {fmt::format("SCALE-Sim's compute cycles: {} on {} rows x {} columns, dataflow "
                               "{}",
                               network.name, rows, columns, model::dataflow_name(dataflow)),
                   fmt::format("{:.0f} cycles with repeats", total)};
    a.figures = {{"network", "", network.id},
                 {"rows", "", rows},
                 {"cols", "", columns},
                 {"dataflow", "", model::dataflow_name(dataflow)}};
    a.tables = {make_table<ScalesimRow>(
        "layers", "", layers,
        {{"name", "layer", Unit::none, [](const ScalesimRow& r) { return r.layer->name; }},
         {"count", "runs", Unit::count, [](const ScalesimRow& r) { return r.layer->count; }},
         {"macs", "MACs", Unit::count, &ScalesimRow::macs},
         {"scalesim_cycles", "SCALE-Sim", Unit::count, &ScalesimRow::cycles},
         {"scalesim_utilization", "utilization", Unit::share, &ScalesimRow::utilization},
         own})};
    a.notes = {
        "SCALE-Sim fills, streams and drains every fold one after the other, which costs rows and "
        "columns of cycles a fold, runs images and groups one by one, and counts no memory here. "
        "eyeroof fills an array once a pass, lets the next pass's weights come while this one "
        "computes where the machine has two buffers, spreads images over the array where the "
        "dataflow allows it, and waits for every memory and network of the machine."};
    return a;
}

} // namespace eyeroof::report
