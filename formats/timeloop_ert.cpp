#include "formats/timeloop_parts.hpp"

#include <algorithm>
#include <array>

// Accelergy's tables of energies per action: versions 0.2 (a map by component and action) and 0.3,
// 0.4 (lists), whole or as a summary.

namespace eyeroof::formats::timeloop {

using hwdb::Node;

namespace {

// "system.PE[0..167].spad[1..168]" -> spad
std::string component_of(std::string name) {
    while (name.ends_with(')') || name.ends_with(']')) {
        const std::size_t open = name.find_last_of(name.back() == ')' ? '(' : '[');
        if (open == std::string::npos) {
            break;
        }
        name.resize(open);
    }
    return name.substr(name.rfind('.') + 1); // npos + 1 is 0
}

// "system.PE[0..167].spad[1..168]" -> system.PE.spad
std::string without_ranges(const std::string& name) {
    std::string plain;
    int depth = 0;
    for (const char c : name) {
        depth += c == '[' || c == '(' ? 1 : 0;
        plain += depth == 0 ? std::string(1, c) : std::string();
        depth -= (c == ']' || c == ')') && depth > 0 ? 1 : 0;
    }
    return plain;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void take_most(std::optional<double>& slot, const Node& energy) {
    constexpr double most_pj = 1e12;
    if (const auto pj = energy ? energy.number(0.0, most_pj) : std::nullopt) {
        slot = std::max(slot.value_or(0.0), *pj);
    }
}

// A summary has the costliest of several arguments as its maximum.
Node energy_of(const Node& entry) {
    if (!entry.is_map()) {
        return entry;
    }
    for (const char* most : {"max_energy", "max energy"}) {
        if (!entry.has("energy") && entry.has(most)) {
            return entry[most];
        }
    }
    return entry["energy"];
}

// What an action costs is of reads, of fills, of updates with results from below, of arithmetic, of
// leakage, or not counted.
void add_action(Energies& energies, const std::string& action, const Node& entry) {
    const Node energy = energy_of(entry);
    if (is_one_of(action, {"read", "random_read", "repeated_read"})) {
        take_most(energies.read, energy);
    } else if (is_one_of(action, {"write", "random_fill", "fill"})) {
        take_most(energies.write, energy);
    } else if (is_one_of(action, {"update", "random_update"})) {
        take_most(energies.update, energy);
    } else if (action.find("mac") != std::string::npos ||
               is_one_of(action, {"compute", "multiply", "multiply_random"})) {
        take_most(energies.compute, energy);
    } else if (action == "leak") {
        take_most(energies.leak, energy);
    }
}

void read_actions(const Node& actions, Energies& energies) {
    if (actions.is_list()) {
        for (const Node& action : actions.items()) {
            action.ignore_rest();
            add_action(energies, action.need("name").text().value_or(""), action);
        }
        return;
    }
    for (const auto& [name, entry] : actions.entries()) {
        if (!entry.is_list()) {
            entry.ignore_rest();
            add_action(energies, name, entry);
            continue;
        }
        for (const Node& one : entry.items()) { // with arguments
            one.ignore_rest();
            add_action(energies, name, one);
        }
    }
}

Energies& energies_for(const std::string& name, const Node& table,
                       std::map<std::string, Energies>& all) {
    Energies& energies = all[component_of(name)];
    energies.where = energies.tables.empty() ? table.where() : energies.where;
    energies.tables.insert(without_ranges(name));
    return energies;
}

void read_tables(const Node& tables, std::map<std::string, Energies>& all) {
    if (tables.is_list()) {
        for (const Node& table : tables.items()) {
            table.ignore_rest();
            const std::string name = table.need("name").text().value_or("");
            read_actions(table.need("actions"), energies_for(name, table, all));
        }
        return;
    }
    for (const auto& [name, actions] : tables.entries()) {
        read_actions(actions, energies_for(name, actions, all));
    }
}

} // namespace

std::map<std::string, Energies> energies_of(const Node& root) {
    std::map<std::string, Energies> all;
    constexpr std::array<std::pair<const char*, const char*>, 2> kinds = {
        {{"ERT", "tables"}, {"ERT_summary", "table_summary"}}};
    for (const auto& [key, tables] : kinds) {
        if (const Node found = root.has(key) ? root[key] : Node{}) {
            found.ignore_rest();
            const char* summaries = "ERT summaries"; // version 0.2
            read_tables(found.need(found.has(summaries) ? summaries : tables), all);
        }
    }
    return all;
}

} // namespace eyeroof::formats::timeloop
