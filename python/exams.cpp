#include "python/exams.hpp"

#include "analysis/chip/chip_figures.hpp"
#include "analysis/resolve/resolve.hpp"
#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/headline.hpp"
#include "cli/program_main.hpp"
#include "cli/tune/tune_program.hpp"
#include "formats/network_yaml.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/technology_reader.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/exam/text.hpp"

#include <iostream>
#include <mutex>
#include <sstream>

namespace eyeroof::python {

namespace {

namespace fs = std::filesystem;

std::string errors_of(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& d : diagnostics) {
        const std::string one = to_string(d);
        if (d.severity == Severity::error && text.find(one) == std::string::npos) {
            text += (text.empty() ? "" : "\n") + one;
        }
    }
    return text;
}

template <class T> T checked(Result<T> result) {
    if (!result) {
        throw BadInput(errors_of(result.diagnostics()));
    }
    return *std::move(result);
}

// Where data lies, and what was already read from there.
class Library {
  public:
    void set_folders(const Strings& folders) {
        const std::lock_guard lock(mutex_);
        folders_.assign(folders.begin(), folders.end());
        networks_.clear();
        resolved_.clear();
    }
    std::vector<fs::path> folders() const { return folders_; }

    analysis::DataFolders data() const { return {below("hwdb"), below("networks")}; }
    std::shared_ptr<const model::NetworkGraph> network(const std::string& name,
                                                       const Strings& sizes) {
        std::string key = name;
        for (const std::string& size : sizes) {
            key += '\n' + size;
        }
        return known(networks_, key, is_path(name),
                     [&] { return checked(analysis::load_workload(name, sizes, data())); });
    }
    // The machine, host and files that a scenario names, read once a process.
    analysis::Question question(const analysis::Scenario& scenario,
                                const model::NetworkGraph& network) {
        const analysis::Scenario files = files_of(scenario);
        const bool afresh = is_path(files.machine) || !files.energies.empty() ||
                            !files.mapping_file.empty() || !files.constraints_file.empty();
        analysis::Question question =
            *known(resolved_, analysis::scenario_json(files), afresh, [&] {
                return checked(analysis::resolve(files, model::NetworkGraph{}, data()));
            });
        question.scenario = scenario;
        question.network = network.network;
        question.edges = network.edges;
        return question;
    }
    std::vector<fs::path> below(const char* what) const {
        std::vector<fs::path> paths;
        std::error_code ignored;
        for (const fs::path& folder : folders_) {
            if (fs::is_directory(folder / what, ignored)) {
                paths.push_back(folder / what);
            }
        }
        return paths;
    }

    // Nothing where no folder has one that can be read: the chip is then unknown.
    const std::optional<model::Technology>& technology() {
        const std::lock_guard lock(mutex_);
        if (!technology_tried_) {
            technology_tried_ = true;
            const auto folders = below("hwdb");
            auto read = hwdb::load_technology(folders);
            technology_ = read ? std::optional(*std::move(read)) : std::nullopt;
        }
        return technology_;
    }

  private:
    // The fields that decide what is read.
    static analysis::Scenario files_of(const analysis::Scenario& scenario) {
        analysis::Scenario files;
        files.network = is_path(scenario.network) ? scenario.network : std::string();
        files.machine = scenario.machine;
        files.changes = scenario.changes;
        files.energies = scenario.energies;
        files.host = scenario.host;
        files.policy = scenario.policy;
        files.mapping_file = scenario.mapping_file;
        files.constraints_file = scenario.constraints_file;
        return files;
    }

    // Files of the user's own may change between two calls.
    static bool is_path(const std::string& name) {
        std::error_code ignored;
        return name.find('/') != std::string::npos || fs::exists(name, ignored);
    }

    template <class T, class Make>
    std::shared_ptr<const T> known(std::map<std::string, std::shared_ptr<const T>>& all,
                                   const std::string& key, bool afresh, Make make) {
        if (!afresh) {
            const std::lock_guard lock(mutex_);
            const auto found = all.find(key);
            if (found != all.end()) {
                return found->second;
            }
        }
        auto made = std::make_shared<const T>(make());
        if (!afresh) {
            const std::lock_guard lock(mutex_);
            all[key] = made;
        }
        return made;
    }

    std::mutex mutex_;
    std::vector<fs::path> folders_;
    std::map<std::string, std::shared_ptr<const model::NetworkGraph>> networks_;
    std::map<std::string, std::shared_ptr<const analysis::Question>> resolved_; // without a network
    bool technology_tried_ = false;
    std::optional<model::Technology> technology_;
};

Library& library() {
    static Library& only =
        *new Library; // never destroyed: work that was given up may still read it
    return only;
}

analysis::Scenario scenario_of(const Network& network, const Fields& fields) {
    analysis::Scenario scenario;
    scenario.network = network.name;
    scenario.sizes = network.sizes;
    Diagnostics wrong;
    for (const analysis::ScenarioField& field :
         analysis::scenario_fields()) { // in the fields' order
        if (const auto given = fields.find(field.json_key()); given != fields.end()) {
            wrong.append(field.set(scenario, given->second));
        }
    }
    if (wrong.has_errors()) {
        throw BadInput(errors_of(wrong));
    }
    return scenario;
}

} // namespace

void set_folders(const Strings& folders) {
    library().set_folders(folders);
}

Network load_network(const std::string& name, const Strings& sizes) {
    return {library().network(name, sizes), name, sizes};
}

Network parse_network(const std::string& text, const std::string& file) {
    auto read = checked(formats::parse_network_yaml(text, file));
    const std::string id = read.network.id;
    return {std::make_shared<const model::NetworkGraph>(
                model::NetworkGraph{std::move(read.network), std::move(read.edges)}),
            id,
            {}};
}

std::map<std::string, Count> totals(const Network& network) {
    const auto t = checked(totals_of(network.network()));
    return {{"macs", t.macs},
            {"flops", t.flops},
            {"parameters", t.parameters},
            {"weight_bytes", t.weight_bytes}};
}

std::string yaml_of(const Network& network) {
    const auto& edges = network.wired->edges;
    return formats::write_network_yaml(network.network()) +
           (edges ? formats::write_edges(*edges, network.network().layers) : "");
}

Exam examined(const Network& network, const Fields& fields, int threads,
              const std::stop_token& stop) {
    analysis::Scenario scenario = scenario_of(network, fields);
    scenario.threads = threads;
    Exam exam;
    exam.question = library().question(scenario, *network.wired);
    const analysis::Question& question = exam.question;
    auto report = analysis::run(question, stop);
    if (!report) {
        throw BadInput(errors_of(report.diagnostics()));
    }
    for (const Diagnostic& d : report.diagnostics()) {
        exam.warnings.push_back(d.message);
    }
    exam.report = *std::move(report);
    if (const auto& technology = library().technology()) {
        for (const Diagnostic& d : analysis::add_chip(question.machine, *technology, exam.report)) {
            exam.warnings.push_back(d.message);
        }
    }
    return exam;
}

Strings field_names() {
    std::vector<std::string> names;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        if (field.name != "network" && field.name != "dim" && field.name != "on") {
            names.push_back(field.json_key());
        }
    }
    return names;
}

namespace {

// Data, and what is in a program that Python runs.
void adapt(cli::Environment& environment) {
    environment.data_dirs = library().folders();
    environment.built_in = {"Python package"};
    environment.start = cli::tune_in_this_process;
}

} // namespace

int run_as_process(const Strings& arguments) {
    Strings words = {"eyeroof"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    const int exit =
        cli::run_process(static_cast<int>(argv.size()), argv.data(), cli::eyeroof_program(), adapt);
    std::cout.flush();
    return exit;
}

CommandEnd command(const Strings& arguments, const std::stop_token& stop) {
    std::ostringstream out;
    std::ostringstream err;
    cli::Environment environment;
    environment.out = &out;
    environment.err = &err;
    environment.no_colour = true;
    environment.stop = stop;
    adapt(environment);
    const int exit = cli::run_program(arguments, environment);
    return {exit, out.str(), err.str()};
}

// The largest batch and the headline take far longer than a layer's exam: they are found when a
// document is asked for.
std::string written(const Exam& exam, Document document) {
    analysis::Report complete = exam.report;
    analysis::find_largest_batch(complete, exam.question);
    analysis::find_headline(complete, exam.question);
    switch (document) {
    case Document::text:
        return report::to_text(complete);
    case Document::json:
        return report::to_json(report::exam_answer(complete));
    case Document::csv:
        return report::to_csv(report::exam_answer(complete));
    case Document::markdown:
        return report::to_markdown(report::exam_answer(complete));
    case Document::html:
        return report::to_html(report::exam_answer(complete));
    }
    return {};
}

} // namespace eyeroof::python
