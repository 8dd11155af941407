// eyeroof hw calibrate: constants of the GPU time model from measured layers, or from one figure.
#include "cli/hw_calibrate.hpp"

#include "analysis/calibrate/calibrate.hpp"
#include "base/units.hpp"
#include "cli/own_library.hpp"
#include "cli/scenario_options.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/catalog.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

struct HwCalibrateOptions {
    std::string machine, table, sustained, dtype = "fp32", timing = "none", source, file;
    analysis::FitOptions together; // of GPUs that share constants
};

void say_errors(Context& context, const analysis::Calibrated& result) {
    Diagnostics notes;
    for (const analysis::FittedClass& c : result.classes) {
        notes.add({Severity::note,
                   "calibrated",
                   fmt::format("{}: {} rows fitted to {:.1f} %, held-out rows {:.1f} % (before "
                               "{:.1f} %)",
                               kernel_class_name(c.kernel_class), c.fitted_rows, 100.0 * c.fitted,
                               100.0 * c.held_out, 100.0 * c.before),
                   {},
                   {},
                   {}});
    }
    context.report(notes);
}

Result<analysis::Calibrated> from_table(Context& context, const HwCalibrateOptions& options,
                                        const model::Gpu& gpu) {
    const auto table = formats::load_layer_csv(options.table);
    if (!table) {
        return table.diagnostics();
    }
    auto rows = analysis::measured_layers(*table, options.table, "");
    if (!rows && table->extra_index("gpu") < 0) {
        rows = analysis::measured_layers(*table, options.table, options.machine);
    }
    if (!rows) {
        return rows.diagnostics();
    }
    std::erase_if(*rows, [&](const auto& row) { return row.gpu != options.machine; });
    analysis::CalibrateOptions wanted;
    wanted.timing = *model::timing_from_name(options.timing);
    wanted.source = options.source.empty() ? options.table : options.source;
    auto result = analysis::calibrate(gpu, *rows, wanted, context.stop());
    if (result) {
        say_errors(context, *result);
    }
    return result;
}

Result<analysis::Calibrated> from_rate(const HwCalibrateOptions& options, const model::Gpu& gpu) {
    const auto rate = parse<FlopsPerSec>(options.sustained);
    if (!rate) {
        return rate.diagnostics();
    }
    const auto type = model::data_type_from_name(options.dtype).value_or(model::DataType::fp32);
    return analysis::calibrate_sustained(
        gpu, type, rate->value,
        options.source.empty()
            ? fmt::format("a sustained rate of {} in {}, as given to hw calibrate",
                          options.sustained, model::data_type_name(type))
            : options.source);
}

// What the machine's constants were, with what is new among them.
Result<hwdb::CalibrationFile> file_of(Context& context, const std::string& id,
                                      const analysis::Calibrated& result, bool of_rate) {
    auto file = hwdb::load_calibration(id, context.machine_dirs());
    if (!file) {
        return file;
    }
    file->id = id;
    file->calibration = result.calibration;
    for (const analysis::FittedClass& c : result.classes) {
        const auto at = static_cast<std::size_t>(c.kernel_class);
        file->dates[at] = utc_today();
        file->measures_clock[at] = file->measures_clock[at] || of_rate;
    }
    return file;
}

// Of all GPUs of a table, every row of it.
Exit calibrate_together(Context& context, const HwCalibrateOptions& options) {
    const auto table = formats::load_layer_csv(options.table);
    const auto rows = table ? analysis::measured_layers(*table, options.table, "")
                            : Result<std::vector<analysis::MeasuredLayer>>(table.diagnostics());
    if (!rows) {
        return context.fail(rows.diagnostics());
    }
    const auto folders = context.machine_dirs();
    const auto fitted = analysis::calibrate_together(
        *rows, [&](const std::string& id) { return hwdb::load_machine(id, folders); },
        *model::timing_from_name(options.timing), options.together, context.stop());
    if (!fitted) {
        return context.fail(fitted.diagnostics());
    }
    hwdb::CalibrationFile file{hwdb::kCarriedOver, fitted->calibration, {}, {}};
    for (model::ClassRecord& record : file.calibration.records) {
        record.measured = false;
    }
    for (const analysis::FittedClass& c : fitted->classes) {
        file.dates[static_cast<std::size_t>(c.kernel_class)] = utc_today();
        file.calibration.record(c.kernel_class).provenance = {
            options.source.empty() ? options.table : options.source, Confidence::fitted};
    }
    return context.write(hwdb::write_calibration(file), options.file);
}

// An option that this kind of fit does not read; empty: none is given.
std::string unread(const CLI::App& app, const HwCalibrateOptions& options) {
    const bool together = options.machine == hwdb::kCarriedOver;
    const bool rate = !together && !options.sustained.empty() && options.table.empty();
    struct Read {
        const char* name;
        bool read;
        const char* with;
    };
    for (const Read& one : {Read{"--sustained", !together, "one machine"},
                            {"--dtype", rate, "--sustained"},
                            {"--timing", !rate, "a table"},
                            {"--pull", together, "carried-over"},
                            {"--rounds", together, "carried-over"},
                            {"--own-offset", together, "carried-over"},
                            {"--keep-starts", together, "carried-over"}}) {
        if (app.count(one.name) > 0 && !one.read) {
            return fmt::format("{} has no effect without {}", one.name, one.with);
        }
    }
    return {};
}

Exit calibrate(Context& context, const CLI::App& app, const HwCalibrateOptions& options) {
    if (const std::string problem = unread(app, options); !problem.empty()) {
        return context.fail_usage(problem, "leave it out");
    }
    if (options.machine == hwdb::kCarriedOver) {
        return options.table.empty() ? context.fail_usage("carried-over needs a table",
                                                          "name a layer CSV of several GPUs")
                                     : calibrate_together(context, options);
    }
    const auto machine = hwdb::load_machine(options.machine, context.machine_dirs());
    if (!machine) {
        return context.fail(machine.diagnostics());
    }
    const auto* gpu = std::get_if<model::Gpu>(&machine->kind);
    if (gpu == nullptr || options.table.empty() == options.sustained.empty()) {
        return context.fail_usage(gpu == nullptr ? "only GPUs and hosts are calibrated"
                                                 : "give a table, or --sustained, and not both");
    }
    const auto fitted =
        options.table.empty() ? from_rate(options, *gpu) : from_table(context, options, *gpu);
    if (!fitted) {
        return context.fail(fitted.diagnostics());
    }
    const auto file = file_of(context, machine->id, *fitted, options.table.empty());
    if (!file) {
        return context.fail(file.diagnostics());
    }
    return context.write(hwdb::write_calibration(*file), options.file);
}

} // namespace

void add_hw_calibrate(Frame& frame, CLI::App& hw) {
    auto options = std::make_shared<HwCalibrateOptions>();
    CLI::App& app = frame.add(
        "calibrate", "Fit a GPU's constants to measured layers or to one sustained rate",
        "# every command reads calibration/<id>.yaml in the folders of --hwdb\n"
        "eyeroof hw calibrate t4 measured.csv --timing eager -o mine/calibration/t4.yaml\n"
        "eyeroof hw calibrate l4 --sustained '14 TFLOP/s' --dtype fp32\n"
        "# constants of every GPU without a file of its own, from all rows\n"
        "eyeroof hw calibrate carried-over measured.csv -o mine/calibration/carried-over.yaml",
        &hw);
    app.add_option("machine", options->machine,
                   "Catalog name or file; carried-over: what all GPUs of the table share")
        ->required()
        ->type_name("MACHINE");
    app.add_option("table", options->table,
                   "Layer CSV with a column measured_s; rows of other GPUs are skipped")
        ->type_name("FILE");
    app.add_option("--sustained", options->sustained, "Sustained rate, such as '14 TFLOP/s'");
    std::vector<std::string> types;
    for (const std::string_view name : model::data_type_names()) {
        types.emplace_back(name);
    }
    add_choice(app, "--dtype", options->dtype, types, "Data type of --sustained");
    add_timing(app, options->timing);
    analysis::FitOptions& together = options->together;
    app.add_option("--pull", together.pull,
                   "With carried-over: penalty of a constant that changes by a factor of e")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    app.add_option("--rounds", together.rounds, "With carried-over: rounds of the search")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--own-offset", together.own_offset,
                   "With carried-over: share of a GPU's median deviation from the others that "
                   "shared constants leave")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag("--keep-starts", together.keep_starts,
                 "With carried-over: keep the start-up latency of kernels as it is");
    app.add_option("--source", options->source, "Source that the constants cite");
    app.add_option("-o,--output", options->file, "Write there instead of to stdout")
        ->type_name("FILE");
    frame.run(app, [options, &app](Context& context) { return calibrate(context, app, *options); });
}

} // namespace eyeroof::cli
