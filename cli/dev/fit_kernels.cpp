// eyeroof-dev fit-kernels: constants of serving libraries' kernels from tables of measured calls.
#include "analysis/kernel_fit/kernel_fit.hpp"
#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/dev/dev_program.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/kernels_reader.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace eyeroof::cli {

namespace {

struct FitKernelsCommand {
    std::vector<std::string> tables;
    std::string folder;
    analysis::KernelFitOptions options;
};

Exit fit_kernels(Context& context, const FitKernelsCommand& command) {
    analysis::KernelTable table;
    for (const std::string& file : command.tables) {
        auto rows = analysis::read_kernel_rows(file);
        if (!rows) {
            return context.fail(rows.diagnostics());
        }
        table.rows.insert(table.rows.end(), std::make_move_iterator(rows->rows.begin()),
                          std::make_move_iterator(rows->rows.end()));
    }
    const auto folders = context.machine_dirs();
    const auto machines = [&](const std::string& id) { return hwdb::load_machine(id, folders); };
    const analysis::KernelFit fit =
        analysis::fit_kernels(table, machines, command.options, context.stop());
    std::error_code error;
    std::filesystem::create_directories(command.folder, error);
    for (const auto& [family, cells] : fit.families) {
        const auto path = std::filesystem::path(command.folder) / (family + ".yaml");
        if (const Exit exit = context.write(hwdb::write_kernels(cells, family), path.string());
            exit != Exit::done) {
            return exit;
        }
    }
    return Exit::done;
}

} // namespace

void add_fit_kernels(Frame& frame) {
    auto command = std::make_shared<FitKernelsCommand>();
    CLI::App& app = frame.add(
        "fit-kernels", "Fit the constants of serving libraries' kernels to measured calls",
        "# every file of hwdb/kernels\n"
        "eyeroof-dev fit-kernels gemm.csv.gz attention.csv.gz moe.csv.gz --constants new");
    app.add_option("tables", command->tables, "CSV of measured calls, gzipped or not")
        ->required()
        ->type_name("FILE");
    app.add_option("--constants", command->folder, "Folder for the files of constants")
        ->required()
        ->type_name("FOLDER");
    app.add_option("--source", command->options.source, "Source of the tables")->type_name("TEXT");
    app.add_option("--leave-out", command->options.leave_out,
                   "Machines whose rows the fit does not see, with commas between")
        ->type_name("LIST");
    app.add_flag("--half", command->options.held_out, "See half of the shapes alone");
    frame.run(app, [command](Context& context) { return fit_kernels(context, *command); });
}

} // namespace eyeroof::cli
