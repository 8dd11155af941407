// eyeroof chip: area and power of a whole accelerator by component.
#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "hwdb/technology_reader.hpp"
#include "study/silicon/silicon.hpp"

namespace eyeroof::cli {

namespace {

struct ChipOptions {
    std::string machine, network, areas, layers;
    std::vector<std::string> dims;
    std::optional<double> process;
    std::optional<std::int64_t> batch;
    EffortOptions effort;
    OutputOptions output;
};

model::Result<study::Report> chip_exam(Context& context, const ChipOptions& options,
                                       const model::Machine& machine) {
    const auto network = load_workload(context, options.network, options.dims);
    if (!network) {
        return network.diagnostics();
    }
    study::StudyOptions wanted;
    wanted.batch = options.batch;
    set_effort(options.effort, "auto", wanted);
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    return study::run(*network, machine, wanted, context.stop(), context.progress());
}

Exit write_chip(Context& context, const ChipOptions& options, const study::SiliconReport& report) {
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? study::silicon_json(report)
                         : format == "csv" ? study::silicon_csv(report)
                                           : study::silicon_text(report),
                         options.output.file);
}

Exit chip(Context& context, const ChipOptions& options) {
    const auto machine = load_machine(context, options.machine);
    const auto technology = hwdb::load_technology(context.machine_dirs());
    model::Diagnostics all = machine.diagnostics();
    all.append(technology.diagnostics());
    std::vector<study::NamedArea> areas;
    if (!options.areas.empty()) {
        const auto table = study::read_area_table(options.areas);
        all.append(table.diagnostics());
        areas = table ? *table : areas;
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    std::optional<study::Report> exam;
    if (!options.network.empty() && std::holds_alternative<model::Accelerator>(machine->kind)) {
        auto report = chip_exam(context, options, *machine);
        if (!report) {
            return context.fail(report.diagnostics());
        }
        exam = std::move(*report);
    }
    const auto report = study::silicon_report(*machine, *technology, options.process, areas,
                                              exam ? &*exam : nullptr);
    return report ? write_chip(context, options, *report) : context.fail(report.diagnostics());
}

} // namespace

void add_chip(Frame& frame) {
    auto options = std::make_shared<ChipOptions>();
    CLI::App& app = frame.add("chip",
                              "Area of an accelerator's chip by component, and its power while a "
                              "network runs",
                              "eyeroof chip eyeriss-v1 --network alexnet --layers CONV\n"
                              "# the same chip in a newer process\n"
                              "eyeroof chip eyeriss-v1 --process 16\n"
                              "eyeroof chip simba --format json -o simba.json");
    app.add_option("MACHINE", options->machine, "Accelerator in the catalog, or a file")
        ->required()
        ->type_name("MACHINE|FILE");
    app.add_option("--network", options->network, "Network whose energy and power to tell")
        ->type_name("NETWORK|FILE");
    app.add_option("--process", options->process,
                   "Process in nm, between two of the table by interpolation [the machine's "
                   "process_nm, or the published chip's]")
        ->check(CLI::Range(1.0, 1000.0))
        ->type_name("NM");
    app.add_option("--areas", options->areas,
                   "Accelergy's table of areas (ART): stands instead of estimates for levels of "
                   "the same name")
        ->type_name("FILE");
    app.add_option("--layers", options->layers, "Only layers whose name matches")
        ->type_name("REGEX");
    app.add_option("--batch", options->batch, "Multiply the network's batch by N")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_dims(app, options->dims);
    add_effort(app, options->effort);
    add_output(app, options->output, {"text", "json", "csv"});
    frame.run(app, [options](Context& context) { return chip(context, *options); });
}

} // namespace eyeroof::cli
