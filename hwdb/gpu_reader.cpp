#include "hwdb/gpu_reader.hpp"

#include <array>

namespace eyeroof::hwdb {

namespace {

using model::DataType;
using model::Gpu;

constexpr std::pair<std::string_view, int> kVersions[] = {{"machine/1", 1}};
constexpr std::pair<std::string_view, int> kKinds[] = {{"gpu", 0}, {"host", 1}};
constexpr std::pair<std::string_view, model::Pipe> kPipes[] = {{"vector", model::Pipe::vector},
                                                               {"tensor", model::Pipe::tensor}};
constexpr double kMaxUsd = 1e7;

class Reader {
  public:
    Reader(Document& document, std::string id) : document_(document), id_(std::move(id)) {}

    model::Result<GpuFile> read() {
        const Sourced root(document_.root(), book_);
        read_head(root.node());
        read_processor(root);
        read_peaks(root.need("peaks"));
        read_memory(root);
        read_links(root["links"]);
        gpu_.tdp_w = number<model::Watts>(root["tdp"]);
        read_prices(root["prices"]);
        report_unsourced(root.node(), book_);
        if (!document_.finish().has_errors()) {
            document_.adopt(model::validate(gpu_));
        }
        file_.machine.kind = std::move(gpu_);
        file_.machine.provenance = std::move(book_.provenance);
        file_.numbers = std::move(book_.numbers);
        return document_.conclude(std::move(file_));
    }

  private:
    template <class Q> static double number(const Sourced& place) {
        return place.quantity<Q>(Zero::allowed).value_or(Q{}).value;
    }

    void read_head(const Node& node) {
        node.need("eyeroof").choice(kVersions, "format of this file");
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
        gpu_.base_hz = number<model::Hertz>(clocks["base"]);
        gpu_.boost_hz =
            clocks.need("boost").quantity<model::Hertz>().value_or(model::Hertz{1e9}).value;
        gpu_.tensor_hz = number<model::Hertz>(clocks["tensor"]);
        const Sourced sm = root["sm"];
        gpu_.shared_bytes_per_sm = number<model::Bytes>(sm["shared_memory"]);
        gpu_.registers_bytes_per_sm = number<model::Bytes>(sm["registers"]);
        gpu_.max_threads_per_sm =
            static_cast<int>(sm["max_threads"].integer(kUnits).value_or(2048));
    }

    void read_peaks(const Sourced& peaks) {
        for (const auto& [name, peak] : peaks.entries()) {
            const auto type = model::data_type_from_name(name);
            if (!type) {
                peak.node().error("unknown-dtype", "'" + name + "' is not a data type");
                continue;
            }
            model::Rate& rate = gpu_.rate(*type);
            rate.flops_per_s =
                peak.quantity<model::FlopsPerSec>().value_or(model::FlopsPerSec{}).value;
            rate.pipe = model::Pipe::vector;
            if (peak.node().is_map()) {
                rate.pipe = peak.node()["pipe"].choice(kPipes, "pipe").value_or(rate.pipe);
            }
        }
    }

    void read_memory(const Sourced& root) {
        const Sourced dram = root.need("dram");
        dram.node()["type"].text();
        gpu_.dram_bytes = number<model::Bytes>(dram.need("capacity"));
        gpu_.dram_bytes_per_s = dram.need("bandwidth")
                                    .quantity<model::BytesPerSec>()
                                    .value_or(model::BytesPerSec{1})
                                    .value;
        const Sourced l2 = root["l2"];
        gpu_.l2_bytes = number<model::Bytes>(l2["capacity"]);
        gpu_.l2_bytes_per_s = number<model::BytesPerSec>(l2["bandwidth"]);
    }

    void read_links(const Sourced& links) {
        gpu_.pcie_bytes_per_s = number<model::BytesPerSec>(links["pcie"]);
        gpu_.link_bytes_per_s = number<model::BytesPerSec>(links["peer"]);
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

model::Result<GpuFile> read_gpu(Document& document, const std::string& id) {
    return Reader(document, id).read();
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
