// Databases of Nsight Systems in all their versions, and rocprofv3's.
#include "profiles/device_time.hpp"
#include "profiles/import/foreign_report.hpp"
#include "profiles/import/importer.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>

namespace test_profiles_databases {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

// What the SQL makes, as the bytes of a database file.
Result<Profile> read(const std::string& sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
    char* message = nullptr;
    const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
    CAPTURE(std::string(message == nullptr ? "" : message));
    REQUIRE(code == SQLITE_OK);
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
    std::string database(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    sqlite3_close(db);
    return import_profile(input_of_text(std::move(database), "r.sqlite"));
}

const std::string kStrings = "CREATE TABLE StringIds(id INTEGER, value TEXT);"
                             "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'relu');";
// Two kernels of thread 9 of process 5: 500 ns each.
const std::string kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, "
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
    "gridX INTEGER, blockX INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 2500, 0, 7, 1, 83886080, 1, 16, 256),"
    "(3000, 3500, 0, 7, 2, 83886080, 2, 16, 256);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, "
    "correlationId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1010, 83886089, 1), "
    "(1500, 1510, 83886089, 2), (1900, 1910, 83886089, 50);";

std::string ranges(const std::string& table) {
    return "CREATE TABLE " + table +
           "(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);"
           "INSERT INTO " +
           table +
           " VALUES (900, 1950, 59, 'step[DECODE bs=4]', 83886089), "
           "(950, 1100, 59, 'layer fc1', 83886089), (1400, 1600, 59, 'layer fc2', 83886089);";
}

const std::string kGraph =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, deviceId INTEGER, "
    "graphId INTEGER, graphExecId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
    "INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (21000, 9021000, 0, 1, 2, 7, 50, "
    "83886080);";

} // namespace

TEST_CASE("tables of kernels and ranges are found in every version of their names") {
    for (const char* version : {"", "_V2", "_V3"}) {
        CAPTURE(version);
        std::string kernels = kKernels;
        const std::string name = "CUPTI_ACTIVITY_KIND_KERNEL";
        for (std::size_t at = kernels.find(name); at != std::string::npos;
             at = kernels.find(name, at + name.size() + 3)) {
            kernels.insert(at + name.size(), version);
        }
        const auto profile =
            read(kStrings + kernels + ranges(std::string("NVTX_EVENTS") + version));
        REQUIRE(profile.ok());
        REQUIRE(profile->launches.size() == 2);
        CHECK(profile->range_of(profile->launches[0]) == "step[DECODE bs=4] > layer fc1");
        CHECK(profile->launches[0].step == profile->launches[1].step);
        CHECK(profile->launches[0].called_ns == 1000);
        KernelFilter inner;
        inner.range = "layer fc2";
        CHECK(filter(*profile, inner)->launches.size() == 1);
        inner.range = "DECODE";
        CHECK(filter(*profile, inner)->launches.size() == 2);
    }
}

TEST_CASE("of several GPUs the one that computes the longest is named") {
    const std::string gpus =
        "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, smCount INTEGER, cuDevice INTEGER);"
        "INSERT INTO TARGET_INFO_GPU VALUES (5, 'NVIDIA T400', 6, 1), (6, 'NVIDIA A100', 108, 0);";
    const auto first = read(kStrings + kKernels + gpus);
    REQUIRE(first.ok());
    CHECK(first->run.gpu == "NVIDIA A100");
    const auto second =
        read(kStrings + kKernels + gpus + "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1;");
    REQUIRE(second.ok());
    CHECK(second->run.gpu == "NVIDIA T400");
    CHECK(second->run.sm_count == 6);
    const auto amd = read(
        "CREATE TABLE rocpd_info_agent_a(id INTEGER, type TEXT, name TEXT, product_name TEXT);"
        "INSERT INTO rocpd_info_agent_a VALUES (1, 'GPU', 'gfx1036', 'AMD Radeon Graphics'), "
        "(2, 'GPU', 'gfx1100', 'AMD Radeon RX 7900 XTX');"
        "CREATE TABLE rocpd_kernel_dispatch_a(agent_id INTEGER, kernel_id INTEGER, start BIGINT, "
        "end BIGINT);"
        "INSERT INTO rocpd_kernel_dispatch_a VALUES (1, 1, 10, 20), (2, 1, 30, 90);");
    REQUIRE(amd.ok());
    CHECK(amd->run.gpu == "AMD Radeon RX 7900 XTX");
}

TEST_CASE("a database of nvprof is named, and the profiler that followed it") {
    const auto refused = read("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INTEGER);");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items()[0].code == "foreign-report");
    CHECK(refused.diagnostics().items()[0].hint.find("nsys profile") != std::string::npos);
}

TEST_CASE("a filter that nothing passes says what there is") {
    const auto profile = read(kStrings + kKernels + ranges("NVTX_EVENTS"));
    KernelFilter none;
    none.range = "layer fc9";
    const auto kept = filter(*profile, none);
    REQUIRE(kept.ok());
    REQUIRE(kept.diagnostics().size() == 1);
    CHECK(kept.diagnostics().items()[0].hint.find("layer fc1") != std::string::npos);
}

TEST_CASE("graphs that were recorded as a whole count with their time, and how to see inside") {
    const auto profile = read(kStrings + kKernels + kGraph);
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 3);
    CHECK(profile->launches[2].duration_ns == near(9e6));
    CHECK(device_time(*profile)->busy_s() == near(9.001e-3));
    REQUIRE(profile.diagnostics().size() == 1);
    CHECK(profile.diagnostics().items()[0].hint.find("--cuda-graph-trace=node") !=
          std::string::npos);
    CHECK(read(kStrings + kGraph).ok());
}

TEST_CASE("copies and fills of Nsight Systems stand beside the kernels") {
    const std::string copies =
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind "
        "INTEGER, srcKind INTEGER, dstKind INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (30000, 130000, 0, 7, 60, 83886080, 1000000,"
        " 1, 0, 2), (140000, 150000, 0, 7, 61, 83886080, 4096, 2, 2, 1);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER, "
        "streamId INTEGER, bytes INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (10000, 11000, 0, 7, 512);";
    const auto profile = read(kStrings + kKernels + copies);
    REQUIRE(profile.ok());
    REQUIRE(profile->copies.size() == 3);
    CHECK(profile->copies[0].kind == CopyKind::fill);
    CHECK(profile->copies[1].kind == CopyKind::host_to_device);
    CHECK(profile->copies[1].pageable);
    CHECK(profile->copies[2].kind == CopyKind::device_to_host);
    CHECK_FALSE(profile->copies[2].pageable);
    CHECK(device_time(*profile)->exposed_copies_s == near(110e-6));
    CHECK(read(copies).ok());
}

TEST_CASE("rocprofv3's database has kernels, copies, counters, and its GPU") {
    const std::string sql =
        "CREATE TABLE rocpd_string_ab(id INTEGER, guid TEXT, string TEXT);"
        "INSERT INTO rocpd_string_ab VALUES (3, 'ab', 'MEMORY_COPY_HOST_TO_DEVICE');"
        "CREATE TABLE rocpd_info_agent_ab(id INTEGER, type TEXT, absolute_index INTEGER, name TEXT,"
        " product_name TEXT);"
        "INSERT INTO rocpd_info_agent_ab VALUES (1, 'CPU', 0, 'EPYC', ''), "
        "(2, 'GPU', 4, 'gfx942', 'AMD Instinct MI300X');"
        "CREATE TABLE rocpd_info_kernel_symbol_ab(id INTEGER, kernel_name TEXT, display_name TEXT);"
        "INSERT INTO rocpd_info_kernel_symbol_ab VALUES (9, '_Z6matmul', 'matmul');"
        "CREATE TABLE rocpd_kernel_dispatch_ab(id INTEGER, agent_id INTEGER, kernel_id INTEGER, "
        "stream_id INTEGER, start BIGINT, end BIGINT, workgroup_size_x INTEGER, grid_size_x "
        "INTEGER, event_id INTEGER);"
        "INSERT INTO rocpd_kernel_dispatch_ab VALUES (1, 2, 9, 0, 1000, 21000, 256, 65536, 77);"
        "CREATE TABLE rocpd_info_pmc_ab(id INTEGER, symbol TEXT);"
        "INSERT INTO rocpd_info_pmc_ab VALUES (5, 'SQ_INSTS_VALU_MFMA_MOPS_F16');"
        "CREATE TABLE rocpd_pmc_event_ab(event_id INTEGER, pmc_id INTEGER, value REAL);"
        "INSERT INTO rocpd_pmc_event_ab VALUES (77, 5, 600.0), (77, 5, 400.0);"
        "CREATE TABLE rocpd_memory_copy_ab(id INTEGER, start BIGINT, end BIGINT, size INTEGER, "
        "src_agent_id INTEGER, dst_agent_id INTEGER, name_id INTEGER);"
        "INSERT INTO rocpd_memory_copy_ab VALUES (1, 100, 600, 4096, 1, 2, 3);";
    const auto profile = read(sql);
    REQUIRE(profile.ok());
    CHECK(profile->run.tool == "rocpd-sqlite");
    CHECK(profile->run.gpu == "AMD Instinct MI300X");
    CHECK(profile->run.chip == "gfx942");
    REQUIRE(profile->launches.size() == 1);
    const Launch& launch = profile->launches[0];
    CHECK(profile->kernel_of(launch).name == "matmul");
    CHECK(launch.duration_ns == near(20'000.0));
    CHECK(launch.grid.x == 256);
    CHECK(launch.device == 4);
    CHECK(launch.counters.at("SQ_INSTS_VALU_MFMA_MOPS_F16") == near(1000.0));
    REQUIRE(profile->copies.size() == 1);
    CHECK(profile->copies[0].kind == CopyKind::host_to_device);
    CHECK(profile->copies[0].device == 4);
    const auto broken = read("CREATE TABLE rocpd_kernel_dispatch_ab(id INTEGER);");
    REQUIRE_FALSE(broken.ok());
    CHECK(broken.diagnostics().items()[0].code == "missing-column");
}

TEST_CASE("reports that are not read name their tool and the command that converts them") {
    for (const auto& [name, head, fix] :
         {std::tuple{"r.nsys-rep", "NSYSREP0", "nsys export --type sqlite"},
          {"r.ncu-rep", "NVR", "ncu --import"},
          {"s.csv",
           "\"Time (%)\",\"Total Time (ns)\",\"Instances\",\"Avg "
           "(ns)\",\"Name\"\n80.0,8,1,8,\"k\"\n",
           "nsys export --type sqlite"},
          {"g.csv", "\"Start (ns)\",\"Duration (ns)\",\"CorrId\",\"Name\"\n1,2,3,\"k\"\n",
           "nsys export --type sqlite"},
          {"k.csv", "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n",
           "rocprofv3 --kernel-trace"},
          {"u.csv", "Time (%),Total Time (us),Instances,Avg (us),Name\n1,8,1,8,k\n",
           "nsys export --type sqlite"},
          {"o.csv", "Time(%),Total Time (ns),Num Calls,Average,Name\n1,8,1,8,cudaMalloc\n",
           "nsys export --type sqlite"},
          {"v.csv", "Start (s),Duration (us),CorrId,Name\n1,2,3,k\n", "nsys export --type sqlite"},
          {"p.csv", "==1== NVPROF is profiling process 1\n\"Type\",\"Time(%)\",\"Calls\"\n",
           "nsys profile"},
          {"m.csv",
           "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\"\n",
           "nsys profile"},
          {"h.csv", "\"Domain\",\"Function\",\"Process_Id\",\"Correlation_Id\"\n",
           "kernel_trace.csv"},
          {"s.csv", "\"#\",\"Address\",\"Source\",\"# Samples\"\n", "--page raw"},
          {"z.zip", "PK\x03\x04", "unpack it"},
          {"n.csv", "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n", "ncu --import"},
          {"x.xplane.pb", "\n", "nsys"},
          {"x.trace.json",
           R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name",)"
           R"("args":{"name":"/device:GPU:0"}}]})",
           "nsys profile"},
          {"t.txt", "---\n  Name    Self CPU %      Self CUDA\n", "export_chrome_trace"},
          {"kernel_details.csv", "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n",
           "time_us"}}) {
        CAPTURE(std::string(name));
        const auto refused = import_profile(input_of_text(head, name));
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.diagnostics().items()[0].code == "foreign-report");
        CHECK(refused.diagnostics().items()[0].hint.find(fix) != std::string::npos);
    }
    CHECK(foreign_report("Index,KernelName,gpu-id,sig,obj,FetchSize\n0,\"k\",4,0,0,1\n", "r.csv")
              ->fix.find("--timestamp on") != std::string::npos);
    CHECK_FALSE(foreign_report("Index,KernelName,gpu-id,BeginNs,EndNs\n", "r.csv"));
    CHECK_FALSE(foreign_report("name,op,m,n,k\nfc,gemm,1,2,3\n", "layers.csv"));
}

} // namespace test_profiles_databases
