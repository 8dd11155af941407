// Fits the constants of serving libraries' kernels to tables of measured calls.
#pragma once

#include "analysis/calibrate/kernel_rows.hpp"

#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct KernelFitOptions {
    std::string source;    // that the constants will name
    std::string leave_out; // machines whose rows the fit does not see, with commas between
    bool held_out = false; // see only half of the shapes
    int threads = 0;       // 0: as many as the machine has
};

// Whether the shape is of the half that gives errors and intervals: by its sizes but the number of
// tokens where a kernel has other sizes to tell shapes apart.
bool held_out(const model::LibraryCall& call);

struct KernelFit {
    std::map<std::string, model::LibraryCells> families; // by kernel_family, and "other"
    int machines_unknown = 0;                            // rows of machines that no folder has
};

// Each kernel's constants minimize the mean of |ln(predicted / measured)| near their starts and
// with small corrections of shape; errors and intervals come from a fit to the half of the shapes
// that held_out leaves, the constants from all rows. Equal digits when repeated.
KernelFit fit_kernels(const KernelTable& table, const MachineSource& machines,
                      const KernelFitOptions& options, const std::stop_token& stop = {});

} // namespace eyeroof::analysis
