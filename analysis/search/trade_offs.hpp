// Trade-offs, layer by layer: the Pareto front of latency and energy on a machine, and memory
// traffic against on-chip capacity.
#pragma once

#include "analysis/search/map_network.hpp"
#include "mapper/frontier.hpp"

#include <optional>
#include <string>

namespace eyeroof::analysis {

// `equals`: other layers of the same shape, which the figures are of, too.
struct LayerFront {
    std::string layer;
    std::vector<std::string> equals;
    mapper::Front front;
};

struct FrontReport {
    std::string network;
    std::string machine;
    double units = 0.0;
    std::vector<LayerFront> layers;
    bool cancelled = false; // some layers are missing, or not complete
};

struct LayerCurve {
    std::string layer;
    std::vector<std::string> equals;
    mapper::CapacityCurve curve;
    // Each tensor once, in the machine's words, before zeros are coded, as the curve's traffic is;
    // `exam` counts what crosses the border, coded and with padding. The curve's own also has the
    // padding, which a mapping reads as input.
    double compulsory_bytes = 0.0;
    std::optional<double>
        traffic_bytes; // with the marked capacity; empty: less than any point needs
};

struct CurveReport {
    std::string network;
    std::string machine;
    std::string level;        // whose capacity is marked; empty: none is
    Count capacity_bytes = 0; // of all its instances together
    std::vector<LayerCurve> layers;
    bool cancelled = false;
};

// Of every different layer that matches; `options.objective` is not used, and its time limit holds
// for all layers together. `tolerance`: see FrontOptions. Errors: those of map_network() and of
// mapper::pareto_front(); "cancelled" when that was before anything was found.
Result<FrontReport> front_of(const model::Network& network, const model::Machine& machine,
                             const MapOptions& options, double tolerance, std::stop_token stop = {},
                             const ProgressCallback& progress = {});

// `level`: a level of the machine with a bounded store; empty: the outermost such level.
// Errors: as above; "unknown-level".
Result<CurveReport> curve_of(const model::Network& network, const model::Machine& machine,
                             const MapOptions& options, const std::string& level, double tolerance,
                             std::stop_token stop = {}, const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
