// Which limit binds: in the measured rows, and on a standard grid.
#include "analysis/cross_validate/cross_folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::GpuCalibration;
using model::KernelClass;
using model::Layer;

namespace {

std::string binding_limit(const model::Gpu& gpu, const Layer& layer,
                          const model::Software& software, model::Timing timing) {
    const auto p = model::predict(gpu, layer, software, timing);
    return p ? p->limiter : "";
}

std::map<std::string, double> shares(const std::map<std::string, int>& counts, int rows) {
    std::map<std::string, double> by_name;
    for (const auto& [name, count] : counts) {
        by_name[name] = static_cast<double>(count) / std::max(rows, 1);
    }
    return by_name;
}

model::TensorTypes all_of(model::DataType type) {
    return {type, type, type};
}

std::vector<Layer> grid_products(model::Op op, model::DataType type) {
    std::vector<Layer> layers;
    for (const Count m : {16, 128, 1024, 8192}) {
        for (const Count n : {256, 2048, 16384}) {
            for (const Count k : {256, 2048, 16384}) {
                Layer layer;
                layer.op = op;
                layer.shape = model::GemmShape{op == model::Op::bmm ? 16 : 1, m, n, k};
                layer.types = all_of(type);
                layers.push_back(layer);
            }
        }
    }
    return layers;
}

std::vector<Layer> grid_matrices() {
    std::vector<Layer> layers;
    for (const model::Op op : {model::Op::elementwise, model::Op::softmax, model::Op::layernorm,
                               model::Op::rope, model::Op::embedding}) {
        for (const Count rows : {1, 128, 2048, 16384}) {
            for (const Count cols : {64, 1024, 16384}) {
                Layer layer;
                layer.op = op;
                layer.types = all_of(model::DataType::fp16);
                layer.shape = op == model::Op::elementwise
                                  ? model::Shape(model::ElementwiseShape{rows, cols, "add"})
                                  : model::Shape(model::RowsShape{rows, cols});
                layers.push_back(layer);
            }
        }
    }
    return layers;
}

std::vector<Layer> grid_of(const model::Gpu& gpu) {
    std::vector<Layer> layers = grid_matrices();
    for (const auto& [op, type] : {std::pair{model::Op::gemm, model::DataType::fp32},
                                   {model::Op::bmm, model::DataType::fp32},
                                   {model::Op::gemm, model::DataType::fp16}}) {
        if (gpu.rate(type).flops_per_s > 0.0) {
            const auto more = grid_products(op, type);
            layers.insert(layers.end(), more.begin(), more.end());
        }
    }
    return layers;
}

} // namespace

std::map<std::string, double> shares_of_parts(const Fold& fold) {
    model::Gpu own = fold.gpu;
    own.calibration = fold.held;
    std::map<std::string, int> counts;
    for (const Case& c : fold.cases) {
        const auto kernel = model::kernel_of(own, *c.row.layer, c.row.work, c.row.software);
        ++counts[kernel ? std::string(model::longest_part(*kernel)) : ""];
    }
    return shares(counts, static_cast<int>(fold.cases.size()));
}

std::vector<BindingRow> row_bindings(const std::vector<ClassFolds>& all) {
    std::vector<BindingRow> rows;
    for (const ClassFolds& folds : all) {
        const std::string name(kernel_class_name(folds.kernel_class));
        std::map<std::string, int> together;
        int every = 0;
        for (const Fold& fold : folds.folds) {
            model::Gpu own = fold.gpu;
            own.calibration = fold.held;
            std::map<std::string, int> counts;
            for (const Case& c : fold.cases) {
                const std::string binds =
                    binding_limit(own, *c.row.layer, c.row.software, c.row.timing);
                ++counts[binds];
                ++together[binds];
            }
            const auto size = static_cast<int>(fold.cases.size());
            every += size;
            rows.push_back({fold.id, name, true, size, shares(counts, size)});
        }
        rows.push_back({"", name, true, every, shares(together, every)});
    }
    return rows;
}

std::vector<BindingRow> grid_bindings(const std::map<std::string, model::Gpu>& catalog) {
    std::vector<BindingRow> rows;
    for (const auto& [id, gpu] : catalog) {
        std::map<KernelClass, std::map<std::string, int>> counts;
        std::map<KernelClass, int> layers;
        for (const Layer& layer : grid_of(gpu)) {
            const KernelClass c = model::kernel_class_of(gpu, layer);
            ++counts[c][binding_limit(gpu, layer, {}, model::Timing::kernel)];
            ++layers[c];
        }
        for (const auto& [c, of_class] : counts) {
            rows.push_back({id, std::string(kernel_class_name(c)), false, layers[c],
                            shares(of_class, layers[c])});
        }
    }
    return rows;
}

std::string BindingRow::text() const {
    std::vector<std::pair<double, std::string>> largest;
    for (const auto& [name, share] : shares) {
        largest.emplace_back(-share, name);
    }
    std::sort(largest.begin(), largest.end());
    std::string text;
    for (const auto& [share, name] : largest) {
        text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, -100.0 * share);
    }
    return text;
}

std::string bindings_text(const std::vector<BindingRow>& bindings) {
    std::string text = fmt::format("\nshare of rows in which a limit binds, %\n{:<12} {:<30} "
                                   "{:<9}{:>7}  limits",
                                   "class", "gpu", "rows of", "rows");
    for (const BindingRow& row : bindings) {
        text += fmt::format("\n{:<12} {:<30} {:<9}{:>7}  {}", row.kernel_class,
                            row.gpu.empty() ? "all" : row.gpu, row.measured ? "table" : "grid",
                            row.rows, row.text());
    }
    return text + "\n";
}

namespace {

// Mean |ln(predicted / measured)| of what `predicted` gives, each GPU and kind counted once; rows
// without a prediction are passed over.
template <class F> double mean_error(const ClassFolds& all, F predicted) {
    std::map<std::pair<std::string, std::string>, std::pair<double, int>> groups;
    for (const Fold& fold : all.folds) {
        for (const Case& c : fold.cases) {
            if (const double time_s = predicted(fold, c); time_s > 0.0) {
                auto& [sum, count] = groups[{fold.id, c.row.kind()}];
                sum += std::fabs(std::log(time_s / c.row.measured_s));
                ++count;
            }
        }
    }
    double error = 0.0;
    for (const auto& [key, group] : groups) {
        error += group.first / group.second / static_cast<double>(groups.size());
    }
    return error;
}

// The class held out and left out, with one term ("": none) switched off.
AblationRow without(ClassFolds all, const std::string& term, const CrossValidateOptions& options,
                    const std::stop_token& stop) {
    for (const std::string& name : names_left_out(all)) {
        leave_out(all, name, options, stop, term);
    }
    fit_half(all, options, stop, term);
    for (Fold& fold : all.folds) {
        hold_out(all, fold, options, stop);
    }
    return {
        std::string(kernel_class_name(all.kernel_class)), term, 0.0,
        mean_error(all, [](const Fold& fold,
                           const Case& c) { return fold.has_held && c.tested ? c.fitted_s : 0.0; }),
        mean_error(all,
                   [](const Fold& fold, const Case& c) { return fold.has_left ? c.left_s : 0.0; })};
}

} // namespace

std::vector<AblationRow> ablations_of(const std::vector<ClassFolds>& all,
                                      const CrossValidateOptions& options,
                                      const std::stop_token& stop) {
    std::vector<AblationRow> rows;
    for (const ClassFolds& folds : all) {
        rows.push_back(without(folds, "", options, stop));
        GpuCalibration fitted = folds.together;
        GpuCalibration start = textbook_start();
        const auto before = model::calibration_terms(start, folds.kernel_class);
        for (const auto& [name, value] : model::calibration_terms(fitted, folds.kernel_class)) {
            const model::TermBound bound = model::term_bound(name);
            const bool held = *value == bound.low || *value == bound.high; // rows pull beyond
            const bool told = *value > 0.0 && (held || *value != *before.at(name)); // by some row
            if (told && model::can_be_off(name) && !stop.stop_requested()) {
                rows.push_back(without(folds, name, options, stop));
                rows.back().value = *value;
            }
        }
    }
    return rows;
}

std::string ablations_text(const std::vector<AblationRow>& ablations) {
    std::string text =
        ablations.empty() ? "" : "\nmean |ln(predicted / measured)| without each term, %\n";
    for (const AblationRow& row : ablations) {
        text += row.term.empty()
                    ? fmt::format("{:<28} {:>9} {:>9}\n  {:<26} {:>9.2f} {:>9.2f}\n",
                                  row.kernel_class, "held out", "left out", "with all terms",
                                  100.0 * row.held_out, 100.0 * row.left_out)
                    : fmt::format("  {:<26} {:>9.2f} {:>9.2f}   (fitted {:.4g})\n", row.term,
                                  100.0 * row.held_out, 100.0 * row.left_out, row.value);
    }
    return text;
}

} // namespace eyeroof::analysis
