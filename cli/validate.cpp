// eyeroof validate: predictions beside measured layer times, and beside the naive roofline; beside
// published figures of accelerators.
#include "analysis/calibrate/validate.hpp"

#include "analysis/calibrate/clusters.hpp"
#include "analysis/calibrate/evidence_check.hpp"
#include "analysis/calibrate/kernel_rows.hpp"
#include "analysis/calibrate/machines.hpp"
#include "analysis/calibrate/networks.hpp"
#include "analysis/calibrate/pairs.hpp"
#include "base/text_file.hpp"
#include "cli/answer.hpp"
#include "cli/fail_if.hpp"
#include "cli/scenario_options.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/engine_reader.hpp"
#include "hwdb/fabric_reader.hpp"
#include "hwdb/kernels_reader.hpp"
#include "hwdb/published_reader.hpp"
#include "hwdb/technology_reader.hpp"
#include "hwdb/transfer_reader.hpp"
#include "hwdb/usual_host.hpp"
#include "report/calibrate/validation_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace eyeroof::cli {

namespace {

struct ValidateOptions {
    std::string file;
    std::string machine;
    std::string timing = "stream"; // of rows of layers that name none
    std::string launch;            // of whole networks; empty: eager
    std::string fit, fit_source;
    std::string fail_if;
    bool never_seen = false;
    bool pairs = false, networks = false, evidence = false;
    bool machines = false, scale = false, kernels = false;
    std::string mapping = "dataflow";
    std::size_t worst = 10;
    OutputOptions output;
};

// The machine as if no one had measured it: constants that have seen no GPU with its die, where
// there are any; GPUs without such a file were never measured, and have the carried-over ones.
Result<model::Machine> unseen(model::Machine machine,
                              const std::vector<std::filesystem::path>& folders) {
    auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu == nullptr) {
        return machine;
    }
    auto carried = hwdb::with_calibration(*gpu, "left-out/" + machine.id, folders);
    if (!carried) {
        return carried.diagnostics();
    }
    carried->kernels = nullptr; // their constants have seen most machines
    machine.kind = std::move(*carried);
    return machine;
}

analysis::MachineSource source_of(const ValidateOptions& options,
                                  const std::vector<std::filesystem::path>& folders) {
    return [&options, folders](const std::string& id) {
        auto machine = hwdb::load_machine(id, folders);
        return machine && options.never_seen ? unseen(std::move(*machine), folders)
                                             : std::move(machine);
    };
}

// Their constants have seen most machines, so none are those of a machine that no one measured.
analysis::KernelSource kernels_of(const ValidateOptions& options,
                                  const std::vector<std::filesystem::path>& folders) {
    return [unseen = options.never_seen, folders](const model::Gpu& gpu, const std::string& id) {
        return unseen ? Result<model::MachineKernels>(model::MachineKernels{})
                      : hwdb::load_kernels(gpu, id, folders);
    };
}

analysis::PairsSources sources_of(const Context& context, const ValidateOptions& options) {
    const auto folders = context.machine_dirs();
    return {[data = folders_of(context)](const std::string& reference) {
                return analysis::load_workload(reference, {}, data);
            },
            source_of(options, folders),
            [folders](const model::Machine& machine) {
                const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
                return gpu == nullptr ? model::HostIssue{}
                                      : hwdb::usual_host(*gpu, folders, machine.id).issue;
            }};
}

Exit validate_pairs(Context& context, const ValidateOptions& options) {
    const auto fail_if =
        FailIf::parse(options.fail_if, gate_figures(analysis::PairsValidation{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const auto text = read_text_file(options.file);
    const auto pairs = text ? analysis::parse_pairs(*text, options.file)
                            : Result<std::vector<analysis::MeasuredPair>>(text.diagnostics());
    if (!pairs) {
        return context.fail(pairs.diagnostics());
    }
    analysis::Scenario scenario;
    if (!options.launch.empty()) {
        scenario.launch = *model::launch_from_name(options.launch);
    }
    auto result = analysis::validate_pairs(*pairs, sources_of(context, options), scenario);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    if (!options.fit.empty()) {
        result->transfer.source = options.fit_source.empty() ? options.file : options.fit_source;
        const std::string file = hwdb::write_transfer(result->transfer);
        if (const Exit exit = context.write(file, options.fit); exit != Exit::done) {
            return exit;
        }
    }
    return write_answer(context, report::pairs_validated(*result), options.output, *fail_if,
                        gate_figures(*result));
}

// The published speed-ups of the machine folders.
Exit validate_evidence(Context& context, const ValidateOptions& options) {
    if (options.output.format != "text") {
        return context.fail_usage("--evidence is a table in text", "leave --format out");
    }
    const auto transfer = hwdb::load_transfer(context.machine_dirs());
    const auto evidence =
        transfer ? analysis::load_evidence(context.machine_dirs(), transfer->share)
                 : Result<std::shared_ptr<const analysis::Evidence>>(transfer.diagnostics());
    if (!evidence) {
        return context.fail(evidence.diagnostics());
    }
    if (*evidence == nullptr) {
        return context.fail_usage("no machine folder has evidence/published.csv", "see --hwdb");
    }
    return context.write(
        analysis::evidence_text(analysis::check_evidence((*evidence)->rows(), *transfer)),
        options.output.file);
}

Exit validate_networks(Context& context, const ValidateOptions& options) {
    const auto fail_if =
        FailIf::parse(options.fail_if, gate_figures(analysis::NetworksValidation{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const auto text = read_text_file(options.file);
    const auto rows = text ? analysis::parse_networks(*text, options.file)
                           : Result<std::vector<analysis::MeasuredNetwork>>(text.diagnostics());
    if (!rows) {
        return context.fail(rows.diagnostics());
    }
    const auto result = analysis::validate_networks(*rows, sources_of(context, options));
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return write_answer(context, report::networks_validated(*result), options.output, *fail_if,
                        gate_figures(*result));
}

// The table of published runs that a machine folder has, where none is named.
std::string table_of_runs(const Context& context, const std::string& named) {
    if (!named.empty()) {
        return named;
    }
    for (const std::filesystem::path& folder : context.machine_dirs()) {
        const std::filesystem::path file = folder / "evidence" / "scale.csv";
        if (std::filesystem::exists(file)) {
            return file.string();
        }
    }
    return "evidence/scale.csv";
}

Exit validate_scale(Context& context, const ValidateOptions& options) {
    const auto fail_if =
        FailIf::parse(options.fail_if, gate_figures(analysis::ClusterValidation{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const std::string file = table_of_runs(context, options.file);
    const auto text = read_text_file(file);
    const auto rows = text ? analysis::parse_clusters(*text, file)
                           : Result<std::vector<analysis::ClusterRow>>(text.diagnostics());
    if (!rows) {
        return context.fail(rows.diagnostics());
    }
    const auto folders = context.machine_dirs();
    const analysis::ClusterSources sources = {
        [data = folders_of(context)](const std::string& name) -> Result<model::Network> {
            const auto workload = analysis::load_workload(name, {}, data);
            return workload ? Result<model::Network>(workload->network) : workload.diagnostics();
        },
        source_of(options, folders),
        [folders](const std::string& name) { return hwdb::load_fabric(name, folders); },
        [folders](const std::string& name) { return hwdb::load_engine(name, folders); },
        kernels_of(options, folders)};
    const auto result =
        analysis::validate_clusters(*rows, sources, context.stop(), context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return write_answer(context, report::clusters_validated(*result, options.worst), options.output,
                        *fail_if, gate_figures(*result));
}

// The tables that speak of one machine, or all.
Result<std::vector<hwdb::PublishedTable>> wanted_tables(const Context& context,
                                                        const std::string& machine) {
    auto tables = hwdb::load_all_published(context.machine_dirs());
    if (!tables || machine.empty()) {
        return tables;
    }
    std::vector<hwdb::PublishedTable> wanted;
    std::set<std::string> known;
    for (hwdb::PublishedTable& table : *tables) {
        for (const hwdb::PublishedRow& row : table.rows) {
            known.insert(row.machine);
        }
        std::erase_if(table.rows,
                      [&](const hwdb::PublishedRow& row) { return row.machine != machine; });
        if (!table.rows.empty()) {
            wanted.push_back(std::move(table));
        }
    }
    if (wanted.empty()) {
        return Result<std::vector<hwdb::PublishedTable>>::failure(
            "no-tables", fmt::format("no figure of {} is in the published tables", machine),
            fmt::format("there are figures of {}", fmt::join(known, ", ")));
    }
    return wanted;
}

Exit validate_machines(Context& context, const ValidateOptions& options) {
    const auto fail_if =
        FailIf::parse(options.fail_if, gate_figures(std::vector<analysis::MachineTable>{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const auto tables = wanted_tables(context, options.machine);
    const auto technology = hwdb::load_technology(context.machine_dirs());
    if (!tables || !technology) {
        Diagnostics all = tables.diagnostics();
        all.append(technology.diagnostics());
        return context.fail(all);
    }
    analysis::Scenario how;
    how.policy = options.mapping == "best" ? analysis::MappingPolicy::best
                                           : analysis::MappingPolicy::dataflow;
    const auto networks = [&](const std::string& reference) {
        return analysis::load_workload(reference, {}, folders_of(context));
    };
    const auto machines = [&](const std::string& id) {
        return hwdb::load_machine(id, context.machine_dirs());
    };
    const auto result = analysis::validate_machines(*tables, networks, machines, &*technology, how,
                                                    context.stop(), context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return write_answer(context, report::machines_validated(*result), options.output, *fail_if,
                        gate_figures(*result));
}

// A table of calls of serving libraries' kernels.
Exit validate_kernels(Context& context, const ValidateOptions& options) {
    if (options.file.empty() ||
        (options.output.format != "text" && options.output.format != "csv")) {
        return context.fail_usage("--kernels reads a table and writes text or CSV",
                                  "name a table, and leave --format out or choose csv");
    }
    const auto table = analysis::read_kernel_rows(options.file, options.machine);
    if (!table) {
        return context.fail(table.diagnostics());
    }
    const auto result =
        analysis::validate_kernels(*table, source_of(options, context.machine_dirs()),
                                   kernels_of(options, context.machine_dirs()));
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return context.write(options.output.format == "csv" ? analysis::kernels_csv(*result)
                                                        : analysis::kernels_text(*result, *table),
                         options.output.file);
}

Exit validate(Context& context, const ValidateOptions& options) {
    if (!options.launch.empty() && !options.pairs) {
        return context.fail_usage("--launch is of networks in a table of --pairs",
                                  "a table states it in a column `launch`; --timing is for rows "
                                  "of layers that have none");
    }
    if (options.pairs && options.networks) {
        return context.fail_usage("--pairs and --networks are two kinds of table",
                                  "give one of them, once for each table");
    }
    if (options.scale) {
        return options.pairs || options.networks
                   ? context.fail_usage("--scale is a kind of table, as --pairs and --networks are",
                                        "give one of them, once for each table")
                   : validate_scale(context, options);
    }
    if (options.kernels) {
        return validate_kernels(context, options);
    }
    if (options.networks) {
        return validate_networks(context, options);
    }
    if (options.evidence) {
        return validate_evidence(context, options);
    }
    if (options.machines) {
        return options.file.empty()
                   ? validate_machines(context, options)
                   : context.fail_usage("--machines takes no table",
                                        "its figures are in the machine folders; --on picks one");
    }
    if (options.file.empty()) {
        return context.fail_usage("a table of measured rows is missing",
                                  "name a layer CSV, or give --machines for published figures");
    }
    if (options.pairs) {
        return validate_pairs(context, options);
    }
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(analysis::Validation{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const auto table = formats::load_layer_csv(options.file);
    if (!table) {
        return context.fail(table.diagnostics());
    }
    const auto rows = analysis::measured_layers(*table, options.file, options.machine);
    if (!rows) {
        return context.fail(rows.diagnostics());
    }
    const auto result =
        analysis::validate(*rows, source_of(options, context.machine_dirs()),
                           {*model::timing_from_name(options.timing), options.worst});
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return write_answer(context, report::layers_validated(*result), options.output, *fail_if,
                        gate_figures(*result));
}

} // namespace

void add_validate(Frame& frame) {
    auto options = std::make_shared<ValidateOptions>();
    CLI::App& app =
        frame.add("validate", "Compare predictions with measured times, beside a naive roofline",
                  "# a layer CSV with the columns gpu and measured_s beside its own\n"
                  "eyeroof validate measured.csv --timing none\n"
                  "# speedups of whole networks, beside their median as a guess\n"
                  "eyeroof validate pairs.csv --pairs\n"
                  "# published speedups: what they add to the model\n"
                  "eyeroof validate --evidence\n"
                  "# with each GPU held out, as if it had never been measured\n"
                  "eyeroof validate measured.csv --never-seen --format json\n"
                  "# published figures of accelerators, with their confidence\n"
                  "eyeroof validate --machines --on nvdla-large\n"
                  "# published training steps, servers, and collectives of many devices\n"
                  "eyeroof validate --scale\n"
                  "# products, attention, and experts of TensorRT-LLM, vLLM, and SGLang\n"
                  "eyeroof validate kernels.csv.gz --kernels\n"
                  "# fail a build when the predictions get worse\n"
                  "eyeroof validate measured.csv --fail-if 'net.mape > 0.2'");
    app.add_option("table", options->file, "Layer CSV with measured_s and, without --on, gpu")
        ->type_name("FILE");
    app.add_option("--on", options->machine,
                   "The GPU of all rows; with --machines, the accelerator of the figures")
        ->type_name("MACHINE");
    app.add_flag("--machines", options->machines,
                 "Validate published figures of accelerators, not a table");
    add_choice(app, "--mapping", options->mapping, {"dataflow", "best"},
               "With --machines: by the dataflow's own rules, or the best that is found");
    add_timing(app, options->timing);
    const analysis::ScenarioField& launch = *analysis::find_field("launch");
    add_choice(app, "--launch", options->launch, launch.choices, "With --pairs: " + launch.help);
    app.add_flag("--pairs", options->pairs,
                 "Read a table of speedups: network,from,to,speedup and optionally "
                 "to_network,to_items,phase,optimizer,from_dtype,to_dtype,family,match");
    app.add_option("--fit", options->fit,
                   "With --pairs: also write how far predicted speedups hold for whole networks, a "
                   "transfer.yaml for a machine folder")
        ->type_name("FILE");
    app.add_option("--source", options->fit_source, "Source of the table, for --fit")
        ->type_name("TEXT");
    app.add_flag("--networks", options->networks,
                 "Read a table of whole steps: network,gpu,measured_s and optionally "
                 "phase,optimizer,dtype,batch,launch,family");
    app.add_flag("--kernels", options->kernels,
                 "Read a table of calls of serving libraries' kernels: op,gpu,dtype,library,kernel,"
                 "measured_ms and the operator's sizes; with --format csv each row's prediction");
    app.add_flag("--scale", options->scale,
                 "Validate published runs of many devices, in a table or the catalog's own: "
                 "training steps, servers, and collectives");
    app.add_flag("--evidence", options->evidence,
                 "Validate published speedups of whole networks: model, evidence, and both, with "
                 "families, sources, and GPUs held out");
    app.add_flag("--never-seen", options->never_seen,
                 "Use constants fitted on GPUs with another die");
    app.add_option("--worst", options->worst, "Number of worst rows to show");
    add_fail_if(app, options->fail_if);
    add_output(app, options->output, answer_formats());
    frame.run(app, [options](Context& context) { return validate(context, *options); });
}

} // namespace eyeroof::cli
