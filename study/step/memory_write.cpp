#include "study/step/memory_write.hpp"

#include "model/base/units.hpp"
#include "study/draw/svg.hpp"
#include "study/text/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace eyeroof::study::step {

namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;
using model::Count;

constexpr std::array<const char*, kHolders> kKeys = {"inputs",           "state",       "weights",
                                                     "optimizer",        "activations", "gradients",
                                                     "weight_gradients", "workspace"};

std::string gb(Count bytes) {
    return model::format_si(static_cast<double>(bytes), "B", 4);
}

Json bytes_json(const Bytes& bytes) {
    Json json = Json::object();
    for (std::size_t h = 0; h < kHolders; ++h) {
        json[std::string(kKeys[h]) + "_bytes"] = bytes[h];
    }
    return json;
}

std::string verdict_text(const MemoryReport& r) {
    const Count peak = r.memory.peak;
    std::string text =
        r.fits() ? fmt::format("It fits: {} of {} are left", gb(r.limit - peak), gb(r.limit))
                 : fmt::format("It does not fit: {} more than the {} that there are",
                               gb(peak - r.limit), gb(r.limit));
    if (!r.fits() && r.memory.resident > r.limit) {
        text += fmt::format("; weights and states alone are {}", gb(r.memory.resident));
    }
    // Allocators lose 5 to 15 % to fragmentation (recalled).
    const bool tight = r.fits() && static_cast<double>(peak) * 1.1 > static_cast<double>(r.limit);
    text += tight ? ". With a tenth lost to fragmentation it would not.\n" : ".\n";
    if (r.largest_batch) {
        text += *r.largest_batch > 0
                    ? fmt::format("Largest batch that fits: {} times this network's own.\n",
                                  *r.largest_batch)
                    : std::string("No batch fits.\n");
    }
    return text;
}

} // namespace

std::string memory_text(const MemoryReport& r) {
    const Memory& m = r.memory;
    std::string text = fmt::format("{} on {}, {}: {} operators, {} parameters\n", r.graph.name,
                                   r.machine, r.training ? "a training step" : "inference",
                                   r.graph.operators.size(), m.parameters);
    if (r.graph.chain) {
        text += "The network gives no graph: its layers are taken as a chain, so nothing is kept "
                "for a later sum.\n";
    }
    text += fmt::format("\npeak                      {:>10}   at {}\n", gb(m.peak),
                        r.graph.operators.empty() ? "nothing"
                                                  : r.graph.name_of(r.graph.operators[m.peak_at]));
    for (std::size_t h = 0; h < kHolders; ++h) {
        if (m.at_peak[h] > 0) {
            text += fmt::format("  {:<24}{:>10}   {:5.1f} %\n", holder_text(h), gb(m.at_peak[h]),
                                100.0 * static_cast<double>(m.at_peak[h]) /
                                    static_cast<double>(m.peak));
        }
    }
    text += "\n" + verdict_text(r) + "\nlargest at the peak\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(m.holders.size(), 10); ++i) {
        text += fmt::format("  {:>10}  {}\n", gb(m.holders[i].bytes),
                            r.graph.name_of(r.graph.tensors[m.holders[i].tensor]));
    }
    return text;
}

std::string memory_json(const MemoryReport& r) {
    const Memory& m = r.memory;
    Json json = {
        {"schema", "eyeroof/memory/1"},
        {"network", r.graph.id},
        {"machine", r.machine},
        {"phase", r.training ? "training" : "inference"},
        {"chain", r.graph.chain},
        {"parameters", m.parameters},
        {"peak_bytes", m.peak},
        {"resident_bytes", m.resident},
        {"limit_bytes", r.limit},
        {"fits", r.fits()},
        {"largest_batch", nullptr},
        {"peak_at", r.graph.operators.empty() ? "" : r.graph.name_of(r.graph.operators[m.peak_at])},
        {"at_peak", bytes_json(m.at_peak)},
        {"holders", Json::array()},
        {"curve", Json::array()}};
    if (r.largest_batch) {
        json["largest_batch"] = *r.largest_batch;
    }
    for (const Holder& holder : m.holders) {
        json["holders"].push_back(
            {{"name", r.graph.name_of(r.graph.tensors[holder.tensor])}, {"bytes", holder.bytes}});
    }
    for (std::size_t i = 0; i < m.at.size(); ++i) {
        Json point = {{"operator", r.graph.name_of(r.graph.operators[i])},
                      {"bytes", total_of(m.at[i])}};
        point.update(bytes_json(m.at[i]));
        json["curve"].push_back(std::move(point));
    }
    return json.dump(1) + "\n";
}

std::string memory_csv(const MemoryReport& r) {
    std::string text = "operator,bytes";
    for (const char* key : kKeys) {
        text += fmt::format(",{}_bytes", key);
    }
    text += '\n';
    for (std::size_t i = 0; i < r.memory.at.size(); ++i) {
        const std::string name = r.graph.name_of(r.graph.operators[i]);
        fmt::format_to(Out(text), "{},{}", read::csv_quoted(name), total_of(r.memory.at[i]));
        for (const Count bytes : r.memory.at[i]) {
            fmt::format_to(Out(text), ",{}", bytes);
        }
        text += '\n';
    }
    return text;
}

namespace {

constexpr double kWidth = 1100.0, kHeight = 460.0, kLeft = 90.0, kTop = 56.0, kRight = 220.0,
                 kBottom = 40.0;
// Bottom to top: what stays, then what comes and goes.
constexpr std::array<std::size_t, kHolders> kOrder = {2, 3, 1, 6, 0, 4, 5, 7};

// Points of the curve, at most one a pixel: the highest of those that share it.
std::vector<std::size_t> picked(const Memory& memory) {
    const double plot = kWidth - kLeft - kRight;
    const std::size_t n = memory.at.size();
    std::vector<std::size_t> at;
    double last = -2.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x =
            plot * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(n, 2) - 1);
        if (x - last >= 1.0 || n < 500) {
            at.push_back(i);
            last = x;
        } else if (total_of(memory.at[i]) > total_of(memory.at[at.back()])) {
            at.back() = i;
        }
    }
    return at;
}

} // namespace

std::string memory_svg(const MemoryReport& r) {
    const Memory& m = r.memory;
    // A limit far above the curve would leave it flat; the title tells it.
    const bool near_limit = r.limit <= m.peak * 5 / 2;
    const double top = static_cast<double>(near_limit ? std::max(m.peak, r.limit) : m.peak) * 1.05;
    const double plot_w = kWidth - kLeft - kRight, plot_h = kHeight - kTop - kBottom;
    const auto y = [&](double bytes) { return kTop + plot_h * (1.0 - bytes / std::max(top, 1.0)); };
    const auto x = [&](std::size_t i) {
        return kLeft + plot_w * static_cast<double>(i) /
                           static_cast<double>(std::max<std::size_t>(m.at.size(), 2) - 1);
    };
    const std::string title =
        fmt::format("{} on {}: peak {} of {}", r.graph.name, r.machine, gb(m.peak), gb(r.limit));
    std::string svg = svg_open({kWidth, kHeight}, title, "memory over the operators of a step",
                               SvgTheme::automatic);
    const auto text = [&](double at_x, double at_y, const std::string& what,
                          const char* more = "") {
        fmt::format_to(Out(svg),
                       "<text class=\"f-text\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\"{}>"
                       "{}</text>\n",
                       at_x, at_y, more, svg_escape(what));
    };
    text(16.0, 28.0, title, " font-weight=\"bold\"");
    const std::vector<std::size_t> at = picked(m);
    std::vector<double> below(at.size(), 0.0);
    double key_y = kTop + 12.0;
    for (std::size_t k = 0; k < kOrder.size(); ++k) {
        const std::size_t h = kOrder[k];
        std::string upper, lower;
        bool any = false;
        for (std::size_t i = 0; i < at.size(); ++i) {
            const auto bytes = static_cast<double>(m.at[at[i]][h]);
            any = any || bytes > 0.0;
            upper += fmt::format("{:.1f},{:.1f} ", x(at[i]), y(below[i] + bytes));
            lower = fmt::format("{:.1f},{:.1f} ", x(at[i]), y(below[i])) + lower;
            below[i] += bytes;
        }
        if (!any) {
            continue;
        }
        fmt::format_to(Out(svg),
                       "<polygon class=\"f-series-{}\" opacity=\"0.8\" points=\"{}{}\"/>\n",
                       k % 6 + 1, upper, lower);
        fmt::format_to(Out(svg),
                       "<rect class=\"f-series-{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" "
                       "height=\"12\"/>\n",
                       k % 6 + 1, kWidth - kRight + 16.0, key_y - 10.0);
        text(kWidth - kRight + 34.0, key_y, std::string(holder_text(h)));
        key_y += 20.0;
    }
    if (near_limit) {
        fmt::format_to(Out(svg),
                       "<line class=\"s-warning\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                       "y2=\"{:.1f}\" stroke-dasharray=\"5 4\"/>\n",
                       kLeft, y(static_cast<double>(r.limit)), kLeft + plot_w,
                       y(static_cast<double>(r.limit)));
    }
    for (int i = 0; i <= 4; ++i) {
        const double bytes = top * i / 4.0;
        text(kLeft - 8.0, y(bytes) + 4.0, gb(static_cast<Count>(bytes)), " text-anchor=\"end\"");
    }
    text(kLeft, kHeight - 14.0, "operators in the order of issue");
    return svg + "</svg>\n";
}

} // namespace eyeroof::study::step
