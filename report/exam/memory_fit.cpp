#include "report/exam/memory_fit.hpp"

#include "base/units.hpp"

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

std::vector<Column<analysis::MemoryFit>> memory_fit_columns() {
    using Fit = analysis::MemoryFit;
    return {{"peak_bytes", &Fit::peak_bytes},
            {"limit_bytes", &Fit::limit_bytes, kJson, "that the GPU has for tensors"},
            {"fits", &Fit::fits},
            {"largest_batch", &Fit::largest_batch, kJson,
             "as --batch takes it; 0: none fits; null: not searched for"},
            {"chain", &Fit::chain, kJson, "without a graph every layer reads the one before it"}};
}

} // namespace eyeroof::report
