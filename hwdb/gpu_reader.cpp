#include "hwdb/gpu_reader.hpp"

#include "base/operation_rate.hpp"
#include "base/suggest.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <array>

namespace eyeroof::hwdb {

namespace {

using model::DataType;
using model::Gpu;

constexpr std::pair<std::string_view, int> kGpuFormats[] = {{"machine/1", 1}};
constexpr std::pair<std::string_view, int> kKinds[] = {{"gpu", 0}, {"host", 1}};
constexpr std::pair<std::string_view, model::Pipe> kPipes[] = {{"vector", model::Pipe::vector},
                                                               {"tensor", model::Pipe::tensor}};
constexpr double kMaxUsd = 1e7;

class GpuReader {
  public:
    GpuReader(Document& document, std::string id) : document_(document), id_(std::move(id)) {}

    Result<GpuFile> read() {
        const Sourced root(document_.root(), book_);
        read_head(root.node());
        read_processor(root);
        read_peaks(root.need("peaks"));
        read_memory(root);
        read_links(root["links"]);
        read_issue(root["issue"]);
        const Node usual = root.node()["usual_of"]; // usual_host() asks for it
        for (const Node& machine : usual ? usual.items(1) : std::vector<Node>{}) {
            machine.text();
        }
        gpu_.tdp_w = number<Watts>(root["tdp"]);
        read_prices(root["prices"]);
        report_unsourced(root.node(), book_);
        adopt_apart(document_, model::validate(gpu_));
        if (!document_.finish().has_errors()) {
            check_peaks(root.node()["peaks"]);
        }
        file_.machine.kind = std::move(gpu_);
        file_.machine.provenance = std::move(book_.provenance);
        file_.numbers = std::move(book_.numbers);
        return document_.conclude(std::move(file_));
    }

  private:
    // A number that may be missing, but not nothing.
    template <class Q> static double number(const Sourced& place) {
        const Node node = place.value();
        const auto given = node.quantity<Q>(Zero::allowed);
        const double value = given.value_or(Q{}).value;
        if (given && value == 0.0) {
            node.error("zero", "nothing that works has zero of this",
                       "leave it out where it is not known");
        }
        return value;
    }
    // One that may be zero too: a GPU without links has none.
    template <class Q> static double number_or_none(const Sourced& place) {
        return place.quantity<Q>(Zero::allowed).value_or(Q{}).value;
    }

    void read_head(const Node& node) {
        node.need("eyeroof").choice(kGpuFormats, "format of this file");
        const bool host = node.need("kind").choice(kKinds, "kind of machine").value_or(0) == 1;
        file_.machine.id = node["id"].text().value_or(id_);
        file_.machine.name = node.need("name").text().value_or("");
        file_.machine.summary = node["summary"].text().value_or("");
        file_.calibrated_as = node["calibration"].text().value_or(file_.machine.id);
        gpu_.vendor = node.need("vendor").text().value_or("");
        gpu_.compute_capability = node["compute_capability"].text().value_or("");
        if (host) {
            gpu_.arch = model::GpuArch::host;
            return;
        }
        std::vector<std::pair<std::string, model::GpuArch>> names;
        for (const std::string_view name : model::gpu_arch_names()) {
            names.emplace_back(name, *model::gpu_arch_from_name(name));
        }
        gpu_.arch = node.need("architecture").choice(names, "architecture").value_or(gpu_.arch);
    }

    void read_processor(const Sourced& root) {
        constexpr IntegerRange kUnits{1, 1 << 20};
        gpu_.launch_year =
            static_cast<int>(root.node()["launch_year"].integer({1990, 2100}).value_or(0));
        gpu_.sms = static_cast<int>(root.need("sms").integer(kUnits).value_or(1));
        gpu_.fp32_lanes = static_cast<int>(root.need("fp32_lanes").integer(kUnits).value_or(1));
        const Sourced clocks = root.need("clocks");
        gpu_.base_hz = number<Hertz>(clocks["base"]);
        gpu_.boost_hz = clocks.need("boost").quantity<Hertz>().value_or(Hertz{1e9}).value;
        gpu_.tensor_hz = number<Hertz>(clocks["tensor"]);
        const Sourced sm = root["sm"];
        gpu_.shared_bytes_per_sm = number<Bytes>(sm["shared_memory"]);
        gpu_.registers_bytes_per_sm = number<Bytes>(sm["registers"]);
        gpu_.max_threads_per_sm =
            static_cast<int>(sm["max_threads"].integer(kUnits).value_or(2048));
    }

    void read_peaks(const Sourced& peaks) {
        for (const auto& [name, peak] : peaks.entries()) {
            const auto type = model::data_type_from_name(name);
            if (!type) {
                peak.node().error("unknown-dtype", "'" + name + "' is not a data type",
                                  suggestion(name, model::data_type_names()));
                continue;
            }
            model::Rate& rate = gpu_.rate(*type);
            rate.pipe = model::Pipe::vector;
            if (peak.node().is_map()) {
                rate.pipe = peak.node()["pipe"].choice(kPipes, "pipe").value_or(rate.pipe);
            }
            rate.flops_per_s = read_peak(peak, *type);
        }
    }

    // Of the whole GPU, "15.7 TFLOP/s", or of one SM and cycle, "1024 FLOP/cycle", which follows
    // the number of SMs and the clock.
    double read_peak(const Sourced& peak, model::DataType type) const {
        const Node node = peak.value();
        const std::string text = node.is_scalar() ? node.text().value_or("") : "";
        if (parse_quantity(text, "FLOP/cycle", "a peak rate")) {
            const auto each = node.quantity_in("FLOP/cycle", "a peak rate");
            return each.value_or(0.0) * gpu_.sms * model::pipe_clock_hz(gpu_, type);
        }
        return node.quantity<FlopsPerSec>().value_or(FlopsPerSec{}).value;
    }

    static bool is_explained(const Node& peak) {
        return peak.is_map() && (peak.has("note") || peak.has("source"));
    }

    // A peak that does not follow from SMs and clock was left behind when these were edited; a note
    // or a source of its own says that it is meant.
    void check_peaks(const Node& peaks) const {
        for (const std::string_view name : model::data_type_names()) {
            const auto type = *model::data_type_from_name(name);
            const Node peak = peaks[name];
            if (!peak || model::peak_fits(gpu_, type) || is_explained(peak)) {
                continue;
            }
            const double fitting = model::fitting_peak(gpu_, type);
            const double clock = model::pipe_clock_hz(gpu_, type);
            peak.warning(
                "peak-mismatch",
                fmt::format("{} is printed as {}, but {} SMs x {:.4g} FLOP/cycle x {} make "
                            "{}",
                            name,
                            format_si(gpu_.rate(type).flops_per_s, operation_rate_unit(name), 4),
                            gpu_.sms, fitting / gpu_.sms / clock, format_si(clock, "Hz", 4),
                            format_si(fitting, operation_rate_unit(name), 4)),
                "the printed peak is used. Peaks do not follow `sms` and `clocks`: edit "
                "them too, or write FLOP/cycle of one SM; a note on the number silences "
                "this");
        }
    }

    void read_memory(const Sourced& root) {
        const Sourced dram = root.need("dram");
        gpu_.memory_type = model::memory_type_from_name(dram.node()["type"].text().value_or(""));
        gpu_.dram_bytes = number<Bytes>(dram.need("capacity"));
        gpu_.dram_bytes_per_s =
            dram.need("bandwidth").quantity<BytesPerSec>().value_or(BytesPerSec{1}).value;
        const Sourced l2 = root["l2"];
        gpu_.l2_bytes = number<Bytes>(l2["capacity"]);
        gpu_.l2_bytes_per_s = number<BytesPerSec>(l2["bandwidth"]);
        gpu_.near_l2_bytes_per_s = number<BytesPerSec>(l2["near_bandwidth"]);
    }

    void read_links(const Sourced& links) {
        gpu_.pcie_bytes_per_s = number_or_none<BytesPerSec>(links["pcie"]);
        gpu_.link_bytes_per_s = number_or_none<BytesPerSec>(links["peer"]);
    }

    void read_issue(const Sourced& issue) {
        if (!issue) {
            return;
        }
        if (gpu_.arch != model::GpuArch::host) {
            issue.node().error("not-a-host", "a GPU issues no kernels",
                               "`issue` belongs into the file of its host");
        }
        gpu_.issue = {number<Seconds>(issue.need("call")), number<Seconds>(issue.need("gradient")),
                      number<Seconds>(issue.need("launch")), number<Seconds>(issue.need("graph"))};
        gpu_.issue.latency_s = number_or_none<Seconds>(issue["latency"]);
        gpu_.issue.compiled_s = number_or_none<Seconds>(issue["compiled"]);
        gpu_.issue.replay_s = number_or_none<Seconds>(issue["replay"]);
        constexpr double kMostWeight = 100.0;
        model::CallWeights& w = gpu_.issue.weights;
        const auto weight = [&](const char* key, double& value) {
            value = issue[key].number(1.0 / kMostWeight, kMostWeight).value_or(value);
        };
        weight("conv", w.conv);
        weight("gemm", w.gemm);
        weight("norm", w.norm);
        weight("reduction", w.reduction);
        weight("pool", w.pool);
    }

    void read_prices(const Sourced& prices) {
        gpu_.price.buy_usd = prices["buy_usd"].number(0.0, kMaxUsd);
        gpu_.price.usd_per_hour_low = prices["usd_per_hour_low"].number(0.0, kMaxUsd);
        gpu_.price.usd_per_hour_high = prices["usd_per_hour_high"].number(0.0, kMaxUsd);
    }

    Document& document_;
    std::string id_;
    SourceBook book_;
    GpuFile file_;
    Gpu gpu_;
};

} // namespace

Result<GpuFile> read_gpu(Document& document, const std::string& id) {
    return GpuReader(document, id).read();
}

bool is_gpu_document(const Document& document) {
    const Node root = document.root();
    if (!root.is_map() || !root.has("kind")) {
        return false;
    }
    const std::string kind = root["kind"].is_scalar() ? root["kind"].text().value_or("") : "";
    return kind == "gpu" || kind == "host";
}

} // namespace eyeroof::hwdb
