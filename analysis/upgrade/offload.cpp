#include "analysis/upgrade/offload.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/run.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "model/gpu/predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

using Json = nlohmann::ordered_json;

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

const char* fastest(const OffloadLayer& l) {
    return l.copied_s() < l.host_s ? "GPU, even with copies"
           : l.gpu_s < l.host_s    ? "GPU, if the data stays there"
                                   : "host";
}

} // namespace

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

std::string offload_text(const Offload& r) {
    const auto s = [](double seconds) { return format_si(seconds, "s"); };
    const auto ratio = [&](double seconds) {
        return fmt::format("{:.3g}x the speed of the host", r.host_s / seconds);
    };
    const bool copied = r.copied_s < r.host_s;
    std::string text = wrapped(r.words, 0, kTextColumns) +
                       wrapped(fmt::format("{} on {}: {}; {} with copies at each layer", s(r.gpu_s),
                                           r.gpu, ratio(r.gpu_s), s(r.copied_s)),
                               0, kTextColumns);
    text += wrapped(copied ? "Use the GPU, even where every layer copies its data."
                    : r.gpu_s < r.host_s
                        ? "Use the GPU if the data stays there; with copies at each layer the "
                          "host is faster."
                        : "Use the host: the GPU is slower even without copies.",
                    0, kTextColumns);
    const auto most = std::max_element(
        r.layers.begin(), r.layers.end(), [](const OffloadLayer& a, const OffloadLayer& b) {
            return static_cast<double>(a.count) * (a.host_s - a.gpu_s) <
                   static_cast<double>(b.count) * (b.host_s - b.gpu_s);
        });
    if (most != r.layers.end() && most->host_s > most->gpu_s) {
        text +=
            wrapped(fmt::format("Largest saving: {} in {} on the GPU",
                                s(static_cast<double>(most->count) * (most->host_s - most->gpu_s)),
                                most->name),
                    0, kTextColumns);
    }
    text += fmt::format("\nhost: {}, {} in all\n{:<20} {:<10} {:>6} {:>11} {:>11} {:>11} {:>11} "
                        "{:>11}  {}\n",
                        r.host, s(r.host_s), "layer", "op", "count", "host", "GPU", "copies in",
                        "copies out", "GPU+copies", "fastest");
    for (const OffloadLayer& l : r.layers) {
        text += fmt::format("{:<20} {:<10} {:>6} {:>11} {:>11} {:>11} {:>11} {:>11}  {}\n", l.name,
                            l.op, l.count, s(l.host_s), s(l.gpu_s), s(l.in_s), s(l.out_s),
                            s(l.copied_s()), fastest(l));
    }
    return text;
}

std::string offload_json(const Offload& r) {
    Json json = {{"schema", "eyeroof/offload/1"},
                 {"network", r.network},
                 {"host", r.host},
                 {"gpu", r.gpu},
                 {"host_s", r.host_s},
                 {"gpu_s", r.gpu_s},
                 {"gpu_with_copies_s", r.copied_s},
                 {"layers", Json::array()}};
    for (const OffloadLayer& l : r.layers) {
        json["layers"].push_back({{"name", l.name},
                                  {"op", l.op},
                                  {"count", l.count},
                                  {"host_s", l.host_s},
                                  {"gpu_s", l.gpu_s},
                                  {"copy_in_s", l.in_s},
                                  {"copy_out_s", l.out_s},
                                  {"gpu_with_copies_s", l.copied_s()},
                                  {"fastest", fastest(l)}});
    }
    return json_document(json);
}

std::string offload_csv(const Offload& r) {
    std::string text = "layer,op,count,host_s,gpu_s,copy_in_s,copy_out_s,gpu_with_copies_s\n";
    for (const OffloadLayer& l : r.layers) {
        text += fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", csv_quoted(l.name),
                            l.op, l.count, l.host_s, l.gpu_s, l.in_s, l.out_s, l.copied_s());
    }
    return text;
}

std::string offload_markdown(const Offload& r) {
    std::string text =
        fmt::format("| layer | {} | {} | copies | {} with copies | fastest |\n"
                    "| --- | ---: | ---: | ---: | ---: | --- |\n",
                    markdown_cell(r.host), markdown_cell(r.gpu), markdown_cell(r.gpu));
    const auto s = [](double seconds) { return format_si(seconds, "s"); };
    for (const OffloadLayer& l : r.layers) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_cell(l.name), s(l.host_s),
                            s(l.gpu_s), s(l.in_s + l.out_s), s(l.copied_s()), fastest(l));
    }
    return text;
}

} // namespace eyeroof::analysis
