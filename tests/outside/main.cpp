// What another program writes to examine a network on a machine: outside HWDB NETWORKS.
#include "analysis/exam/run.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 3) {
        return 2;
    }
    const auto machine = eyeroof::formats::load_any_machine("eyeriss-v1", {argv[1]});
    const auto network = eyeroof::formats::load_network("alexnet", {argv[2]});
    if (!machine || !network) {
        return 3;
    }
    const auto report = eyeroof::analysis::run(*network, *machine);
    if (!report) {
        return 3;
    }
    std::printf("%zu layers, %.1f ms\n", report->layers.size(), 1e3 * report->total.time_s);
    return report->layers.size() > 5 && report->total.time_s > 0.0 ? 0 : 1;
}
