// A network on screen as a whole step: graph, host and machine, as `eyeroof timeline` makes them.
// Used by the panes about time and memory; runs in their workers.
// Knows no widget.
#pragma once

#include "gui/panes/pane.hpp"
#include "study/step/graph.hpp"

namespace eyeroof::gui {

struct WholeStep {
    model::Network network; // batch and data type as asked, without gradients
    std::optional<study::read::Wiring> wiring;
    model::Machine machine;
    model::HostIssue host;
    std::string host_id; // empty: round values
    study::step::GraphOptions graph;

    const model::Gpu& gpu() const { return std::get<model::Gpu>(machine.kind); }
    bool training() const { return graph.training.has_value(); }
};

// What a worker needs, by value; nothing without a network and a GPU or host processor in front.
struct StepQuestion {
    model::Network network;
    std::optional<study::read::Wiring> wiring;
    model::Machine machine;
    study::StudyOptions options;
    Folders folders;
};
std::optional<StepQuestion> step_question(const PaneInput& input);

// Errors: those of the network under these options.
model::Result<WholeStep> whole_step(const StepQuestion& question);

// The row of the report that runs the graph's layer: the same layer, or else the same name.
std::optional<std::size_t> row_of(const study::Report& report, const model::Layer& layer);

} // namespace eyeroof::gui
