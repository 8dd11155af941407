// Compares predictions with measured layer times and reports the errors.
#pragma once

#include "base/result.hpp"
#include "formats/layer_csv.hpp"
#include "model/gpu/library_cells.hpp"
#include "model/gpu/predict.hpp"
#include "model/machine/machine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

struct MeasuredLayer {
    model::Layer layer;
    std::string gpu; // id of the machine
    double measured_s = 0.0;
    int line = 0;
    std::optional<model::Timing> timing = std::nullopt; // what the time contains, where it is given
    std::string source = {};  // of the row, where the table has such a column
    std::string library = {}; // likewise: "cublas 10", "VLLM 0.14.0"
    std::optional<model::Layout> layout = std::nullopt; // likewise, of a convolution's tensors
    std::string session = {}; // likewise: a name that tells days of measurement apart
    double weight = 1.0;      // likewise: in a fit, beside the other rows of its GPU and kind

    bool operator==(const MeasuredLayer&) const = default;
};

// "channels-first", "nchw", "channels-last", "nhwc".
std::optional<model::Layout> layout_named(const std::string& name);

// The software that a row was measured with: what its library and layout say. Where they are
// silent, a bare loop of calls (stream) is a benchmark of the GPU's own time: an early library up
// to Turing, and the layout that the library prefers; a framework's call is of today, channels
// first.
model::Software software_of(const MeasuredLayer& row, const model::Gpu& gpu, model::Timing timing);
// The same by the constants of the GPU's classes alone: what a fit of those moves.
model::Software without_served(model::Software software);

// Rows of a layer table with the columns measured_s and gpu; `on` stands in for a missing gpu
// column; `launch` says what a row's time contains, `library` and `layout` (channels-first, nchw,
// channels-last, nhwc) what ran. Errors, with their lines: "missing-column", "bad-time",
// "bad-launch", "bad-layout".
Result<std::vector<MeasuredLayer>> measured_layers(const formats::LayerTable& table,
                                                   const std::string& file, const std::string& on);

// All ratios are predicted / measured. bias = exp(mean ln) - 1. coverage: share within low … high.
struct ErrorFigures {
    int rows = 0;
    double mape = 0.0, median = 0.0, bias = 0.0;
    double naive_mape = 0.0; // of max(FLOP / peak, compulsory bytes / bandwidth)
    double coverage = 0.0;
    int unphysical = 0; // predictions below their own step 6

    bool operator==(const ErrorFigures&) const = default;
};

struct ValidationGroup {
    std::string gpu, op, dtype, direction;
    ErrorFigures figures;
    // MAPE with n and k of products exchanged, where that is better by a third or more: then the
    // table probably names its columns so.
    std::optional<double> exchanged_mape;

    bool operator==(const ValidationGroup&) const = default;
};

struct ValidatedRow {
    MeasuredLayer row;
    double predicted_s = 0.0, low_s = 0.0, high_s = 0.0, naive_s = 0.0, step6_s = 0.0;
    std::string limiter;
    // What a fit of constants goes by. Class and part are of the kernel; a kind is that of errors
    // (model::row_kind); held_out: by the layer's shape, see is_held_out.
    std::string kernel_class, kind, part;
    bool held_out = false;
    double flops = 0.0, bytes = 0.0;

    bool operator==(const ValidatedRow&) const = default;
};

struct Validation {
    std::vector<ValidationGroup> groups; // by gpu, op, dtype, direction
    ErrorFigures all;
    std::vector<ValidatedRow> worst; // by |ln(predicted / measured)|
    double mean_of_groups = 0.0;     // MAPE, each group counted once

    bool operator==(const Validation&) const = default;
};

struct ValidateOptions {
    model::Timing timing = model::Timing::stream; // of rows that name none
    std::size_t worst = 10;
};

using MachineSource = std::function<Result<model::Machine>(const std::string&)>;

// Errors: the machines', "not-a-gpu", and those of predict().
Result<Validation> validate(const std::vector<MeasuredLayer>& rows, const MachineSource& machines,
                            const ValidateOptions& options);

// max(FLOP / peak of the layer's type, compulsory bytes / DRAM bandwidth).
double naive_roofline_s(const model::Gpu& gpu, const model::Layer& layer, double flops,
                        double bytes);

} // namespace eyeroof::analysis
