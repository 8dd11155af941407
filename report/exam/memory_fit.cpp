#include "report/exam/memory_fit.hpp"

#include "base/units.hpp"
#include "report/exam/memory_fit_json.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

std::string memory_fit_text(const analysis::MemoryFit& fit) {
    const auto bytes = [](Count count) { return format_si(static_cast<double>(count), "B", 4); };
    std::string text = fmt::format("memory {} of {}: {}", bytes(fit.peak_bytes),
                                   bytes(fit.limit_bytes), fit.fits() ? "fits" : "does not fit");
    if (fit.largest_batch) {
        text += *fit.largest_batch > 0 ? fmt::format(", largest --batch {}", *fit.largest_batch)
                                       : std::string(", not even one batch");
    } else {
        text += ", largest batch not searched for (too many operators)";
    }
    return text + (fit.chain ? " (as a chain of layers)" : "");
}

nlohmann::ordered_json memory_fit_json(const analysis::MemoryFit& fit) {
    nlohmann::ordered_json json = {{"peak_bytes", fit.peak_bytes},
                                   {"limit_bytes", fit.limit_bytes},
                                   {"fits", fit.fits()},
                                   {"largest_batch", nullptr},
                                   {"chain", fit.chain}};
    if (fit.largest_batch) {
        json["largest_batch"] = *fit.largest_batch;
    }
    return json;
}

} // namespace eyeroof::report
