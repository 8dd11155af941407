// eyeroof collective: a collective of a size on a fabric, over message sizes.
#include "analysis/calibrate/clusters.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/fabric.hpp"
#include "cli/option_values.hpp"
#include "report/scale/collective_answer.hpp"

#include <algorithm>

namespace eyeroof::cli {

namespace {

struct CollectiveCommand {
    std::string beside, operation, fabric, sizes = "1 KiB..1 GiB", algorithm = "auto", software,
                                           transport, launch = "graph";
    std::int64_t devices = 8;
    OutputOptions output;
};

Result<std::vector<double>> sizes_of(const std::string& text) {
    std::vector<double> sizes;
    const auto read = [](const std::string& one) { return parse<Bytes>(one); };
    const auto dots = text.find("..");
    if (dots != std::string::npos) {
        const auto from = read(text.substr(0, dots));
        const auto to = read(text.substr(dots + 2));
        if (from && to && from->value >= 1.0 && from->value <= to->value && to->value <= 1e15) {
            for (double s = from->value; s < to->value; s *= 2.0) {
                sizes.push_back(s);
            }
            sizes.push_back(to->value);
            return sizes;
        }
    } else {
        for (std::size_t at = 0; at <= text.size();) {
            const auto comma = std::min(text.find(',', at), text.size());
            const auto one = read(text.substr(at, comma - at));
            if (!one || one->value < 1.0 || one->value > 1e15) {
                sizes.clear();
                break;
            }
            sizes.push_back(one->value);
            at = comma + 1;
        }
    }
    if (sizes.empty()) {
        return Result<std::vector<double>>::failure(
            "usage", "--size: '" + text + "' is no size",
            "as in --size '64 MiB', --size '1 MB,8 MB', or --size '1 KiB..1 GiB' (doubling)");
    }
    return sizes;
}

// Measured times of this collective, by bytes, of a table as `validate --scale` reads it.
Result<std::map<double, double>> measured_beside(const CollectiveCommand& command) {
    std::map<double, double> measured;
    if (command.beside.empty()) {
        return measured;
    }
    const auto text = read_text_file(command.beside);
    auto rows = text ? analysis::parse_clusters(*text, command.beside)
                     : Result<std::vector<analysis::ClusterRow>>(text.diagnostics());
    if (!rows) {
        return rows.diagnostics();
    }
    for (analysis::ClusterRow& row : *rows) {
        const bool same = row.metric == "time_s" && row.cells["fabric"] == command.fabric &&
                          row.cells["operation"] == command.operation &&
                          row.cells["devices"] == std::to_string(command.devices) &&
                          row.cells["software"] == command.software;
        const auto bytes = parse<Bytes>(row.cells["bytes"] + " B");
        if (same && bytes) {
            measured[bytes->value] = row.published;
        }
    }
    if (measured.empty()) {
        return Result<std::map<double, double>>::failure(
            "no-rows",
            command.beside + " has no row of this operation, fabric, devices, and software",
            "its columns are those of `eyeroof validate --scale`: metric time_s, operation, "
            "devices");
    }
    return measured;
}

Exit collective(Context& context, const CollectiveCommand& command, bool sized) {
    const auto fabric = load_fabric(context, command.fabric);
    auto sizes = sizes_of(command.sizes);
    const auto measured = measured_beside(command);
    if (sizes && measured && !measured->empty() && !sized) {
        sizes->clear();
        for (const auto& [bytes, seconds] : *measured) {
            sizes->push_back(bytes);
        }
    }
    Diagnostics all = fabric.diagnostics();
    all.append(sizes.diagnostics());
    all.append(measured.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    analysis::CollectiveQuestion question;
    question.kind = *analysis::collective_from_name(command.operation);
    question.devices = command.devices;
    question.sizes = *sizes;
    question.options.algorithm = analysis::algorithm_from_name(command.algorithm);
    question.options.direct = command.software;
    question.options.from_host = command.launch == "eager";
    question.transport = command.transport;
    auto study = analysis::study_collective(*fabric, question);
    if (!study) {
        return context.fail(study.diagnostics());
    }
    analysis::lay_measured(*study, *measured);
    return write_answer(context, report::collective_answer(*study), command.output);
}

} // namespace

void add_collective(Frame& frame) {
    auto command = std::make_shared<CollectiveCommand>();
    CLI::App& app = frame.add(
        "collective", "Predict the time and bus bandwidth of collectives over message sizes",
        "# an all-reduce over the 8 GPUs of a node, as nccl-tests prints it\n"
        "eyeroof collective all-reduce --fabric dgx-h100-ndr --devices 8\n"
        "# the same by the kernels of a serving framework where they are faster\n"
        "eyeroof collective all-reduce --fabric dgx-h100-ndr --devices 8 --software vllm\n"
        "# one message between two servers: RDMA against gRPC over TCP\n"
        "eyeroof collective send --fabric roce-100g --devices 2 --transport grpc-tcp\n"
        "eyeroof collective all-to-all --fabric dgx-a100-hdr --devices 64 --size '64 MiB' "
        "--format json");
    app.add_option("operation", command->operation, "Operation that the devices perform")
        ->required()
        ->check(CLI::IsMember(analysis::collective_names()));
    app.add_option("--fabric", command->fabric,
                   "Fabric that connects the devices: a name of hwdb/fabrics, or a file")
        ->type_name("FABRIC|FILE");
    app.add_option("--devices", command->devices, "Number of devices, next to each other")
        ->check(CLI::Range(std::int64_t{2}, std::int64_t{model::kMaxDevices}))
        ->capture_default_str();
    app.add_option("--size", command->sizes,
                   "Sizes of the whole array: S, S,T,… or FROM..TO by doubling")
        ->type_name("LIST")
        ->capture_default_str();
    std::vector<std::string> algorithms = analysis::algorithm_names();
    algorithms.insert(algorithms.begin(), "auto");
    add_choice(app, "--algorithm", command->algorithm, algorithms,
               "Algorithm; auto: the fastest that the fabric's library offers");
    app.add_option(
           "--software", command->software,
           "Framework whose own all-reduces are also tried, of those that the fabric names; with "
           "a version: sglang-0.5.10")
        ->type_name("NAME");
    add_choice(app, "--launch", command->launch, {"graph", "eager"},
               "With --software: calls replayed in a CUDA graph, or each from the host");
    app.add_option("--transport", command->transport,
                   "Software transport of messages, of those that the fabric names [its first]")
        ->type_name("NAME");
    add_output(app, command->output, answer_formats(true));
    app.add_option("--beside", command->beside,
                   "Measured times beside the prediction: a table as `validate --scale` reads it; "
                   "without --size its sizes")
        ->type_name("FILE");
    frame.run(app, [command, &app](Context& context) {
        return collective(context, *command, app.count("--size") > 0);
    });
}

} // namespace eyeroof::cli
