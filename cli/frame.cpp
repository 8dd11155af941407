#include "base/ascii.hpp"
#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

namespace eyeroof::cli {

#define EYEROOF_COMMAND(name, group) void add_##name(Frame& frame);
#include "cli/commands.def"
#undef EYEROOF_COMMAND

namespace {

constexpr const char* kSummary =
    "Predict how fast a network runs on a machine, what bounds it, and what would make it faster.";
constexpr const char* kFrameExamples =
    "# a token of a language model on a GPU: time and bottleneck of each layer\n"
    "eyeroof exam llama-3-8b:new=1,context=2048 --on h100-sxm-80gb\n"
    "# the catalogs\n"
    "eyeroof hw list\n"
    "eyeroof net list\n"
    "# your own layers on your own machine\n"
    "eyeroof hw show npu-int8 -o mine.yaml\n"
    "eyeroof exam layers.csv --on mine.yaml";

class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        return help_text(*app);
    }
};

} // namespace

const Program& eyeroof_program() {
    static const Program program = {"eyeroof", kSummary, kFrameExamples, add_commands};
    return program;
}

Frame::Frame(const Program& program) : root_(program.summary, program.name) {
    root_.formatter(std::make_shared<HelpFormatter>());
    root_.option_defaults()->always_capture_default(); // help tells them
    root_.set_help_flag("-h,--help", "Show this help and exit");
    root_.set_version_flag("--version", std::string(EYEROOF_VERSION),
                           "Show the version and what is built in");
    root_
        .add_option("--hwdb", global_.hwdb,
                    "Search this folder of machine files first (repeatable)")
        ->type_name("DIR")
        ->allow_extra_args(false);
    add_choice(root_, "--color", global_.colour, {"auto", "always", "never"},
               "Color in text output [auto]");
    root_.require_subcommand(1);
    root_.fallthrough();
    root_.footer(program.examples);
}

CLI::App& Frame::add(const std::string& name, const std::string& summary,
                     const std::string& examples, CLI::App* parent) {
    CLI::App& above = parent == nullptr ? root_ : *parent;
    CLI::App& app = *above.add_subcommand(name, summary);
    app.set_help_flag("-h,--help", "Show this help and exit");
    app.set_help_all_flag("--help-all", "Explain every option and exit");
    app.footer(examples);
    app.fallthrough();
    if (parent != nullptr) {
        parent->require_subcommand(1);
    }
    return app;
}

void Frame::run(CLI::App& app, Action action) {
    // A command with subcommands is called back after them: the deepest that was named is meant.
    app.callback([this, &app, action = std::move(action)] {
        if (app.get_subcommands().empty()) {
            chosen_ = action;
        }
    });
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description) {
    const auto check = [choices](std::string& word) {
        for (const std::string& choice : choices) {
            if (same_in_any_case(choice, word)) {
                word = choice;
                return std::string{};
            }
        }
        return fmt::format("'{}' is not one of {}", word, fmt::join(choices, ", "));
    };
    return app.add_option(name, value, description)
        ->transform(CLI::Validator(check, {}))
        ->type_name(fmt::format("{{{}}}", fmt::join(choices, ",")));
}

namespace {

CLI::Option& output_file(CLI::App& app, std::string& file) {
    return *app.add_option("-o,--output", file, "Write the result to a file, atomically")
                ->type_name("FILE");
}

} // namespace

std::string format_of_name(const std::string& file) {
    static const std::map<std::string, std::string> endings = {
        {".txt", "text"},  {".json", "json"}, {".csv", "csv"}, {".md", "md"},
        {".html", "html"}, {".htm", "html"},  {".svg", "svg"}, {".yaml", "yaml"},
        {".yml", "yaml"},  {".pdf", "pdf"},   {".png", "png"}, {".jsonl", "jsonl"}};
    const auto found = endings.find(std::filesystem::path(file).extension().string());
    return found == endings.end() ? std::string() : found->second;
}

std::string not_written(const std::string& file, const std::vector<std::string>& formats) {
    const std::string named = format_of_name(file);
    const bool known = named.empty() || named == "jsonl" || // a profile's own ending
                       std::find(formats.begin(), formats.end(), named) != formats.end();
    if (known) {
        return {};
    }
    const bool prints =
        named == "pdf" && std::find(formats.begin(), formats.end(), "html") != formats.end();
    return fmt::format(
        "'{}': this command writes {}, not {}; {}", file, fmt::join(formats, ", "), named,
        prints ? "write HTML, which a browser prints to PDF" : "--format overrides the ending");
}

void add_output(CLI::App& app, OutputOptions& options, const std::vector<std::string>& formats) {
    options.format = formats.front();
    const CLI::Option* format =
        add_choice(app, "--format", options.format, formats, "Output format");
    output_file(app, options.file).check([&options, formats, format](const std::string& file) {
        if (format->count() > 0) {
            return std::string();
        }
        std::string wrong = not_written(file, formats);
        if (const std::string named = format_of_name(file);
            wrong.empty() && std::ranges::find(formats, named) != formats.end()) {
            options.format = named;
        }
        return wrong;
    });
}

void add_output_file(CLI::App& app, std::string& file) {
    output_file(app, file);
}

void add_commands(Frame& frame) {
#define EYEROOF_COMMAND(name, title)                                                               \
    add_##name(frame);                                                                             \
    frame.root().get_subcommand(#name)->group(title);
#include "cli/commands.def"
#undef EYEROOF_COMMAND
}

} // namespace eyeroof::cli
