#include "report/upgrade/offload_answer.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::Offload;
using analysis::OffloadLayer;

std::string offload_verdict(const Offload& r) {
    return r.copied_s < r.host_s ? "Use the GPU, even where every layer copies its data"
           : r.gpu_s < r.host_s  ? "Use the GPU if the data stays there; with copies at each layer "
                                   "the host is faster"
                                 : "Use the host: the GPU is slower even without copies";
}

double saved_s(const OffloadLayer& layer) {
    return static_cast<double>(layer.count) * (layer.host_s - layer.gpu_s);
}

std::vector<std::string> offload_sentences(const Offload& r) {
    std::vector<std::string> sentences = {
        fmt::format("{} on {}: {:.3g}x the speed of the host; {} with copies at each layer",
                    format_si(r.gpu_s, "s"), r.gpu, r.host_s / r.gpu_s, format_si(r.copied_s, "s")),
        offload_verdict(r)};
    const auto most = std::ranges::max_element(r.layers, {}, saved_s);
    if (most != r.layers.end() && saved_s(*most) > 0.0) {
        sentences.push_back(fmt::format("Largest saving: {} in {} on the GPU",
                                        format_si(saved_s(*most), "s"), most->name));
    }
    return sentences;
}

AnswerTable offload_layers(const Offload& r) {
    using Row = OffloadLayer;
    return make_table<Row>(
        "layers", "Layers", r.layers,
        {{"name", "layer", Unit::none, &Row::name},
         {"op", "op", Unit::none, &Row::op},
         {"count", "count", Unit::count, &Row::count},
         {"host_s", "host", Unit::seconds, &Row::host_s},
         {"gpu_s", "GPU", Unit::seconds, &Row::gpu_s, kAll, "launch included, data on the GPU"},
         {"copy_in_s", "copies in", Unit::seconds, &Row::in_s, kAll, "one for each tensor"},
         {"copy_out_s", "copies out", Unit::seconds, &Row::out_s, kAll, "one for each tensor"},
         {"gpu_with_copies_s", "GPU+copies", Unit::seconds, &Row::copied_s},
         {"fastest", "fastest", Unit::line, analysis::fastest_side}});
}

} // namespace

Answer offload_answer(const Offload& r) {
    Answer a;
    a.schema = "eyeroof/offload/1";
    a.title = fmt::format("{} on {} or {}", r.network, r.host, r.gpu);
    a.question = r.words;
    a.sentences = offload_sentences(r);
    a.figures = {{"network", "", r.network},
                 {"host", "host", r.host},
                 {"gpu", "", r.gpu},
                 {"host_s", "in all", r.host_s, Unit::seconds},
                 {"gpu_s", "", r.gpu_s, Unit::seconds, kPrograms},
                 {"gpu_with_copies_s", "", r.copied_s, Unit::seconds, kPrograms,
                  "inputs and outputs copied for every layer"}};
    a.tables = {offload_layers(r)};
    return a;
}

} // namespace eyeroof::report
