// What was recorded on real GPUs (profiles/recorded): it reads back whole, and agrees with what the
// kernels do by definition and with the limits of the hardware.
#include "profiles/import/importer.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_profiles_recorded {

namespace {

using namespace eyeroof;
using namespace eyeroof::profiles;
namespace fs = std::filesystem;

const std::string kRecorded = eyeroof::tests::source_dir() + "/profiles/recorded/";
const std::string kH100 = kRecorded + "h100-sxm-80gb/";

Profile recorded(const std::string& file) {
    auto profile = import_file(file);
    for (const auto& diagnostic : profile.diagnostics()) {
        MESSAGE(to_string(diagnostic));
    }
    REQUIRE_MESSAGE(profile.ok(), file);
    return *std::move(profile);
}

double counter(const Launch& launch, const std::string& name) {
    const auto at = launch.counters.find(name);
    REQUIRE_MESSAGE(at != launch.counters.end(), name);
    return at->second;
}

double ceiling(const Profile& profile, const std::string& name) {
    const auto at = std::ranges::find(profile.ceilings, name, &Ceiling::name);
    REQUIRE_MESSAGE(at != profile.ceilings.end(), name);
    return at->value;
}

} // namespace

TEST_CASE("every recorded profile reads back with its GPU and its launches") {
    int profiles = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kRecorded)) {
        const std::string name = entry.path().filename().string();
        const bool trials = name.starts_with("tuned"); // of `eyeroof tune`, no profile
        const bool is_profile = (!trials && name.ends_with(".jsonl.gz")) ||
                                name.ends_with(".jsonl") || name.ends_with("p16-nchw.json.gz") ||
                                name.ends_with("p16-nhwc.json.gz");
        if (!is_profile) {
            continue;
        }
        const Profile profile = recorded(entry.path().string());
        CHECK_MESSAGE(!profile.run.gpu.empty(), name);
        CHECK_MESSAGE(!profile.launches.empty(), name);
        ++profiles;
    }
    CHECK(profiles >= 40);
}

TEST_CASE("counters of an H100 are the operations that the kernels do by definition") {
    const Profile profile = recorded(kH100 + "kernels.jsonl");
    REQUIRE(profile.launches.size() == 3);
    const double side = 8192.0;
    const double elements = 838'860'800.0; // 64 times 50 MiB of L2
    CHECK(counter(profile.launches[0], "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum") ==
          side * side * side);
    CHECK(counter(profile.launches[1], "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum") ==
          elements);
    // Two arrays read and one written; one read.
    CHECK(counter(profile.launches[1], "dram__bytes.sum") == tests::near(12.0 * elements, 0.01));
    CHECK(counter(profile.launches[2], "dram__bytes.sum") == tests::near(4.0 * elements, 0.01));
}

TEST_CASE("no ceiling measured on an H100 is above what its hardware can do") {
    const Profile profile = recorded(kH100 + "gpu.jsonl");
    // 132 SMs at 1.98 GHz: 128 B of shared memory, 128 fp32 and 64 fp64 multiply-adds a cycle.
    const double cycles = 132 * 1.98e9;
    CHECK(ceiling(profile, "shared read") <= 128.0 * cycles);
    CHECK(ceiling(profile, "shared read") > 0.95 * 128.0 * cycles);
    CHECK(ceiling(profile, "l1 read") <= 128.0 * cycles);
    CHECK(ceiling(profile, "fma fp32") <= 2.0 * 128.0 * cycles);
    CHECK(ceiling(profile, "fma fp64") <= 2.0 * 64.0 * cycles);
    CHECK(ceiling(profile, "dram read") <= 3.352e12); // five stacks of HBM3 at 5.24 Gbit/s a pin
    CHECK(ceiling(profile, "tensor fp16") <= 2.0 * 2048.0 * cycles);
    CHECK(ceiling(profile, "launch graph") < ceiling(profile, "launch eager"));
}

} // namespace test_profiles_recorded
