// eyeroof-dev cross-validate: errors on measurements that the constants have not seen.
#include "analysis/cross_validate/cross_validate.hpp"

#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/dev/dev_program.hpp"
#include "cli/own_library.hpp"
#include "cli/scenario_options.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/catalog.hpp"
#include "report/cross_validate/cross_validation.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace eyeroof::cli {

namespace {

struct CrossValidateCommand {
    std::string table, timing = "kernel", kernel_class, constants, rows_file, leaderboard;
    std::string leave_out = "architecture", former;
    std::vector<std::string> also;
    analysis::CrossValidateOptions study;
    OutputOptions output;
};

// The GPUs of the catalog; a file that cannot be read is passed over, `hw check` tells why.
std::map<std::string, model::Gpu> all_gpus(const std::vector<std::filesystem::path>& folders) {
    std::map<std::string, model::Gpu> gpus;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        const auto machine = entry.family == "gpus" ? hwdb::load_machine_file(entry.file)
                                                    : Result<model::Machine>::failure("", "");
        if (machine && std::holds_alternative<model::Gpu>(machine->kind)) {
            gpus.emplace(entry.id, std::get<model::Gpu>(machine->kind));
        }
    }
    return gpus;
}

// The calibration files that a folder has, by name as calibration_files names them.
std::set<std::string> names_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    std::error_code wrong;
    for (const auto& entry : std::filesystem::directory_iterator(folder, wrong)) {
        if (entry.path().extension() == ".yaml") {
            names.insert(entry.path().stem().string());
        }
    }
    return names;
}

// With one class alone: the other classes stay as the folder's file, or else the catalog's, has
// them.
Result<hwdb::CalibrationFile> merged(const hwdb::CalibrationFile& fitted, model::KernelClass only,
                                     const std::vector<std::filesystem::path>& places) {
    for (const std::filesystem::path& path : places) {
        std::error_code wrong;
        if (!std::filesystem::exists(path, wrong)) {
            continue;
        }
        auto document = hwdb::load_yaml(path);
        auto file = document ? hwdb::read_calibration(*document, path.stem().string())
                             : Result<hwdb::CalibrationFile>(document.diagnostics());
        if (file) {
            const auto at = static_cast<std::size_t>(only);
            analysis::take_class(fitted.calibration, only, file->calibration);
            file->dates[at] = fitted.dates[at];
        }
        return file;
    }
    return fitted;
}

std::vector<std::filesystem::path> places_of(const Context& context, const std::string& folder,
                                             const std::string& id) {
    std::vector<std::filesystem::path> places = {std::filesystem::path(folder) / (id + ".yaml")};
    for (const std::filesystem::path& machines : context.machine_dirs()) {
        places.push_back(machines / "calibration" / (id + ".yaml"));
    }
    return places;
}

Exit write_constants(Context& context, const CrossValidateCommand& options,
                     const analysis::CrossValidation& result) {
    const std::string& folder = options.constants;
    std::error_code wrong;
    std::filesystem::create_directories(std::filesystem::path(folder) / "left-out", wrong);
    if (wrong) {
        Diagnostics found;
        found.error("cannot-write",
                    fmt::format("{} cannot be made a folder: {}", folder, wrong.message()),
                    "name a folder that you may write to");
        return context.fail(found);
    }
    const auto only = model::kernel_class_from_name(options.kernel_class);
    const auto also = only ? names_in(folder) : std::set<std::string>{};
    const auto catalog = all_gpus(context.machine_dirs());
    for (const auto& [id, fitted] : analysis::calibration_files(result, catalog, also)) {
        hwdb::CalibrationFile fresh{"", fitted, {}, {}};
        fresh.dates.fill(utc_today());
        auto file = only ? merged(fresh, *only, places_of(context, folder, id))
                         : Result<hwdb::CalibrationFile>(fresh);
        if (!file) {
            return context.fail(file.diagnostics());
        }
        file->id = std::filesystem::path(id).filename().string();
        const std::string text = hwdb::write_calibration(*file);
        const auto path = std::filesystem::path(folder) / (id + ".yaml");
        if (const Exit exit = context.write(text, path.string()); exit != Exit::done) {
            return exit;
        }
    }
    return Exit::done;
}

// The table, which limits bind where, and what each term is worth.
std::string whole_text(Context& context, const analysis::CrossValidation& result) {
    std::map<std::string, model::Gpu> catalog = all_gpus(context.machine_dirs());
    for (auto& [id, gpu] : catalog) {
        const auto with = hwdb::with_calibration(gpu, id, context.machine_dirs());
        gpu = with ? *with : gpu;
    }
    return report::cross_validation_text(result) + analysis::bindings_text(result.bindings) +
           analysis::bindings_text(analysis::grid_bindings(catalog)) +
           analysis::ablations_text(result.ablations);
}

Result<report::FormerErrors> former_of(const std::string& file) {
    if (file.empty()) {
        return report::FormerErrors{};
    }
    const auto text = read_text_file(file);
    return text ? report::former_errors(*text, file)
                : Result<report::FormerErrors>(text.diagnostics());
}

Exit cross_validate(Context& context, const CrossValidateCommand& options) {
    if (!options.constants.empty() && options.leave_out != "die" &&
        options.leave_out != "architecture") {
        return context.fail_usage(
            fmt::format("--constants with --leave-out {} has no constants that are blind to a GPU",
                        options.leave_out),
            "leave out a die or an architecture, and add others by --also");
    }
    const auto table = formats::load_layer_csv(options.table);
    if (!table) {
        return context.fail(table.diagnostics());
    }
    const auto rows = analysis::measured_layers(*table, options.table, "");
    if (!rows) {
        return context.fail(rows.diagnostics());
    }
    analysis::CrossValidateOptions wanted = options.study;
    wanted.timing = *model::timing_from_name(options.timing);
    wanted.leave_out = *analysis::leave_out_from_name(options.leave_out);
    for (const std::string& also : options.also) {
        wanted.also.push_back(*analysis::leave_out_from_name(also));
    }
    const auto former = former_of(options.former);
    if (!former) {
        return context.fail(former.diagnostics());
    }
    wanted.only = model::kernel_class_from_name(options.kernel_class);
    const auto folders = context.machine_dirs();
    const auto source = [&](const std::string& id) { return hwdb::load_machine(id, folders); };
    const auto result =
        analysis::cross_validate(*rows, source, wanted, context.stop(), context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    if (!options.constants.empty()) {
        if (const Exit exit = write_constants(context, options, *result); exit != Exit::done) {
            return exit;
        }
    }
    if (!options.leaderboard.empty()) {
        const std::string text =
            report::leaderboard_csv(*result, options.leave_out, EYEROOF_VERSION);
        if (const Exit exit = context.write(text, options.leaderboard); exit != Exit::done) {
            return exit;
        }
    }
    if (!options.rows_file.empty()) {
        if (const Exit exit = context.write(report::cross_rows_csv(*result), options.rows_file);
            exit != Exit::done) {
            return exit;
        }
    }
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? report::cross_validation_json(*result)
                         : format == "csv" ? report::cross_validation_csv(*result)
                         : format == "md"  ? report::cross_validation_markdown(*result, *former)
                                           : whole_text(context, *result),
                         options.output.file);
}

} // namespace

void add_cross_validate(Frame& frame) {
    auto options = std::make_shared<CrossValidateCommand>();
    CLI::App& app = frame.add(
        "cross-validate",
        "How far predictions lie from measurements that the constants have not seen",
        "# other shapes of the same GPU, and whole GPUs left out; minutes for 40,000 rows\n"
        "eyeroof-dev cross-validate measured.csv\n"
        "# how well constants carry over to a library, a source, or a session that they have not "
        "seen\n"
        "eyeroof-dev cross-validate measured.csv --also library,source,session\n"
        "# what each term of the model is worth: fits again without each\n"
        "eyeroof-dev cross-validate measured.csv --class linear --ablate\n"
        "# every calibration file, the page of errors and the leaderboard, in one run\n"
        "eyeroof-dev cross-validate measured.csv --constants new "
        "--leaderboard leaders.csv --format md\n"
        "# one class of kernels, for a spreadsheet\n"
        "eyeroof-dev cross-validate measured.csv --class linear --format csv -o errors.csv");
    app.add_option("table", options->table, "Layer CSV with gpu, measured_s and perhaps launch")
        ->required()
        ->type_name("FILE");
    std::vector<std::string> classes;
    for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
        classes.emplace_back(model::kernel_class_name(static_cast<model::KernelClass>(i)));
    }
    add_choice(app, "--class", options->kernel_class, classes, "Only this class of kernels");
    add_choice(
        app, "--leave-out", options->leave_out,
        {"die", "architecture", "library", "source", "session"},
        "Which rows a fit does not see and its errors are reported for; library, source, and "
        "session are columns of the table");
    app.add_option("--also", options->also,
                   "Also report errors of rows left out by these columns, such as "
                   "library,source,session; a measured GPU predicts them by its other rows")
        ->delimiter(',')
        ->check(CLI::IsMember({"die", "architecture", "library", "source", "session"}))
        ->type_name("LIST");
    app.add_option("--former", options->former,
                   "CSV of an earlier run, whose errors the Markdown page puts beside these")
        ->type_name("FILE");
    app.add_flag("--ablate", options->study.ablate,
                 "Also fit without each term and tell the error (slow)");
    add_timing(app, options->timing);
    app.add_option("--rows", options->study.rows, "Rows of a GPU and class that a fit looks at")
        ->check(CLI::Range(20, 100000));
    app.add_option("--rounds", options->study.rounds, "Rounds of a fit's search")
        ->check(CLI::Range(1, 1000));
    app.add_option("--threads", options->study.threads,
                   "Threads to use; the answer does not depend on it [all]")
        ->check(CLI::Range(0, 4096));
    app.add_option("--constants", options->constants,
                   "Also write calibration files: of every GPU with a measured die, common to all "
                   "GPUs (carried-over), and blind to one (left-out/); with --class the other "
                   "classes of the files stay")
        ->type_name("FOLDER");
    app.add_option("--leaderboard", options->leaderboard,
                   "Also write errors and interval coverage by source, GPU and class, CSV")
        ->type_name("FILE");
    app.add_option("--rows-to", options->rows_file,
                   "Also write every row with its predictions, CSV")
        ->type_name("FILE");
    add_output(app, options->output, {"text", "json", "csv", "md"});
    frame.run(app, [options](Context& context) { return cross_validate(context, *options); });
}

} // namespace eyeroof::cli
