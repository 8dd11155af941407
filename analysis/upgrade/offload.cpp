#include "analysis/upgrade/offload.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/run.hpp"
#include "model/gpu/predict.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis {

namespace {

model::Layer copy_of(const model::TensorUse& tensor) {
    model::Layer copy;
    copy.name = tensor.name;
    copy.op = model::Op::elementwise;
    const Count rows = tensor.bytes / model::kMaxDimension + 1;
    copy.shape = model::ElementwiseShape{rows, std::max<Count>(tensor.bytes / rows, 1),
                                         tensor.written ? "d2h" : "h2d"};
    copy.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
    return copy;
}

// Copies of what one execution reads and writes, one a tensor.
Result<OffloadLayer> with_copies(OffloadLayer row, const model::Layer& layer,
                                 const model::Gpu& gpu) {
    const auto work = model::work_of(layer);
    if (!work) {
        return work.diagnostics();
    }
    for (const model::TensorUse& tensor : work->tensors) {
        const auto copy = model::predict(gpu, copy_of(tensor));
        if (!copy) {
            return copy.diagnostics();
        }
        (tensor.written ? row.out_s : row.in_s) += copy->time_s;
    }
    return row;
}

} // namespace

std::string fastest_side(const OffloadLayer& layer) {
    return layer.copied_s() < layer.host_s ? "GPU, even with copies"
           : layer.gpu_s < layer.host_s    ? "GPU, if the data stays there"
                                           : "host";
}

Result<Offload> offload(const Question& question, const model::Machine& host,
                        std::optional<model::DataType> host_types) {
    const model::Machine& gpu = question.machine;
    const auto* at_home = std::get_if<model::Gpu>(&host.kind);
    const auto* away = std::get_if<model::Gpu>(&gpu.kind);
    if (at_home == nullptr || away == nullptr) {
        return Result<Offload>::failure("not-a-gpu", "a host processor and a GPU are compared",
                                        "`eyeroof hw list` names them");
    }
    if (at_home->arch != model::GpuArch::host || away->arch == model::GpuArch::host) {
        const bool home = at_home->arch != model::GpuArch::host;
        return Result<Offload>::failure(
            home ? "not-a-host" : "not-a-gpu",
            fmt::format("{} is a {}", home ? host.name : gpu.name, home ? "GPU" : "host processor"),
            home ? "--host takes a processor such as server-2x64; `upgrade` compares two GPUs"
                 : "--gpu takes a GPU such as a100-sxm-40gb; `eyeroof hw list` names them");
    }
    Question home = question;
    home.machine = host;
    home.scenario.data_type = host_types ? host_types : home.scenario.data_type;
    const auto here = run(home);
    const auto there = run(question);
    if (!here || !there) {
        Diagnostics all = here.diagnostics();
        all.append(there.diagnostics());
        return all;
    }
    Offload result{there->words,       there->network_name, host.id, gpu.id, {},
                   here->total.time_s, there->total.time_s, 0.0};
    LayersByName on_host = layers_by_name(*here);
    double copies_s = 0.0;
    for (const LayerReport& away_layer : there->layers) {
        const auto at = on_host.next(away_layer.layer.name);
        const LayerReport* twin = at ? &here->layers[*at] : nullptr;
        const double host_s = twin == nullptr ? 0.0 : twin->time_s + twin->wait_s;
        const auto row = with_copies(
            {away_layer.layer.name, std::string(model::op_name(away_layer.layer.op)),
             away_layer.layer.count, host_s, away_layer.time_s + away_layer.wait_s, 0.0, 0.0},
            away_layer.layer, *away);
        if (!row) {
            return row.diagnostics();
        }
        copies_s += static_cast<double>(row->count) * (row->in_s + row->out_s);
        result.layers.push_back(*row);
    }
    result.copied_s = result.gpu_s + copies_s;
    return result;
}

} // namespace eyeroof::analysis
