#include "formats/network_readers.hpp"

#include "formats/accelforge.hpp"
#include "formats/maestro.hpp"
#include "formats/scalesim.hpp"
#include "formats/timeloop.hpp"
#include "formats/zigzag.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace eyeroof::formats {

namespace {

using model::NetworkGraph;
using GraphResult = Result<NetworkGraph>;

// Layers that run as a chain.
GraphResult chain(Result<model::Network> network) {
    if (!network) {
        return network.diagnostics();
    }
    const Diagnostics found = network.diagnostics();
    return {NetworkGraph{*std::move(network)}, found};
}

GraphResult read_scalesim(std::string text, const std::string& file, const Variables&) {
    return chain(parse_scalesim_topology(std::move(text), file));
}

GraphResult read_timeloop(std::string text, const std::string& file, const Variables&) {
    auto problem = parse_timeloop_problem(std::move(text), file);
    if (!problem) {
        return problem.diagnostics();
    }
    return {NetworkGraph{std::move(problem->network)}, problem.diagnostics()};
}

GraphResult read_maestro(std::string text, const std::string& file, const Variables&) {
    return chain(parse_maestro(text, file));
}

GraphResult read_zigzag(std::string text, const std::string& file, const Variables&) {
    return chain(parse_zigzag(std::move(text), file));
}

bool is_timeloop_problem(std::string_view text) {
    return timeloop_has(text, TimeloopKind::problem);
}

constexpr auto kReaders = std::to_array<NetworkReader>({
    {"scale-sim", "a SCALE-Sim topology", is_scalesim_topology, read_scalesim},
    {"accelforge", "an AccelForge workload", is_accelforge_workload, parse_accelforge_workload,
     true},
    {"timeloop", "a Timeloop problem", is_timeloop_problem, read_timeloop},
    {"maestro", "MAESTRO layers", is_maestro, read_maestro},
    {"zigzag", "a ZigZag workload", is_zigzag, read_zigzag},
});

} // namespace

std::span<const NetworkReader> network_readers() {
    return kReaders;
}

const NetworkReader* network_reader_of(std::string_view text) {
    const auto found = std::find_if(kReaders.begin(), kReaders.end(),
                                    [&](const auto& reader) { return reader.recognizes(text); });
    return found == kReaders.end() ? nullptr : &*found;
}

} // namespace eyeroof::formats
