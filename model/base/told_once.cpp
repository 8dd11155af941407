#include "model/base/told_once.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

namespace eyeroof::model {

Diagnostics told_once(const Diagnostics& diagnostics) {
    using Said = std::tuple<Severity, std::string, std::string, std::string, std::string, int, int>;
    struct Told {
        Diagnostic first;
        std::size_t more = 0; // other fields of which the same is said
    };
    std::map<Said, std::size_t> known;
    std::vector<Told> told;
    for (const Diagnostic& d : diagnostics) {
        const Said said(d.severity, d.code, d.message, d.hint, d.where.file, d.where.line,
                        d.where.column);
        const auto [at, is_new] = known.emplace(said, told.size());
        if (is_new) {
            told.push_back({d});
        } else {
            told[at->second].more += d.field != told[at->second].first.field ? 1 : 0;
        }
    }
    Diagnostics found;
    for (Told& one : told) {
        if (one.more > 0) {
            one.first.field += fmt::format(" and {} more", one.more);
        }
        found.add(std::move(one.first));
    }
    return found;
}

} // namespace eyeroof::model
