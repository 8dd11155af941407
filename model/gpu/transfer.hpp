// How far a speed-up that is predicted from kernels holds for whole networks in frameworks.
// Fitted by `validate --pairs --fit`, kept in hwdb; used by upgrade.
#pragma once

#include <map>
#include <string>

namespace eyeroof::model {

// Of one kind of step: "training mixed", "training full", "inference mixed", "inference full"
// (mixed: arithmetic in less than 32 bits; full: fp32, or tf32 after it). Errors are of families
// that were left out, each family counted once.
struct TransferKind {
    double spread =
        0.25;          // standard deviation of ln(measured / predicted), operators' errors included
    double mape = 0.2; // mean |predicted / measured - 1|
    double sheet_mape = 0.3; // the same of the ratio of the memories' bandwidths
    double guess_mape = 0.3; // and of the median of the other families
    int families = 0, rows = 0;

    // Whether a prediction says more than the two data sheets or the usual gain do.
    bool beats_sheets() const { return mape < sheet_mape && mape < guess_mape; }
    bool operator==(const TransferKind&) const = default;
};

// ln(speed-up) = share * ln(predicted by kernels and host). A share below 1: part of a step (input,
// conversions, unfused operators) does not follow the GPU.
struct Transfer {
    double share = 1.0;
    double operators =
        0.1; // standard deviation of ln(speed-up) by operators' errors, of those rows
    std::map<std::string, TransferKind> kinds;
    std::string source;

    // Of a kind that was not measured: the standard values.
    TransferKind kind(const std::string& name) const {
        const auto found = kinds.find(name);
        return found == kinds.end() ? TransferKind{} : found->second;
    }
    bool operator==(const Transfer&) const = default;
};

} // namespace eyeroof::model
