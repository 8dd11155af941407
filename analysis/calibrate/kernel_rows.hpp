// Tables of measured calls of serving libraries' kernels, and how far predictions lie from them.
#pragma once

#include "analysis/calibrate/validate.hpp"
#include "base/result.hpp"
#include "model/gpu/library_cells.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct KernelRow {
    model::LibraryCall call;
    std::string gpu;
    double measured_s = 0.0; // 0: not measured
    double power_w = 0.0;    // mean of the board while the call was repeated; 0: not measured
    int line = 0;

    bool operator==(const KernelRow&) const = default;
};

struct KernelTable {
    std::vector<KernelRow> rows;
    std::map<std::string, int> left_out; // by operator: rows that are no call of such a kernel

    bool operator==(const KernelTable&) const = default;
};

// A CSV, gzipped or not: op, gpu (or `on`), dtype, measured_ms or measured_s (else only predicted),
// library, library_version, kernel, network, kv_dtype, gemm_dtype, weight_dtype, scales,
// distribution, power_w, note ("eager": timed without a graph), and the columns of call_size_name.
// Errors, with their lines: "missing-column", "bad-number", those of the CSV.
Result<KernelTable> read_kernel_rows(const std::string& file, const std::string& on = {});
Result<KernelTable> parse_kernel_rows(const std::string& text, const std::string& file,
                                      const std::string& on = {});

struct PredictedKernel {
    const KernelRow* row = nullptr;
    model::LibraryTime time;
};

struct KernelValidation {
    struct Group {
        std::string gpu, op, type, library;
        ErrorFigures figures;
    };
    std::vector<PredictedKernel> rows; // of the table, which must outlive this
    std::vector<Group> groups;         // of those that were measured
    ErrorFigures all;
    ErrorFigures joules; // of those whose power was measured, too
    // By operator and type, or by machine: no library was measured on them.
    std::map<std::string, int> refused;
};

// The constants of a machine's libraries, by its name.
using KernelSource =
    std::function<Result<model::MachineKernels>(const model::Gpu& gpu, const std::string& id)>;

// Errors: the machines' and the constants'. Rows of a machine that is no GPU are refused.
Result<KernelValidation> validate_kernels(const KernelTable& table, const MachineSource& machines,
                                          const KernelSource& kernels);

std::string kernels_text(const KernelValidation& v, const KernelTable& table);
// A line a row: what was asked, predicted_s, low_s, high_s, the constants' key.
std::string kernels_csv(const KernelValidation& v);

} // namespace eyeroof::analysis
