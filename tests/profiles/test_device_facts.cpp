// What driver and NVML say of a GPU, from libraries that are fake and called so.
#include "profiles/collect/device_facts.hpp"
#include "profiles/collect/measure_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

namespace test_profiles_device_facts {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

const DeviceLibraries kFake{EYEROOF_FAKE_DRIVER, EYEROOF_FAKE_DRIVER};

} // namespace

TEST_CASE("name, capability, clocks and power limit of the device that CUDA counts") {
    RunInfo run;
    describe_device(run, 1, kFake);
    CHECK(run.gpu == "Fake GPU B");
    CHECK(run.compute_capability == "9.0");
    CHECK(run.sm_count == 132);
    CHECK(run.cuda == "12.4");
    CHECK(run.driver == "580.65.06");
    CHECK(run.sm_clock_max_hz == near(1.98e9));
    CHECK(run.memory_clock_hz == near(2.619e9));
    CHECK(run.power_limit_w == near(350.0)); // found by its place on the bus, not by number
}

TEST_CASE("clock, power and temperature are sampled while something runs") {
    RunInfo run;
    run.temperature_c = 70.0; // of an earlier pass: the higher one stays
    DeviceWatch watch(0, kFake);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    watch.finish(run);
    CHECK(run.sm_clock_hz == near(1.755e9));
    CHECK(run.power_w == near(512.5));
    CHECK(run.temperature_c == near(70.0));
}

TEST_CASE("without driver and NVML nothing is claimed") {
    const DeviceLibraries none{"/no/such/libcuda.so", "/no/such/libnvidia-ml.so"};
    RunInfo run;
    run.gpu = "told by another";
    describe_device(run, 0, none);
    DeviceWatch(0, none).finish(run);
    CHECK(run == RunInfo{.gpu = "told by another"});
    describe_device(run, 7, {EYEROOF_FAKE_DRIVER, "/no/such/libnvidia-ml.so"}); // no such device
    CHECK(run.gpu == "told by another");
}

TEST_CASE("measuring a GPU says in one line what is missing") {
    GpuMeasureOptions options;
    options.driver = "/no/such/libcuda.so";
    auto measured = measure_gpu(options);
    REQUIRE_FALSE(measured.ok());
    REQUIRE(measured.diagnostics().size() == 1);
    CHECK(measured.diagnostics().items()[0].code == "unavailable");
    CHECK(measured.diagnostics().items()[0].message.find("no NVIDIA driver") != std::string::npos);

    options.driver = EYEROOF_FAKE_DRIVER; // there is a GPU, it says
    options.library = "/no/such/libeyeroof_gpu.so";
    measured = measure_gpu(options);
    REQUIRE_FALSE(measured.ok());
    CHECK(measured.diagnostics().items()[0].message.find("cannot be opened") != std::string::npos);

    options.library = EYEROOF_FAKE_DRIVER; // opens, but measures nothing
    measured = measure_gpu(options);
    REQUIRE_FALSE(measured.ok());
    CHECK(measured.diagnostics().items()[0].message.find("no library that measures GPUs") !=
          std::string::npos);
}

} // namespace test_profiles_device_facts
