// Errors of predictions beside measured and published figures, as answers. Nothing is predicted.
#pragma once

#include "analysis/calibrate/clusters.hpp"
#include "analysis/calibrate/machines.hpp"
#include "analysis/calibrate/networks.hpp"
#include "analysis/calibrate/pairs.hpp"
#include "analysis/calibrate/validate.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer layers_validated(const analysis::Validation& validation);
Answer networks_validated(const analysis::NetworksValidation& validation);
Answer pairs_validated(const analysis::PairsValidation& validation);
// `worst`: rows that are most off, shown to people.
Answer clusters_validated(const analysis::ClusterValidation& validation, std::size_t worst);
Answer machines_validated(const std::vector<analysis::MachineTable>& tables);

// Figures of groups of rows and of all rows: one table for people, "groups" and "all" for programs.
template <class Row>
void add_groups(Answer& a, std::vector<Row> groups, const Row& all,
                const std::vector<Column<Row>>& columns) {
    const auto only = [](std::vector<Head>& heads, unsigned who) {
        for (Head& head : heads) {
            head.where &= who;
        }
    };
    a.tables.push_back(make_table("groups", "", groups, columns));
    only(a.tables.back().columns, kPrograms);
    const std::size_t first = a.figures.size();
    add_figures(a.figures, all, columns);
    for (std::size_t i = first; i < a.figures.size(); ++i) {
        a.figures[i].head.key = "all." + a.figures[i].head.key;
        a.figures[i].head.where &= kPrograms;
    }
    groups.push_back(all);
    a.tables.push_back(make_table("", "Errors", groups, columns));
    only(a.tables.back().columns, kPeople);
}

} // namespace eyeroof::report
