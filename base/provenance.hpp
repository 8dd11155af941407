// Where a number comes from and how far it can be trusted.
// Kept beside every machine description, keyed by field path.
#pragma once

#include <map>
#include <string>

namespace eyeroof {

// secondary: a table or page that quotes the data sheet; recalled: without a source.
enum class Confidence { datasheet, paper, measured, derived, secondary, fitted, recalled, user };

struct Provenance {
    std::string source; // e.g. "Chen et al., IEEE JSSC 52(1), 2017"
    Confidence confidence = Confidence::user;

    bool operator==(const Provenance&) const = default;
};

// Field path ("levels[1].stores[0].capacity") -> provenance. A path without an entry of its own
// takes the entry of its nearest enclosing path.
using ProvenanceMap = std::map<std::string, Provenance>;

const Provenance* find_provenance(const ProvenanceMap& map, std::string field);
const char* confidence_name(Confidence confidence);

} // namespace eyeroof
