// eyeroof._eyeroof: what the Python package needs of the program: examinations as objects, and the
// command line itself, in this process. Everything that takes time runs without the interpreter's
// lock. Machines and networks of the catalogs are read once a process.
#include "cli/program.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/technology_reader.hpp"
#include "study/exam/run.hpp"
#include "study/formats/catalog.hpp"
#include "study/formats/network_yaml.hpp"
#include "study/report/csv.hpp"
#include "study/report/html.hpp"
#include "study/report/json.hpp"
#include "study/report/markdown.hpp"
#include "study/report/text.hpp"
#include "study/silicon/chip_figures.hpp"
#include "study/step/fit.hpp"
#include "study/sweep/fields.hpp"
#include "study/upgrade/surroundings.hpp"
#include "study/what_if/knobs.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

namespace py = pybind11;
using namespace eyeroof; // NOLINT(google-build-using-namespace)

namespace {

using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

// Bad input, told as the command line tells it; becomes eyeroof.Error.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string told(const model::Diagnostics& diagnostics) {
    std::string text;
    for (const model::Diagnostic& d : diagnostics) {
        if (d.severity == model::Severity::error) {
            text += (text.empty() ? "" : "\n") + to_string(d);
        }
    }
    return text;
}

template <class T> T checked(model::Result<T> result) {
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
        machines_.clear();
        networks_.clear();
        hosts_.clear();
    }
    std::vector<fs::path> folders() const { return folders_; }

    std::shared_ptr<const model::Machine> machine(const std::string& name, const Strings& set) {
        std::string key = name;
        for (const std::string& change : set) {
            key += '\n' + change;
        }
        return known(machines_, key, is_path(name), [&] {
            auto machine = checked(hwdb::load_machine(name, below("hwdb")));
            return set.empty() ? machine : checked(study::changed(machine, set));
        });
    }
    std::shared_ptr<const study::read::WiredNetwork> network(const std::string& name,
                                                             const Strings& sizes) {
        std::string key = name;
        for (const std::string& size : sizes) {
            key += (&size == &sizes.front() && name.find(':') == std::string::npos ? ":" : ",");
            key += size;
        }
        return known(networks_, key, is_path(name), [&] {
            return checked(study::read::load_wired_network(key, below("networks")));
        });
    }
    // What issues a machine's kernels; nothing for accelerators.
    std::shared_ptr<const model::HostIssue> host(const model::Machine& machine) {
        return known(hosts_, machine.id + "\n" + machine.name, false,
                     [&] { return checked(study::host_issue("", machine, below("hwdb"))); });
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

    // Nothing where no folder has one that can be read: the chip is then not told.
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
    std::map<std::string, std::shared_ptr<const model::Machine>> machines_;
    std::map<std::string, std::shared_ptr<const study::read::WiredNetwork>> networks_;
    bool technology_tried_ = false;
    std::optional<model::Technology> technology_;
    std::map<std::string, std::shared_ptr<const model::HostIssue>> hosts_; // by id and name
};

Library& library() {
    static Library only;
    return only;
}

struct NetworkHandle {
    std::shared_ptr<const study::read::WiredNetwork> wired;
    const model::Network& network() const { return wired->network; }
};

struct Asked {
    std::optional<std::int64_t> batch;
    std::map<std::string, std::string> words; // dtype, dataflow, mapping, launch, operators, phase
    std::optional<std::string> layers;
    int threads = 0;
};

struct Exam {
    study::Report report;
    std::vector<std::string> warnings;
    NetworkHandle network;
    std::shared_ptr<const model::Machine> machine;
    Asked asked;
    std::optional<study::TrainingOptions> training;
};

// What the documents say of memory, as the command line's do; worked out when one is written, so
// that an examination alone stays cheap.
std::optional<study::MemoryFit> memory_of(const Exam& exam) {
    const auto* gpu = std::get_if<model::Gpu>(&exam.machine->kind);
    const auto word = [&](const char* name) {
        const auto found = exam.asked.words.find(name);
        return found == exam.asked.words.end() ? std::string() : found->second;
    };
    if (gpu == nullptr || gpu->arch == model::GpuArch::host || gpu->dram_bytes <= 0.0 ||
        exam.asked.layers.value_or("") != "" || word("operators") == "products") {
        return std::nullopt;
    }
    study::StudyOptions typed;
    typed.data_type = model::data_type_from_name(word("dtype"));
    const auto whole = study::prepared(exam.network.network(), typed);
    if (!whole) {
        return std::nullopt;
    }
    study::step::FitQuestion question{*whole, exam.network.wired->wiring, {}, true};
    question.options.training = exam.training;
    const auto fit = study::step::fit_of(question, *gpu, exam.asked.batch.value_or(1));
    return fit ? std::optional(
                     study::MemoryFit{fit->peak, fit->limit, fit->largest_batch, fit->chain})
               : std::nullopt;
}

study::StudyOptions options_of(const Asked& asked, const model::Machine& machine) {
    study::StudyOptions options;
    options.batch = asked.batch;
    options.layers = asked.layers;
    options.threads = asked.threads;
    for (const auto& [name, word] : asked.words) {
        for (const study::SweptOption& option : study::swept_options()) {
            if (option.name == name && !option.set(options, word)) {
                throw BadInput("'" + word + "' is no " + name + " [bad-value]");
            }
        }
    }
    options.host = *library().host(machine);
    return options;
}

Exam examined(Exam exam) {
    const py::gil_scoped_release free;
    const auto options = options_of(exam.asked, *exam.machine);
    exam.training = options.training;
    auto report = study::run(exam.network.network(), *exam.machine, options);
    if (!report) {
        throw BadInput(told(report.diagnostics()));
    }
    for (const model::Diagnostic& d : report.diagnostics()) {
        exam.warnings.push_back(d.message);
    }
    exam.report = *std::move(report);
    if (const auto& technology = library().technology()) {
        for (const model::Diagnostic& d :
             study::add_chip(*exam.machine, *technology, exam.report)) {
            exam.warnings.push_back(d.message);
        }
    }
    return exam;
}

// The program's commands in this process: exit code, stdout, stderr.
std::tuple<int, std::string, std::string> command(const Strings& arguments) {
    const py::gil_scoped_release free;
    std::ostringstream out;
    std::ostringstream err;
    cli::Environment environment;
    environment.out = &out;
    environment.err = &err;
    environment.no_colour = true;
    environment.data_dirs = library().folders();
    environment.built_in = {"Python package"};
    const int exit = cli::run_program(arguments, environment);
    return {exit, out.str(), err.str()};
}

// A document of an examination: write(report, memory).
template <class Write> auto document(Write write) {
    return [write](const Exam& exam) -> std::string {
        const py::gil_scoped_release free;
        const auto memory = memory_of(exam);
        return write(exam.report, memory ? &*memory : nullptr);
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
        .def_readonly("warnings", &Exam::warnings)
        .def("json", document([](const auto& r, auto* m) { return study::to_json(r, m); }))
        .def("csv", document([](const auto& r, auto*) { return study::to_csv(r); }))
        .def("text", document([](const auto& r, auto* m) { return study::to_text(r, {}, m); }))
        .def("markdown", document([](const auto& r, auto* m) { return study::to_markdown(r, m); }))
        .def("html", document([](const auto& r, auto* m) { return study::to_html(r, m); }));
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
                 return std::map<std::string, model::Count>{{"macs", t.macs},
                                                            {"flops", t.flops},
                                                            {"parameters", t.parameters},
                                                            {"weight_bytes", t.weight_bytes}};
             })
        .def("yaml",
             [](const NetworkHandle& n) { return study::read::write_network_yaml(n.network()); });
    add_exam(m);
    m.def("network", [](const std::string& name, const Strings& sizes) {
        const py::gil_scoped_release free;
        return NetworkHandle{library().network(name, sizes)};
    });
    m.def("parse_network", [](std::string text, const std::string& file) {
        const py::gil_scoped_release free;
        auto read = checked(study::read::parse_network_yaml(std::move(text), file));
        return NetworkHandle{std::make_shared<const study::read::WiredNetwork>(
            study::read::WiredNetwork{std::move(read.network), std::move(read.wiring)})};
    });
    m.def("exam", [](const NetworkHandle& network, const std::string& machine, const Strings& set,
                     std::optional<std::int64_t> batch, std::optional<std::string> layers,
                     std::map<std::string, std::string> words, int threads) {
        const auto on = library().machine(machine, set);
        return examined(
            {{}, {}, network, on, {batch, std::move(words), std::move(layers), threads}, {}});
    });
    m.def("command", &command);
}
