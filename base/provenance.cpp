#include "base/provenance.hpp"

namespace eyeroof {

const Provenance* find_provenance(const ProvenanceMap& map, std::string field) {
    while (true) {
        if (const auto found = map.find(field); found != map.end()) {
            return &found->second;
        }
        if (field.empty()) {
            return nullptr;
        }
        const auto cut = field.find_last_of(".[");
        field.resize(cut == std::string::npos ? 0 : cut);
    }
}

const char* confidence_name(Confidence confidence) {
    switch (confidence) {
    case Confidence::datasheet:
        return "datasheet";
    case Confidence::paper:
        return "paper";
    case Confidence::measured:
        return "measured";
    case Confidence::derived:
        return "derived";
    case Confidence::secondary:
        return "secondary";
    case Confidence::fitted:
        return "fitted";
    case Confidence::recalled:
        return "recalled";
    case Confidence::user:
        break;
    }
    return "user";
}

} // namespace eyeroof
