// The points of a sweep: every combination of the varied fields, the last one fastest, and
// the machine, network, and options of each.
// Made once by `sweep`; read by all its threads.
#pragma once

#include "analysis/scenario/question.hpp"
#include "analysis/sweep/fields.hpp"
#include "model/workload/graph_edges.hpp"

#include <cstdint>
#include <functional>
#include <utility>

namespace eyeroof::analysis {

struct SweepQuestion {
    Scenario scenario; // before it is varied
    std::vector<std::string> vary;
};

// How names become values: the catalogs, or a test.
struct SweepSources {
    std::function<Result<model::Machine>(const std::string&)> machine;
    std::function<Result<model::NetworkGraph>(const std::string&, const std::vector<std::string>&)>
        network;
    // The host of a GPU, with its name; nothing: textbook_host().
    std::function<std::pair<model::HostIssue, std::string>(const model::Machine&)> host = {};
};

class SweepGrid {
  public:
    // Errors, all at once: those of the sources for every machine and network named; those of the
    // fields; "bad-sweep" for a field that is varied twice; "too-many".
    static Result<SweepGrid> make(const SweepQuestion& question, const SweepSources& sources);

    std::uint64_t points() const { return points_; }
    const std::vector<VariedField>& fields() const { return fields_; }
    // Position on each field of point number `point`.
    std::vector<std::size_t> at(std::uint64_t point) const;

    // The parts of a point, numbered by the fields that make them; equal numbers are equal parts.
    std::uint64_t machine_number(const std::vector<std::size_t>& at) const;
    std::uint64_t workload_number(const std::vector<std::size_t>& at) const; // with the options
    std::size_t
    machine_base(const std::vector<std::size_t>& at) const; // before parameters are turned
    // A machine without its bandwidths and clock: what mappings and counts depend on, with the
    // options.
    std::uint64_t structure_number(const std::vector<std::size_t>& at) const;
    // The same without the sizes of its arrays: what the mappings of a spread depend on, but for
    // where the array's edge is.
    std::uint64_t spread_number(const std::vector<std::size_t>& at) const;
    // The same without the sizes of its stores and arrays: what the counts of a mapping depend on.
    std::uint64_t counts_number(const std::vector<std::size_t>& at) const;

    // Whether mappings that were counted may be asked for again on other sizes of stores.
    bool varies_stores() const { return spread_ != counted_; }

    // Its parameters turned, then its power cap; sources are left away. Errors: what validate()
    // says of it, and those of a cap.
    Result<model::Machine> machine_at(const std::vector<std::size_t>& at) const;
    const model::NetworkGraph& network_at(const std::vector<std::size_t>& at) const;
    Scenario scenario_at(const std::vector<std::size_t>& at) const;
    // On this machine, which is the point's.
    Question question_at(const std::vector<std::size_t>& at, model::Machine machine) const;

    // Of all that the answers depend on: two sweeps with one fingerprint give the same file.
    std::uint64_t fingerprint() const { return fingerprint_; }

  private:
    using Positions = std::vector<std::size_t>;

    Diagnostics load_machines(const SweepQuestion& question, const SweepSources& sources,
                              const std::vector<VaryText>& texts);
    Diagnostics load_networks(const SweepQuestion& question, const SweepSources& sources);
    Diagnostics check_caps(const Scenario& scenario) const;
    void find_structure();
    template <class Strip> bool changes_more(std::size_t field, Strip strip) const;
    void take_fingerprint(const SweepQuestion& question);
    template <class Counts> std::uint64_t number(const Positions& at, Counts counts) const;

    std::vector<VariedField> fields_;
    std::vector<bool> structural_; // by field
    std::vector<bool> spread_;     // those of them that change more than sizes of arrays
    std::vector<bool> counted_;    // … and of stores
    std::vector<model::Machine> machines_;
    std::vector<std::vector<Parameter>>
        parameters_; // by machine, by field; empty where it is no parameter
    std::vector<model::NetworkGraph> networks_; // every combination of the network's own fields
    Scenario scenario_;
    std::vector<std::pair<model::HostIssue, std::string>> hosts_; // by machine
    bool capped_ = false; // the scenario's power, or that of some points
    std::uint64_t points_ = 1;
    std::uint64_t fingerprint_ = 0;
};

} // namespace eyeroof::analysis
