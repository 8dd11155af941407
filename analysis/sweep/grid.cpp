#include "analysis/sweep/grid.hpp"

#include "analysis/scenario/power_cap.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/gpu_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace eyeroof::analysis {

using model::Machine;
using model::Network;
using What = VariedField::What;

namespace {

bool of_network(const VariedField& field) {
    return field.what == What::network || field.what == What::size;
}

bool varies_power_cap(const VariedField& field) {
    return field.what == What::option && field.key == kPowerCap;
}

// The machine with every bandwidth and the clock at one.
Machine without_pace(Machine machine) {
    if (auto* accelerator = std::get_if<model::Accelerator>(&machine.kind)) {
        accelerator->clock_hz = 1.0;
        for (model::Level& level : accelerator->levels) {
            for (model::Store& store : level.stores) {
                store.read_bytes_per_cycle = 1.0;
                store.write_bytes_per_cycle = 1.0;
            }
            for (model::Channel& channel : level.channels) {
                channel.down_bytes_per_cycle = 1.0;
                channel.up_bytes_per_cycle = 1.0;
            }
        }
    }
    return machine;
}

// … and without the sizes of its arrays.
Machine without_arrays(Machine machine) {
    if (auto* accelerator = std::get_if<model::Accelerator>(&machine.kind)) {
        for (model::Level& level : accelerator->levels) {
            for (model::Axis& axis : level.fanout) {
                axis.size = 1;
            }
        }
    }
    return without_pace(std::move(machine));
}

// … and without those of its stores.
Machine without_sizes(Machine machine) {
    if (auto* accelerator = std::get_if<model::Accelerator>(&machine.kind)) {
        for (model::Level& level : accelerator->levels) {
            for (model::Store& store : level.stores) {
                store.capacity_bytes = 1;
            }
        }
    }
    return without_arrays(std::move(machine));
}

// FNV-1a, 64 bit: the same on every machine.
class Fingerprint {
  public:
    void add(std::string_view text) {
        for (const char c : text) {
            take(static_cast<unsigned char>(c));
        }
        take(0xff); // "ab" "c" is not "a" "bc"
    }
    std::uint64_t value() const { return value_; }

  private:
    void take(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211ULL; }
    std::uint64_t value_ = 14695981039346656037ULL;
};

std::string description(const Machine& machine) {
    return std::holds_alternative<model::Gpu>(machine.kind)
               ? hwdb::write_gpu(machine, machine.id, machine.id)
               : hwdb::write_accelerator(machine);
}

std::string description(const Network& network) {
    std::string text = network.id;
    for (const model::Layer& layer : network.layers) {
        const auto work = work_of(layer);
        text += fmt::format("\n{} {} {} {}", layer.name, layer.count, work ? work->macs : 0,
                            work ? work->bytes() : 0);
    }
    return text;
}

} // namespace

template <class Counts> std::uint64_t SweepGrid::number(const Positions& at, Counts counts) const {
    std::uint64_t number = 0;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
        if (counts(f)) {
            number = number * fields_[f].texts.size() + at[f];
        }
    }
    return number;
}

std::vector<std::size_t> SweepGrid::at(std::uint64_t point) const {
    Positions at(fields_.size());
    for (std::size_t f = fields_.size(); f-- > 0;) {
        at[f] = static_cast<std::size_t>(point % fields_[f].texts.size());
        point /= fields_[f].texts.size();
    }
    return at;
}

std::uint64_t SweepGrid::machine_number(const Positions& at) const {
    return number(at, [&](std::size_t f) {
        return fields_[f].what == What::machine || fields_[f].what == What::parameter ||
               varies_power_cap(fields_[f]);
    });
}

std::uint64_t SweepGrid::workload_number(const Positions& at) const {
    return number(at, [&](std::size_t f) {
        return of_network(fields_[f]) || fields_[f].what == What::option;
    });
}

std::uint64_t SweepGrid::structure_number(const Positions& at) const {
    return number(at, [&](std::size_t f) { return structural_[f]; });
}

std::uint64_t SweepGrid::spread_number(const Positions& at) const {
    return number(at, [&](std::size_t f) { return spread_[f]; });
}

std::uint64_t SweepGrid::counts_number(const Positions& at) const {
    return number(at, [&](std::size_t f) { return counted_[f]; });
}

std::size_t SweepGrid::machine_base(const Positions& at) const {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
        if (fields_[f].what == What::machine) {
            return at[f];
        }
    }
    return 0;
}

Result<Machine> SweepGrid::machine_at(const Positions& at) const {
    const std::size_t base = machine_base(at);
    Machine machine = machines_[base];
    for (const bool clock : {true, false}) { // other values are of the clock in force
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            if (fields_[f].what == What::parameter && fields_[f].key.ends_with("clock") == clock) {
                parameters_[base][f].set(machine, fields_[f].numbers[base][at[f]]);
            }
        }
    }
    if (capped_) { // below the limit that is set
        std::vector<std::string> caps = scenario_at(at).changes;
        std::erase_if(caps, [](const std::string& change) { return !is_power_cap(change); });
        return changed(machine, caps);
    }
    Diagnostics wrong = std::visit([](const auto& kind) { return validate(kind); }, machine.kind);
    return wrong.has_errors() ? Result<Machine>(std::move(wrong))
                              : Result<Machine>(std::move(machine));
}

const model::NetworkGraph& SweepGrid::network_at(const Positions& at) const {
    return networks_[number(at, [&](std::size_t f) { return of_network(fields_[f]); })];
}

Scenario SweepGrid::scenario_at(const Positions& at) const {
    Scenario scenario = scenario_;
    for (const ScenarioField* option : swept_fields()) { // the phase before its optimizer
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            if (fields_[f].what == What::option && option->name == fields_[f].key) {
                set_field(*option, fields_[f].texts[at[f]], scenario);
            }
        }
    }
    return scenario;
}

Question SweepGrid::question_at(const Positions& at, Machine machine) const {
    const model::NetworkGraph& wired = network_at(at);
    Question question;
    question.scenario = scenario_at(at);
    question.network = wired.network;
    question.edges = wired.edges;
    question.machine = std::move(machine);
    std::tie(question.host, question.host_id) = hosts_[machine_base(at)];
    return question;
}

Diagnostics SweepGrid::load_machines(const SweepQuestion& question, const SweepSources& sources,
                                     const std::vector<VaryText>& texts) {
    std::vector<std::string> names = {question.scenario.machine};
    for (const VaryText& text : texts) {
        names = text.field == "machine" ? text.values : names;
    }
    std::vector<std::string> changes = question.scenario.changes;
    capped_ = std::erase_if(changes, is_power_cap) > 0;
    Diagnostics found;
    for (const std::string& name : names) {
        auto machine = sources.machine(name);
        if (machine && !changes.empty()) {
            machine = changed(*machine, changes);
        }
        found.append(machine.diagnostics());
        if (machine) {
            hosts_.push_back(sources.host ? sources.host(*machine)
                                          : std::pair<model::HostIssue, std::string>{});
            machines_.push_back(*std::move(machine));
        }
    }
    return found;
}

Diagnostics SweepGrid::load_networks(const SweepQuestion& question, const SweepSources& sources) {
    std::uint64_t count = 1;
    for (const VariedField& field : fields_) {
        count *= of_network(field) ? field.texts.size() : 1;
    }
    Diagnostics found;
    if (count > 100'000) {
        found.error("too-many", fmt::format("{} different networks are too many", count),
                    "split the sweep by networks");
        return found;
    }
    for (std::uint64_t i = 0; i < count && !found.has_errors(); ++i) {
        std::string name = question.scenario.network;
        std::vector<std::string> sizes = question.scenario.sizes;
        std::uint64_t rest = i;
        for (std::size_t f = fields_.size(); f-- > 0;) {
            if (of_network(fields_[f])) {
                const std::string& text = fields_[f].texts[rest % fields_[f].texts.size()];
                rest /= fields_[f].texts.size();
                const bool whole = fields_[f].what == What::network;
                name = whole ? text : name;
                if (!whole) {
                    sizes.push_back(fields_[f].key + "=" + text);
                }
            }
        }
        auto network = sources.network(name, sizes);
        found.append(network.diagnostics());
        if (network) {
            networks_.push_back(*std::move(network));
        }
    }
    return found;
}

// Caps that a machine refuses at its lowest power limit; a higher one refuses its points.
Diagnostics SweepGrid::check_caps(const Scenario& scenario) const {
    std::vector<std::string> caps = scenario.changes;
    std::erase_if(caps, [](const std::string& change) { return !is_power_cap(change); });
    for (const VariedField& field : fields_) {
        for (std::size_t i = 0; varies_power_cap(field) && i < field.texts.size(); ++i) {
            caps.push_back(std::string(kPowerCap) + "=" + field.texts[i]);
        }
    }
    Diagnostics found;
    for (std::size_t m = 0; m < machines_.size(); ++m) {
        Machine machine = machines_[m];
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            if (fields_[f].what == What::parameter && fields_[f].key == "power-limit") {
                parameters_[m][f].set(machine, std::ranges::min(fields_[f].numbers[m]));
            }
        }
        for (const std::string& cap : caps) {
            found.append(changed(machine, std::vector{cap}).diagnostics());
        }
    }
    return found;
}

// Does a parameter change something that is left when a machine is stripped?
template <class Strip> bool SweepGrid::changes_more(std::size_t field, Strip strip) const {
    for (std::size_t m = 0; m < machines_.size(); ++m) {
        const Machine base = strip(machines_[m]);
        for (const double value : fields_[field].numbers[m]) {
            Machine turned = machines_[m];
            parameters_[m][field].set(turned, value);
            if (strip(std::move(turned)).kind != base.kind) {
                return true;
            }
        }
    }
    return false;
}

// A parameter that changes nothing but bandwidths and the clock leaves mappings and counts alone;
// one that changes sizes of arrays as well leaves the mappings of a spread alone; one that changes
// sizes of stores, too, leaves the counts of a mapping alone.
void SweepGrid::find_structure() {
    structural_.assign(fields_.size(), false);
    spread_.assign(fields_.size(), false);
    counted_.assign(fields_.size(), false);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
        const What what = fields_[f].what;
        const bool parameter = what == What::parameter;
        const bool whole =
            what == What::machine || (what == What::option && fields_[f].key != "batch");
        structural_[f] = whole || (parameter && changes_more(f, without_pace));
        spread_[f] = whole || (parameter && structural_[f] && changes_more(f, without_arrays));
        counted_[f] = whole || (parameter && spread_[f] && changes_more(f, without_sizes));
    }
}

void SweepGrid::take_fingerprint(const SweepQuestion& question) {
    Fingerprint all;
    for (const Machine& machine : machines_) {
        all.add(description(machine));
    }
    for (const model::NetworkGraph& network : networks_) {
        all.add(description(network.network));
    }
    for (const VariedField& field : fields_) {
        all.add(field.column);
        for (std::size_t i = 0; i < field.texts.size(); ++i) {
            all.add(field.texts[i]);
        }
    }
    all.add(scenario_json(question.scenario));
    for (const auto& [issue, id] : hosts_) {
        const model::CallWeights& w = issue.weights;
        all.add(fmt::format("{} {} {} {} {}", id, issue.call_s, issue.gradient_s, issue.launch_s,
                            issue.node_s));
        all.add(fmt::format("{} {} {} {} {} {} {} {}", issue.latency_s, issue.compiled_s,
                            issue.replay_s, w.conv, w.gemm, w.norm, w.reduction, w.pool));
    }
    fingerprint_ = all.value();
}

Result<SweepGrid> SweepGrid::make(const SweepQuestion& question, const SweepSources& sources) {
    SweepGrid grid;
    grid.scenario_ = question.scenario;
    Diagnostics found;
    std::vector<VaryText> texts;
    for (const std::string& text : question.vary) {
        auto vary = parse_vary(text);
        found.append(vary.diagnostics());
        if (vary) {
            texts.push_back(*std::move(vary));
        }
    }
    found.append(grid.load_machines(question, sources, texts));
    for (const VaryText& text : texts) {
        auto field = grid.machines_.empty() ? Result<VariedField>(VariedField{})
                                            : resolve_field(text, grid.machines_);
        found.append(field.diagnostics());
        if (!field || grid.machines_.empty()) {
            continue;
        }
        for (const VariedField& other : grid.fields_) {
            if (other.column == field->column) {
                found.error("bad-sweep", fmt::format("'{}' is varied twice", text.field),
                            "give all its values in one --vary");
            }
        }
        if (grid.points_ > kMostPoints / field->texts.size()) {
            found.error("too-many", "the sweep has more than a billion points",
                        "vary fewer fields at once, or take larger steps");
            break;
        }
        grid.points_ *= field->texts.size();
        grid.capped_ = grid.capped_ || varies_power_cap(*field);
        grid.fields_.push_back(*std::move(field));
    }
    if (!found.has_errors()) {
        found.append(grid.load_networks(question, sources));
    }
    if (found.has_errors()) {
        return Result<SweepGrid>(std::move(found));
    }
    for (const Machine& machine : grid.machines_) {
        grid.parameters_.emplace_back(grid.fields_.size());
        for (const Parameter& parameter : parameters_of(machine)) {
            for (std::size_t f = 0; f < grid.fields_.size(); ++f) {
                if (grid.fields_[f].what == What::parameter &&
                    grid.fields_[f].key == parameter.key) {
                    grid.parameters_.back()[f] = parameter;
                }
            }
        }
    }
    found.append(grid.check_caps(question.scenario));
    if (found.has_errors()) {
        return Result<SweepGrid>(std::move(found));
    }
    grid.find_structure();
    grid.take_fingerprint(question);
    for (Machine& machine : grid.machines_) {
        machine.provenance.clear(); // copied for every point
    }
    return Result<SweepGrid>(std::move(grid), std::move(found));
}

} // namespace eyeroof::analysis
