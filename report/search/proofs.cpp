#include "report/search/proofs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

std::string proofs_text(const analysis::Report& report) {
    std::size_t searched = 0;
    std::size_t proved = 0;
    double worst = -1.0;
    std::string where;
    for (const analysis::LayerReport& layer : report.layers) {
        bool all = true;
        for (const mapper::Certificate& c : layer.certificates) {
            all = all && c.proved;
            if (!c.proved && c.gap > worst) {
                worst = c.gap;
                where = layer.layer.name;
            }
        }
        searched += layer.certificates.empty() ? 0 : 1;
        proved += layer.certificates.empty() || !all ? 0 : 1;
    }
    if (searched == 0) {
        return {};
    }
    if (proved == searched) {
        return fmt::format("all searched mappings are proven optimal among even mappings ({})",
                           searched);
    }
    // A gap is a share of the value found: 1 / (1 - gap) times the bound.
    const double above = 100.0 * worst / std::max(1e-12, 1.0 - worst);
    return fmt::format("{} of {} searched mappings are proven optimal among even mappings; {} is "
                       "within {:.3g} % of "
                       "its lower bound",
                       proved, searched, where, above);
}

} // namespace eyeroof::report
