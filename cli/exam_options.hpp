// What `eyeroof exam` is asked, beside the network and the machine.
// Shared by the command's parts: examining, and SCALE-Sim's counting.
// Knows no engine.
#pragma once

#include "cli/measurements.hpp"
#include "cli/phase.hpp"
#include "cli/search_options.hpp"
#include "model/machine/machine.hpp"
#include "model/network.hpp"
#include "study/formats/catalog.hpp"
#include "study/formats/timeloop.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace eyeroof::cli {

struct ExamOptions {
    std::string network;
    std::vector<std::string> machines; // of --on; more than one: side by side
    std::string machine;               // the one examined
    std::string dataflow;
    std::string dtype;
    PhaseOptions phase;
    std::string mapping = "auto";
    std::string objective;
    std::string factors = "perfect";
    EffortOptions effort;
    bool require_proof = false;
    std::string counting = "eyeroof";
    std::string launch = "stream";
    std::string host; // empty: the server of the GPU's years
    std::string layers;
    std::string constraints;
    std::string energies;
    std::string fail_if;
    std::string compat;
    std::string steps = "auto";
    std::vector<std::string> set;
    std::vector<std::string> dims;
    bool details = false;
    bool advice = false;
    std::optional<std::int64_t> batch;
    int threads = 0;
    MeasurementFiles measured;
    OutputOptions output;
};

// `--compat scalesim`: its compute cycles, beside eyeroof's own.
Exit exam_scalesim(Context& context, const ExamOptions& options, const model::Network& network);

// The machine that --on names, or a Timeloop architecture; diagnostics are the catalog's.
// `energies`: a file with Accelergy's tables for it; empty: none.
model::Result<model::Machine> load_machine(Context& context, const std::string& name,
                                           const std::string& energies = {});

// The network that a command names, with values of its parameters or sizes ("batch=8") behind it;
// diagnostics are the catalog's.
model::Result<model::Network> load_workload(Context& context, const std::string& name,
                                            const std::vector<std::string>& sizes = {});
// The same with the file's `graph`, where it has one.
model::Result<study::read::WiredNetwork>
load_wired_workload(Context& context, const std::string& name,
                    const std::vector<std::string>& sizes = {});
void add_dims(CLI::App& app, std::vector<std::string>& sizes);

// --dtype and --set, as exam and roofline take them.
void add_dtype(CLI::App& app, std::string& type);
void add_set(CLI::App& app, std::vector<std::string>& changes);
void add_energies(CLI::App& app, std::string& file);

// What a Timeloop problem calls its dimensions; those of its cnn-layer for all other workloads.
study::read::TimeloopNames workload_names(const std::string& name);

// Those that stand in the machine's own Timeloop file, and on top of them those of the file.
model::Result<study::read::PlacedConstraints>
load_constraints(const std::string& file, const std::string& machine_name,
                 const model::Machine& machine, const study::read::TimeloopNames& names);

} // namespace eyeroof::cli
