// Columns of mappings and certificates that several answers share.
#pragma once

#include "mapper/search.hpp"
#include "report/answer/answer.hpp"
#include "report/answer/write.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

struct NestLevel {
    std::string name;
    std::vector<std::string> keep, temporal, spatial;
};

// Outermost level first.
std::vector<NestLevel> nest_of(const model::Mapping& mapping,
                               const model::Accelerator& accelerator);
std::string nest_text(const NestLevel& level);

// Loop nests that `of` finds in a row.
template <class Row, class Of> Column<Row> nest_column(Of of, unsigned where) {
    return nested<Row, NestLevel>("mapping", "Loop nests", of,
                                  {{"name", "level", Unit::none, &NestLevel::name},
                                   {"keep", "", Unit::none, &NestLevel::keep},
                                   {"temporal", "", Unit::none, &NestLevel::temporal, kPrograms,
                                    "dimension and trips, outermost first: C8"},
                                   {"spatial", "", Unit::none, &NestLevel::spatial, kPrograms,
                                    "dimension, trips and axis: K4 x"},
                                   {"", "loops", Unit::sentence, nest_text, kPeople}},
                                  where, "outermost level first");
}

// Of the certificate that `of` points to; nullptr: there is none.
template <class Row, class Of> void add_certificate(std::vector<Column<Row>>& columns, Of of) {
    const auto add = [&](const char* key, Unit unit, auto member, const char* meaning) {
        columns.emplace_back(
            std::string("certificate.") + key, "", unit,
            [of, member](const Row& row) {
                const mapper::Certificate* c = of(row);
                return c == nullptr ? std::nullopt : std::optional(c->*member);
            },
            kPrograms, meaning);
    };
    using mapper::Certificate;
    add("objective", Unit::none, &Certificate::objective, "");
    add("value", Unit::none, &Certificate::value, "");
    add("lower_bound", Unit::none, &Certificate::lower_bound,
        "no mapping in the space has a lower value");
    add("gap", Unit::share, &Certificate::gap, "(value - lower_bound) / value");
    add("proved", Unit::none, &Certificate::proved, "");
    add("space", Unit::none, &Certificate::space, "what the bound holds for");
    columns.emplace_back(
        "", "gap", Unit::none,
        [of](const Row& row) {
            const Certificate* c = of(row);
            return c == nullptr ? std::string("-")
                   : c->proved  ? std::string("proven")
                                : value_text(c->gap, Unit::share);
        },
        kPeople, "to the lower bound");
    add("note", Unit::none, &Certificate::note, "remark on the bound; empty: none");
}

// "conv2 (and 3 layers like it)"
std::string titled(const std::string& layer, const std::vector<std::string>& equals);

} // namespace eyeroof::report
