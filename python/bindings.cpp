// eyeroof._eyeroof: what the Python package needs of the program: examinations as objects, and the
// command line itself, in this process. Everything that takes time runs without the interpreter's
// lock. Machines and networks of the catalogs are read once a process.
#include "analysis/chip/chip_figures.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/resolve/resolve.hpp"
#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/headline.hpp"
#include "cli/program.hpp"
#include "cli/tune/tune_program.hpp"
#include "formats/network_graph.hpp"
#include "formats/network_yaml.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/technology_reader.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/exam/text.hpp"

#include "python/interruptible.hpp"
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

namespace py = pybind11;
using namespace eyeroof; // NOLINT(google-build-using-namespace)
using python::interruptible;

namespace {

using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

// Bad input, reported as the command line reports it; becomes eyeroof.Error.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string told(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& d : diagnostics) {
        if (d.severity == Severity::error) {
            text += (text.empty() ? "" : "\n") + to_string(d);
        }
    }
    return text;
}

template <class T> T checked(Result<T> result) {
    if (!result) {
        throw BadInput(told(result.diagnostics()));
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

struct NetworkHandle {
    std::shared_ptr<const model::NetworkGraph> wired;
    std::string name; // as it was asked for, and its sizes
    Strings sizes;
    const model::Network& network() const { return wired->network; }
};

struct Exam {
    analysis::Question question;
    analysis::Report report;
    std::vector<std::string> warnings;
};

// By the fields' names, with values as the command line takes them.
using Fields = std::map<std::string, Strings>;

analysis::Scenario scenario_of(const NetworkHandle& network, const Fields& fields) {
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
        throw BadInput(told(wrong));
    }
    return scenario;
}

Exam examined(const NetworkHandle& network, const Fields& fields, int threads,
              const std::stop_token& stop) {
    analysis::Scenario scenario = scenario_of(network, fields);
    scenario.threads = threads;
    Exam exam;
    exam.question = library().question(scenario, *network.wired);
    const analysis::Question& question = exam.question;
    auto report = analysis::run(question, stop);
    if (!report) {
        throw BadInput(told(report.diagnostics()));
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

// Names of the fields that an examination takes beside its network.
std::vector<std::string> field_names() {
    std::vector<std::string> names;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        if (field.name != "network" && field.name != "dim" && field.name != "on") {
            names.push_back(field.json_key());
        }
    }
    return names;
}

// The program's commands in this process: exit code, stdout, stderr.
using CommandEnd = std::tuple<int, std::string, std::string>;
CommandEnd command(const Strings& arguments, const std::stop_token& stop) {
    std::ostringstream out;
    std::ostringstream err;
    cli::Environment environment;
    environment.out = &out;
    environment.err = &err;
    environment.no_colour = true;
    environment.data_dirs = library().folders();
    environment.built_in = {"Python package"};
    environment.stop = stop;
    environment.start = cli::tune_in_this_process;
    const int exit = cli::run_program(arguments, environment);
    return {exit, out.str(), err.str()};
}

// The largest batch and the headline take far longer than a layer's exam: they are found when a
// document is asked for.
template <class Write> auto document(Write write) {
    return [write](const Exam& exam) -> std::string {
        const py::gil_scoped_release free;
        analysis::Report complete = exam.report;
        analysis::find_largest_batch(complete, exam.question);
        analysis::find_headline(complete, exam.question);
        return write(complete);
    };
}

void add_exam(py::module_& m) {
    py::class_<Exam>(m, "Exam")
        .def_property_readonly("machine", [](const Exam& e) { return e.report.machine.name; })
        .def_property_readonly("network", [](const Exam& e) { return e.report.network_name; })
        .def_property_readonly("time_s", [](const Exam& e) { return e.report.total.time_s; })
        .def_property_readonly("energy_j", [](const Exam& e) { return e.report.total.energy_j; })
        .def_property_readonly("macs", [](const Exam& e) { return e.report.total.macs; })
        .def_property_readonly("outer_bytes",
                               [](const Exam& e) { return e.report.total.outer_bytes; })
        .def_property_readonly("utilization",
                               [](const Exam& e) { return e.report.total.utilization; })
        .def_property_readonly("interval_s",
                               [](const Exam& e) -> std::optional<std::pair<double, double>> {
                                   const auto& t = e.report.total;
                                   return t.low_s && t.high_s
                                              ? std::optional(std::pair(*t.low_s, *t.high_s))
                                              : std::nullopt;
                               })
        .def_property_readonly("uncosted_share",
                               [](const Exam& e) { return e.report.uncosted_share; })
        .def_readonly("warnings", &Exam::warnings)
        .def_property_readonly("words", [](const Exam& e) { return e.report.words; })
        .def("json",
             document([](const auto& r) { return report::to_json(report::exam_answer(r)); }))
        .def("csv", document([](const auto& r) { return report::to_csv(report::exam_answer(r)); }))
        .def("text", document([](const auto& r) { return report::to_text(r); }))
        .def("markdown",
             document([](const auto& r) { return report::to_markdown(report::exam_answer(r)); }))
        .def("html",
             document([](const auto& r) { return report::to_html(report::exam_answer(r)); }));
}

// With its graph, where it has one.
std::string yaml_of(const NetworkHandle& n) {
    const auto& edges = n.wired->edges;
    return formats::write_network_yaml(n.network()) +
           (edges ? formats::write_edges(*edges, n.network().layers) : "");
}

} // namespace

PYBIND11_MODULE(_eyeroof, m) {
    m.attr("__version__") = EYEROOF_VERSION;
    py::register_exception<BadInput>(m, "Error", PyExc_ValueError);
    m.def("set_folders", [](const Strings& folders) { library().set_folders(folders); });
    py::class_<NetworkHandle>(m, "Network")
        .def_property_readonly("id", [](const NetworkHandle& n) { return n.network().id; })
        .def_property_readonly("name", [](const NetworkHandle& n) { return n.network().name; })
        .def("__len__", [](const NetworkHandle& n) { return n.network().layers.size(); })
        .def("totals",
             [](const NetworkHandle& n) {
                 const auto t = checked(totals_of(n.network()));
                 return std::map<std::string, Count>{{"macs", t.macs},
                                                     {"flops", t.flops},
                                                     {"parameters", t.parameters},
                                                     {"weight_bytes", t.weight_bytes}};
             })
        .def("yaml", [](const NetworkHandle& n) { return yaml_of(n); });
    add_exam(m);
    m.def("network", [](const std::string& name, const Strings& sizes) {
        return interruptible([name, sizes](const std::stop_token&) {
            return NetworkHandle{library().network(name, sizes), name, sizes};
        });
    });
    m.def("parse_network", [](std::string text, const std::string& file) {
        return interruptible([text = std::move(text), file](const std::stop_token&) {
            auto read = checked(formats::parse_network_yaml(text, file));
            const std::string id = read.network.id;
            return NetworkHandle{std::make_shared<const model::NetworkGraph>(model::NetworkGraph{
                                     std::move(read.network), std::move(read.edges)}),
                                 id,
                                 {}};
        });
    });
    m.def("exam", [](const NetworkHandle& network, const Fields& fields, int threads) {
        return interruptible(
            [=](const std::stop_token& stop) { return examined(network, fields, threads, stop); });
    });
    m.def("fields", &field_names);
    m.def("command", [](const Strings& arguments) {
        return interruptible(
            [arguments](const std::stop_token& stop) { return command(arguments, stop); });
    });
}
