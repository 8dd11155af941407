// What the Python package needs of the program, without Python: networks and examinations as
// objects, and the command line in this process. Machines and networks of the catalogs are read
// once a process.
#pragma once

#include "analysis/exam/run.hpp"
#include "formats/network_graph.hpp"

#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

namespace eyeroof::python {

using Strings = std::vector<std::string>;
// By the fields' names, with values as the command line takes them.
using Fields = std::map<std::string, Strings>;

// Bad input, reported as the command line reports it; becomes eyeroof.Error.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Network {
    std::shared_ptr<const model::NetworkGraph> wired;
    std::string name; // as it was asked for, and its sizes
    Strings sizes;
    const model::Network& network() const { return wired->network; }
};

struct Exam {
    analysis::Question question;
    analysis::Report report;
    Strings warnings;
};

// Where data lies, the first first.
void set_folders(const Strings& folders);
Network load_network(const std::string& name, const Strings& sizes);
Network parse_network(const std::string& text, const std::string& file);
std::map<std::string, Count> totals(const Network& network);
// With its graph, where it has one.
std::string yaml_of(const Network& network);

// threads 0: the default of the command line.
Exam examined(const Network& network, const Fields& fields, int threads,
              const std::stop_token& stop);
// Names of the fields that an examination takes beside its network.
Strings field_names();
enum class Document { json, csv, text, markdown, html };
std::string written(const Exam& exam, Document document);

// The program's commands in this process: exit code, stdout, stderr.
using CommandEnd = std::tuple<int, std::string, std::string>;
CommandEnd command(const Strings& arguments, const std::stop_token& stop);
// The program as this process: its terminal, its signals, its exit code.
int run_as_process(const Strings& arguments);

} // namespace eyeroof::python
