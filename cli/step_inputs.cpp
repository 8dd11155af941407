#include "cli/step_inputs.hpp"

#include "hwdb/usual_host.hpp"
#include "model/gpu/served.hpp"
#include "study/exam/network_step.hpp"
#include "study/exam/run.hpp"
#include "study/what_if/knobs.hpp"

namespace eyeroof::cli {

void add_step_options(CLI::App& app, StepOptions& options) {
    app.add_option("NETWORK", options.network,
                   "Name in the catalog (eyeroof net list), or a file; with a `graph` it says who "
                   "reads whose output")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option("--on", options.machine, "A GPU or a host processor (eyeroof hw list)")
        ->required()
        ->type_name("MACHINE|FILE");
    app.add_option("--host", options.host,
                   "What issues the operators (default: the server of the GPU's years)")
        ->type_name("MACHINE");
    app.add_option("--batch", options.batch, "Multiply the network's batch by N")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_dtype(app, options.dtype);
    add_dims(app, options.dims);
    add_set(app, options.set);
    add_choice(app, "--phase", options.phase.phase, {"inference", "training"},
               "What is run: the layers, or a training step: they, their gradients, the update");
    add_choice(app, "--optimizer", options.phase.optimizer, {"sgd", "sgd_momentum", "adam"},
               "Update of the weights in training");
    app.add_flag("--in-place", options.in_place,
                 "relu writes over what it reads where nobody else needs it");
}

namespace {

// Its host: named, or the one that such a GPU usually stands in; round values where none is known.
model::Diagnostics add_host(Context& context, const StepOptions& options, StepInputs& inputs) {
    model::Diagnostics found;
    if (inputs.gpu().arch == model::GpuArch::host) {
        inputs.host = inputs.gpu().issue;
        return found;
    }
    if (!options.host.empty()) {
        const auto host = hwdb::load_host(options.host, context.machine_dirs());
        if (!host) {
            return host.diagnostics();
        }
        inputs.host = host->issue;
        inputs.host_id = host->id;
        return found;
    }
    const hwdb::NamedHost usual = hwdb::usual_host(inputs.gpu(), context.machine_dirs());
    inputs.host = usual.issue.known() ? usual.issue : study::textbook_host();
    inputs.host_id = usual.id;
    return found;
}

} // namespace

model::Result<StepInputs> load_step(Context& context, const StepOptions& options) {
    const auto wired = load_wired_workload(context, options.network, options.dims);
    auto machine = load_machine(context, options.machine);
    if (machine && !options.set.empty()) {
        machine = study::changed(*machine, options.set);
    }
    model::Diagnostics all = wired.diagnostics();
    all.append(machine.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    StepInputs inputs{wired->network, wired->wiring, *machine, {}, {}, {}};
    if (!std::holds_alternative<model::Gpu>(inputs.machine.kind)) {
        all.error("not-a-gpu", "a step in time is predicted for GPUs and host processors",
                  "`eyeroof hw list` names them");
        return all;
    }
    study::StudyOptions wanted;
    wanted.batch = options.batch;
    wanted.data_type = model::data_type_from_name(options.dtype);
    auto network = study::prepared(inputs.network, wanted);
    all.append(network.diagnostics());
    all.append(add_host(context, options, inputs));
    if (all.has_errors()) {
        return all;
    }
    if (options.timed) {
        all.append(model::check_served(*network, inputs.machine.name, inputs.gpu()));
    }
    if (all.has_errors()) {
        return all;
    }
    inputs.network = *std::move(network);
    inputs.graph_options.training = training_of(options.phase);
    inputs.graph_options.batch = options.batch.value_or(1);
    inputs.graph_options.in_place = options.in_place;
    return {std::move(inputs), std::move(all)};
}

} // namespace eyeroof::cli
