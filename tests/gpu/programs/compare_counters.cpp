// compare_counters OURS THEIRS [PERCENT]: holds the counters of two profiles of the same program
// against each other, launch by launch. Exit 0 when all that both have agree.
#include "profiles/import/importer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

struct Tally {
    int compared = 0, off = 0;
};

void compare(const Launch& ours, const Launch& theirs, const std::string& kernel, double percent,
             Tally& tally) {
    for (const auto& [name, value] : ours.counters) {
        const auto other = theirs.counters.find(name);
        if (other == theirs.counters.end()) {
            continue;
        }
        const double scale = std::max(std::abs(other->second), 1.0);
        const double difference = 100.0 * std::abs(value - other->second) / scale;
        const bool off = difference > percent;
        tally.compared += 1;
        tally.off += off ? 1 : 0;
        fmt::print("{} {:<40.40} {:<60} {:>16.6g} {:>16.6g} {:>7.2f} %\n", off ? "OFF" : " ok",
                   kernel, name, value, other->second, difference);
    }
}

} // namespace

int main(int count, char** words) {
    if (count < 3) {
        fmt::print(stderr, "compare_counters OURS THEIRS [PERCENT]\n");
        return 2;
    }
    const double percent = count > 3 ? std::atof(words[3]) : 2.0;
    const auto ours = import_file(words[1]);
    const auto theirs = import_file(words[2]);
    for (const auto* profile : {&ours, &theirs}) {
        for (const auto& diagnostic : profile->diagnostics()) {
            fmt::print(stderr, "{}\n", to_string(diagnostic));
        }
    }
    if (!ours || !theirs || ours->launches.size() != theirs->launches.size()) {
        fmt::print(stderr, "the two do not hold the same launches\n");
        return 3;
    }
    Tally tally;
    for (std::size_t i = 0; i < ours->launches.size(); ++i) {
        compare(ours->launches[i], theirs->launches[i], ours->kernel_of(ours->launches[i]).name,
                percent, tally);
    }
    fmt::print("{} counters compared, {} off by more than {} %\n", tally.compared, tally.off,
               percent);
    return tally.compared == 0 || tally.off > 0 ? 1 : 0;
}
