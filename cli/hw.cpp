// eyeroof hw: the machines of the catalog, the parts of one, and checks of their files.
#include "analysis/sparse/machine.hpp"
#include "cli/answer.hpp"
#include "cli/exam_options.hpp"
#include "cli/hw_calibrate.hpp"
#include "formats/any_machine.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/systolic.hpp"
#include "report/catalog/machine.hpp"

#include <chrono>

namespace eyeroof::cli {

namespace {

namespace fs = std::filesystem;

struct HwOptions {
    std::vector<std::string> machines;
    OutputOptions output;
};

Exit list(Context& context, const HwOptions& options) {
    std::vector<report::ListedMachine> machines;
    Diagnostics broken;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(context.machine_dirs())) {
        auto machine = hwdb::load_machine_file(entry.file);
        if (machine) {
            machines.push_back({entry, std::move(*machine)});
        } else {
            broken.append(machine.diagnostics());
        }
    }
    context.report(broken); // one broken file of a user hides no other machine
    return write_answer(context, report::machines_answer(machines), options.output,
                        broken.has_errors() ? Exit::bad_input : Exit::done);
}

// The description to copy and edit: the file as its author wrote it, or one made for a parametric
// machine.
Result<std::string> description(const std::string& name, const model::Machine& machine,
                                const std::vector<fs::path>& folders) {
    if (hwdb::is_systolic_name(name)) {
        return hwdb::write_accelerator(machine);
    }
    std::error_code ignored;
    const bool path = fs::is_regular_file(name, ignored);
    const auto file = path ? Result<fs::path>(fs::path(name)) : hwdb::find_machine(name, folders);
    auto text = file ? read_text_file(*file) : Result<std::string>(file.diagnostics());
    const bool foreign = text && formats::is_foreign_machine(*text);
    return foreign ? hwdb::write_accelerator(machine) : text;
}

Exit show(Context& context, const HwOptions& options) {
    const std::string& name = options.machines.front();
    const auto folders = context.machine_dirs();
    const auto machine = load_machine(context, name); // Timeloop's too
    if (!machine) {
        return context.fail(machine.diagnostics());
    }
    context.report(machine.diagnostics());
    if (options.output.format == "yaml") {
        const auto text = description(name, *machine, folders);
        return text ? context.write(*text, options.output.file) : context.fail(text.diagnostics());
    }
    return write_answer(context, report::machine_answer(*machine), options.output);
}

Exit check(Context& context, const HwOptions& options) {
    std::vector<fs::path> files;
    const auto folders = context.machine_dirs();
    for (const std::string& name : options.machines) {
        const auto file = hwdb::find_machine(name, folders);
        if (!file) {
            return context.fail(file.diagnostics());
        }
        files.push_back(*file);
    }
    if (options.machines.empty()) {
        for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
            files.push_back(entry.file);
        }
    }
    std::vector<hwdb::LintReport> reports;
    bool good = true;
    for (const fs::path& file : files) {
        const auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
        reports.push_back(analysis::is_sparse_file(file)
                              ? analysis::lint_sparse_machine(file, folders)
                              : hwdb::lint_machine(file, std::chrono::year_month_day(now)));
        context.report(reports.back().findings);
        good = good && !reports.back().findings.has_errors();
    }
    return write_answer(context, report::lint_answer(reports), options.output,
                        good ? Exit::done : Exit::says_no);
}

} // namespace

void add_hw(Frame& frame) {
    CLI::App& hw =
        frame.add("hw", "List, show, and check machines, with the source of every number",
                  "eyeroof hw list\n"
                  "# a description of your own to start from\n"
                  "eyeroof hw show eyeriss-v1 -o mine.yaml\n"
                  "eyeroof hw check ./mine.yaml");

    auto listing = std::make_shared<HwOptions>();
    CLI::App& list_app =
        frame.add("list", "List the machines of the catalog", "eyeroof hw list", &hw);
    add_output(list_app, listing->output, answer_formats());
    frame.run(list_app, [listing](Context& context) { return list(context, *listing); });

    auto showing = std::make_shared<HwOptions>();
    CLI::App& show_app = frame.add("show", "Show one machine as a file to edit, or as a summary",
                                   "eyeroof hw show eyeriss-v1 -o mine.yaml\n"
                                   "eyeroof hw show systolic:32x32:os --format text",
                                   &hw);
    show_app.add_option("machine", showing->machines, "Catalog name or file")
        ->required()
        ->expected(1)
        ->type_name("MACHINE");
    add_output(show_app, showing->output, {"yaml", "text", "json", "csv", "md", "html"});
    frame.run(show_app, [showing](Context& context) { return show(context, *showing); });

    auto checking = std::make_shared<HwOptions>();
    CLI::App& check_app = frame.add(
        "check", "Check machine files: every number has a source, and published peaks agree",
        "eyeroof hw check\n"
        "eyeroof hw check ./mine.yaml --format json",
        &hw);
    check_app.add_option("machines", checking->machines, "Names or files [all]")
        ->type_name("MACHINE");
    add_output(check_app, checking->output, answer_formats());
    frame.run(check_app, [checking](Context& context) { return check(context, *checking); });

    add_hw_calibrate(frame, hw);
}

} // namespace eyeroof::cli
