// Columns of the answer over several candidates that are of one candidate or of what is there.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "report/answer/answer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace eyeroof::report {

// Three columns: "speedup.value", "speedup.low", "speedup.high".
template <class Row, class Get>
void add_span(std::vector<Column<Row>>& columns, const std::string& key, Get get,
              const char* meaning = "80 % interval") {
    for (const auto& [name, member] : {std::pair{".value", &analysis::Interval::value},
                                       {".low", &analysis::Interval::low},
                                       {".high", &analysis::Interval::high}}) {
        columns.emplace_back(
            key + name, [get, member](const Row& row) { return std::invoke(get, row).*member; },
            kJson, meaning);
    }
}

template <class Row>
void append_columns(std::vector<Column<Row>>& to, std::vector<Column<Row>> more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::string verdict_text(const analysis::Upgrade& upgrade);

// Of what is there, or of the candidate; keys begin with `before`.
std::vector<Column<analysis::PurchaseAnswer>>
option_columns(const std::string& before, analysis::PurchaseOption analysis::PurchaseAnswer::*side);

// All of a candidate, for JSON.
std::vector<Column<analysis::PurchaseAnswer>> candidate_columns();

// What is there and the candidates, for CSV.
AnswerTable candidate_rows(const analysis::Purchase& purchase);

} // namespace eyeroof::report
