// Collectives that others measured, in one node and over two.
#include "analysis/scale/collective_study.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/scale/published.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

namespace test_scale_published_collectives {

using namespace eyeroof;
using namespace eyeroof::analysis;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};

const std::map<std::string, std::string> kFabrics = {{"NVIDIA A100-SXM4-80GB", "dgx-a100-hdr"},
                                                     {"NVIDIA H100 80GB HBM3", "dgx-h100-ndr"},
                                                     {"NVIDIA GB200", "gb200-nvl72"}};
const std::map<std::string, Operation> kOperations = {{"all_reduce", Operation::all_reduce},
                                                      {"all_gather", Operation::all_gather},
                                                      {"reduce_scatter", Operation::reduce_scatter},
                                                      {"alltoall", Operation::all_to_all}};

CollectivePoint predicted(const std::string& fabric, Operation kind, Count devices, double bytes,
                          const std::string& software) {
    CollectiveQuestion q;
    q.kind = kind;
    q.devices = devices;
    q.sizes = {bytes};
    q.options.direct = software;
    const auto study = study_collective(*hwdb::load_fabric(fabric, kHwdb), q);
    REQUIRE(study.ok());
    return study->points.at(0);
}

} // namespace

// ai-dynamo/aiconfigurator@095f58a: nccl-tests in fp16 and frameworks' own all-reduces in graphs.
// Even rows of nccl-tests settled bases and latencies; odd rows, and all of the frameworks' above
// 1 KiB, had no say.
TEST_CASE("collectives of one node: errors, also of small messages, and their interval") {
    const auto rows = tests::published_rows("calib_comm");
    if (rows.empty()) {
        MESSAGE("skipped: the shared measurements are absent");
        return;
    }
    std::map<std::string, tests::Ratios> table;
    tests::Ratios held, small, frameworks;
    double inside = 0.0, all = 0.0;
    int index = 0;
    for (const tests::PublishedRow& row : rows) {
        const auto fabric = kFabrics.find(row.at("gpu"));
        const std::string& kernel = row.at("kernel");
        const bool nccl = kernel.starts_with("NCCL") && row.at("dtype") == "fp16";
        const bool own = kernel == "TRTLLM" || kernel == "vLLM_custom_graph";
        const double bytes = std::stod(row.at("bytes"));
        if (fabric == kFabrics.end() || row.at("nodes") != "1" || (!nccl && !own)) {
            continue;
        }
        const auto gpus = static_cast<Count>(std::stol(row.at("gpus")));
        const CollectivePoint p =
            predicted(fabric->second, kOperations.at(row.at("op")), gpus, bytes,
                      own ? (kernel == "TRTLLM" ? "trtllm" : "vllm") : "");
        const double measured_s = std::stod(row.at("measured_ms")) / 1e3;
        if (own) {
            if (bytes > 1024.0) {
                frameworks.add(p.time_s, measured_s);
                table[fabric->second + " " + kernel].add(p.time_s, measured_s);
            }
            continue;
        }
        if (index++ % 2 == 0) {
            continue;
        }
        held.add(p.time_s, measured_s);
        if (bytes < 65536.0) {
            small.add(p.time_s, measured_s);
        }
        table[fabric->second + " " + row.at("op")].add(p.time_s, measured_s);
        inside += measured_s >= p.low_s && measured_s <= p.high_s ? 1.0 : 0.0;
        all += 1.0;
    }
    for (const auto& [name, ratios] : table) {
        MESSAGE(name, ": ", ratios.values.size(), " rows, off by ", ratios.error(), ", median ",
                ratios.quantile(0.5));
    }
    MESSAGE("nccl-tests held out: off by ", held.error(), ", below 64 KiB ", small.error(),
            "; frameworks ", frameworks.error(), "; inside the interval ", inside / all);
    CHECK(held.error() <= 0.13);
    CHECK(small.error() <= 0.10);
    CHECK(frameworks.error() <= 0.20);
    CHECK(inside / all >= 0.75);
    CHECK(inside / all <= 0.95);
}

TEST_CASE("a message by zero copy is 2 to 10 times as fast as by gRPC over TCP, 1 KiB to 100 MiB") {
    const auto fabric = *hwdb::load_fabric("roce-100g", kHwdb);
    const auto times = [&](const char* transport) {
        CollectiveQuestion q;
        q.kind = Operation::send;
        q.devices = 2;
        for (double s = 1024.0; s <= 104857600.0; s *= 4.0) {
            q.sizes.push_back(s);
        }
        q.transport = transport;
        const auto study = study_collective(fabric, q);
        REQUIRE(study.ok());
        return study->points;
    };
    const auto grpc = times("grpc-tcp"), rpc = times("rpc-rdma"), zero = times("zero-copy");
    for (std::size_t i = 0; i < zero.size(); ++i) {
        CHECK(grpc[i].time_s / zero[i].time_s >= 2.0);
        CHECK(grpc[i].time_s / zero[i].time_s <= 10.0);
        CHECK(rpc[i].time_s >= zero[i].time_s);
    }
}

TEST_CASE("more bytes take longer, a faster link is never slower, and mistakes name what exists") {
    for (const auto& entry : hwdb::list_fabrics(kHwdb)) {
        const auto fabric = *hwdb::load_fabric(entry.id, kHwdb);
        model::Fabric faster = fabric;
        for (model::FabricLevel& level : faster.levels) {
            level.bytes_per_s *= 1.5;
            level.global_bytes_per_s *= 1.5;
        }
        for (const Operation kind : {Operation::all_reduce, Operation::all_gather,
                                     Operation::all_to_all, Operation::send}) {
            CollectiveQuestion q;
            q.kind = kind;
            q.devices = 8;
            for (double s = 64.0; s < 1e10; s *= 8.0) {
                q.sizes.push_back(s);
            }
            const auto study = study_collective(fabric, q);
            const auto quick = study_collective(faster, q);
            REQUIRE(study.ok());
            REQUIRE(quick.ok());
            CAPTURE(entry.id);
            for (std::size_t i = 0; i < study->points.size(); ++i) {
                CHECK(quick->points[i].time_s <= study->points[i].time_s * (1 + 1e-12));
                if (i > 0) {
                    CHECK(study->points[i].time_s >= study->points[i - 1].time_s);
                }
            }
        }
    }
    CollectiveQuestion q;
    q.sizes = {1024.0};
    q.options.direct = "vlm";
    const auto unknown = study_collective(*hwdb::load_fabric("dgx-h100-ndr", kHwdb), q);
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.diagnostics().items()[0].hint.find("vllm") != std::string::npos);
    const auto time = [&](const char* software) {
        q.options.direct = software;
        return study_collective(*hwdb::load_fabric("dgx-h100-ndr", kHwdb), q)->points[0].time_s;
    };
    CHECK(time("sglang-0.5.9") == time("sglang-0.5.10"));
    CHECK(time("sglang-0.5.14") == time("sglang"));
    CHECK(time("sglang-0.5.9") > time("sglang"));
    q.options.direct = "trtllm"; // only measured in graphs
    q.options.from_host = true;
    const auto untimed = study_collective(*hwdb::load_fabric("dgx-h100-ndr", kHwdb), q);
    REQUIRE_FALSE(untimed.ok());
    CHECK(untimed.diagnostics().items()[0].hint.find("--software sglang") != std::string::npos);
    q.options.direct = "sglang";
    q.kind = Operation::all_gather; // no framework's call of it was timed
    CHECK_FALSE(study_collective(*hwdb::load_fabric("dgx-h100-ndr", kHwdb), q).ok());
}

} // namespace test_scale_published_collectives
