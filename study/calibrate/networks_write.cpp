// Times of whole networks, predicted beside measured, as text, JSON and CSV.
#include "study/calibrate/networks_write.hpp"

#include "model/base/units.hpp"
#include "study/calibrate/networks.hpp"
#include "study/text/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::study {

namespace {

using Json = nlohmann::ordered_json;
constexpr double kInPercent = 100.0;

std::string figures_line(const NetworkFigures& f) {
    return fmt::format("{:<18} {:<10} {:<8} {:>5} {:>7.1f} {:>7.1f} {:>+7.1f} {:>7.0f}\n", f.gpu,
                       f.phase, f.dtype, f.rows, kInPercent * f.mape, kInPercent * f.naive_mape,
                       kInPercent * f.bias, kInPercent * f.inside);
}

Json figures_json(const NetworkFigures& f) {
    return {{"gpu", f.gpu},   {"phase", f.phase},  {"dtype", f.dtype},
            {"rows", f.rows}, {"mape", f.mape},    {"naive_mape", f.naive_mape},
            {"bias", f.bias}, {"inside", f.inside}};
}

} // namespace

std::string networks_text(const NetworksValidation& v) {
    std::string text =
        fmt::format("{:<36} {:<16} {:<9} {:>10} {:>10} {:>7} {:>10} {:>10}\n", "network", "gpu",
                    "phase", "measured", "predicted", "error", "host", "kernels");
    for (const NetworkResult& r : v.rows) {
        text += fmt::format("{:<36} {:<16} {:<9} {:>10} {:>10} {:>+6.1f}% {:>10} {:>10}\n",
                            r.row.network.substr(0, 36), r.row.gpu, r.row.phase,
                            model::format_si(r.row.measured_s, "s"),
                            model::format_si(r.predicted_s, "s"),
                            kInPercent * (r.predicted_s / r.row.measured_s - 1.0),
                            model::format_si(r.host_s, "s"), model::format_si(r.device_s, "s"));
    }
    text += fmt::format("\n{:<18} {:<10} {:<8} {:>5} {:>7} {:>7} {:>7} {:>7}\n", "gpu", "phase",
                        "dtype", "rows", "error", "naive", "bias", "inside");
    for (const NetworkFigures& f : v.groups) {
        text += figures_line(f);
    }
    return text + figures_line(v.all);
}

std::string networks_json(const NetworksValidation& v) {
    Json json = {{"schema", "eyeroof/networks/1"},
                 {"all", figures_json(v.all)},
                 {"groups", Json::array()},
                 {"networks", Json::array()}};
    for (const NetworkFigures& f : v.groups) {
        json["groups"].push_back(figures_json(f));
    }
    for (const NetworkResult& r : v.rows) {
        json["networks"].push_back({{"line", r.row.line},
                                    {"network", r.row.network},
                                    {"family", r.row.family},
                                    {"gpu", r.row.gpu},
                                    {"phase", r.row.phase},
                                    {"measured_s", r.row.measured_s},
                                    {"predicted_s", r.predicted_s},
                                    {"low_s", r.low_s},
                                    {"high_s", r.high_s},
                                    {"host_s", r.host_s},
                                    {"device_s", r.device_s},
                                    {"naive_s", r.naive_s}});
    }
    return json.dump(2) + "\n";
}

std::string networks_csv(const NetworksValidation& v) {
    std::string text = "network,family,gpu,phase,dtype,measured_s,predicted_s,low_s,high_s,host_s,"
                       "device_s,naive_s\n";
    for (const NetworkResult& r : v.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n",
                            read::csv_quoted(r.row.network), read::csv_quoted(r.row.family),
                            r.row.gpu, r.row.phase, r.row.dtype, r.row.measured_s, r.predicted_s,
                            r.low_s, r.high_s, r.host_s, r.device_s, r.naive_s);
    }
    return text;
}

} // namespace eyeroof::study
