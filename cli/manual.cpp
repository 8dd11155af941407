#include "cli/option_table.hpp"
#include "cli/option_words.hpp"
#include "report/answers/answers.hpp"

#include <fmt/format.h>

#include <sstream>

#ifndef EYEROOF_VERSION
#define EYEROOF_VERSION "unknown"
#endif

namespace eyeroof::cli {

namespace {

// Text for roff: hyphens and backslashes as they are, no line that begins with a control character.
std::string roff(const std::string& text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) {
            out += "\\&";
        }
        if (c == '-') {
            out += "\\-";
        } else if (c == '\\') {
            out += "\\e";
        } else {
            out += c;
        }
        line_start = c == '\n';
    }
    return out;
}

std::string option_entry(const CLI::Option& option) {
    return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(name_of(option)),
                       roff(option.get_description() + limits_of(option)));
}

std::string command_entry(const CLI::App& app, const std::string& above) {
    const std::string path = above + " " + app.get_name();
    std::string text = fmt::format(".SS {}\n{}\n", roff(path), roff(app.get_description()));
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_lnames() != std::vector<std::string>{"help"}) {
            text += option_entry(*option);
        }
    }
    if (!app.get_footer().empty()) {
        text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(app.get_footer()));
    }
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        text += command_entry(*sub, path);
    }
    return text;
}

constexpr const char* kEnd =
    ".SH EXIT STATUS\n"
    ".TP\n\\fB0\\fR\nDone; the result is on standard output or in the file of \\fB\\-o\\fR.\n"
    ".TP\n\\fB1\\fR\nA check or a \\fB\\-\\-fail\\-if\\fR condition failed.\n"
    ".TP\n\\fB2\\fR\nThe command line is wrong.\n"
    ".TP\n\\fB3\\fR\nA file, a machine or a network is.\n"
    ".TP\n\\fB4\\fR\nThe device or its counters are not available.\n"
    ".TP\n\\fB130\\fR\nCancelled.\n"
    ".SH FILES\nMachines and networks are found by name in\n"
    "\\fI$XDG_DATA_HOME/eyeroof/{hwdb,networks}\\fR (default \\fI~/.local/share\\fR) and in the\n"
    "installed \\fIshare/eyeroof\\fR.\n"
    ".SH ENVIRONMENT\n\\fBNO_COLOR\\fR turns color off when it is set and not empty. "
    "\\fBCOLUMNS\\fR\n"
    "sets the width of text, from 80 to 120; the default is the terminal's.\n";

} // namespace

std::string manual_page(const CLI::App& root, const std::string& version) {
    std::string text =
        fmt::format(".TH EYEROOF 1 \"\" \"eyeroof {}\" \"User Commands\"\n", version);
    text += ".SH NAME\neyeroof \\- performance limits of DNN accelerators and GPUs, step by step\n";
    text += ".SH SYNOPSIS\n\\fBeyeroof\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n";
    text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n", roff(root.get_description()));
    for (const CLI::Option* option : root.get_options()) {
        text += option_entry(*option);
    }
    text += ".SH COMMANDS\n";
    for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
        text += command_entry(*sub, root.get_name());
    }
    return text + kEnd;
}

void add_manual(Frame& frame) {
    auto file = std::make_shared<std::string>();
    auto options = std::make_shared<bool>(false);
    auto schema = std::make_shared<std::string>();
    auto folder = std::make_shared<std::string>();
    CLI::App& app = frame.add("manual", "Print the manual page (roff), or a table of all options",
                              "eyeroof manual | man -l -\n"
                              "eyeroof manual --options -o options.md");
    app.add_flag("--options", *options,
                 "Print a table of all options and their commands, as Markdown");
    add_choice(app, "--schema", *schema, report::answer_names(),
               "Print the JSON schema of an answer");
    app.add_option("--schemas", *folder, "Write the JSON schemas of all answers to this directory")
        ->type_name("DIR");
    add_output_file(app, *file);
    frame.run(app, [&frame, file, options, schema, folder](Context& context) {
        Exit exit = Exit::done;
        for (const std::string& name :
             folder->empty() ? std::vector<std::string>() : report::answer_names()) {
            exit = exit == Exit::done ? context.write(report::schema_of(name),
                                                      *folder + "/" + name + ".schema.json")
                                      : exit;
        }
        if (!folder->empty()) {
            return exit;
        }
        if (!schema->empty()) {
            return context.write(report::schema_of(*schema), *file);
        }
        return context.write(*options ? option_table(frame.root())
                                      : manual_page(frame.root(), EYEROOF_VERSION),
                             *file);
    });
}

} // namespace eyeroof::cli
