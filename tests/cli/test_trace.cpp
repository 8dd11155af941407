// Profiler traces on the command line: exam as text, JSON and page, several ranks, upgrade, diff.
#include "report/answers/answers.hpp"
#include "tests/cli/program.hpp"
#include "tests/json_schema.hpp"
#include "tests/paths.hpp"
#include "tests/traces.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace test_cli_trace {

using namespace eyeroof; // NOLINT

namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A product, what follows it, a collective, and a copy from the host.
std::string trace_of(int rank, double product_us, double collective_us) {
    const std::string types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";
    tests::TraceText trace;
    trace.module("Net_0", 3);
    trace.op("aten::mm", "[[4096,4096],[4096,4096]]", types);
    trace.kernel("gemm_bf16", product_us);
    trace.next();
    trace.op("aten::relu", "[[4096,4096]]", types);
    trace.kernel("relu", 40.0);
    trace.next();
    trace.op("c10d::allreduce_", "[[16777216]]", types);
    trace.kernel("ncclDevKernel_AllReduce_Sum_bf16", collective_us);
    trace.next();
    trace.op("aten::copy_", "[[1024],[1024],[]]", types);
    trace.copy("Memcpy HtoD (Pageable -> Device)", 20.0, 2048);
    return trace.text("NVIDIA H100 80GB HBM3", R"(,"distributedInfo":{"rank":)" +
                                                   std::to_string(rank) + R"(,"world_size":2})");
}

nlohmann::json checked(const std::string& text, const char* schema) {
    const auto document = nlohmann::json::parse(text);
    const std::string made = eyeroof::report::schema_of(schema);
    tests::SchemaCheck check(nlohmann::json::parse(
        made.empty() ? tests::read_file(eyeroof::tests::source_dir() + "/report/schema/" + schema +
                                        ".schema.json")
                     : made));
    for (const auto& fault : check.faults(document)) {
        FAIL_CHECK(fault);
    }
    return document;
}

} // namespace

TEST_CASE("exam of a trace holds predictions against its kernels, as text, JSON, and page") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "t.json").string();
    tests::write_text(file, trace_of(0, 250.0, 300.0));
    const auto text = tests::run({"exam", file});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "median error"));
    CHECK(has(text.out, "a collective: its kernel waits for other ranks"));
    CHECK(has(text.out, "Critical path of the step"));
    CHECK(has(text.out, "Where the GPU's time goes"));
    CHECK(has(text.out, "Largest misses"));
    CHECK(has(text.out, "Net"));
    const auto json = checked(tests::run({"exam", file, "--format", "json"}).out, "exam");
    CHECK(json["trace"]["rows"].size() == 4);
    CHECK(json["trace"]["comparisons"][0]["name"] == "all");
    CHECK(json["trace"]["comparisons"][0]["shapes"] == 2);
    CHECK(json["trace"]["modules"][0]["path"] == "Net");
    const auto page = tests::run({"exam", file, "--format", "html"});
    CHECK(has(page.out, "<canvas id=\"line\""));
    CHECK(has(page.out, "\"streams\":[7]"));
    CHECK(has(page.out, "data-row=\"0\""));
    CHECK(has(page.out, "Critical path of the step"));
}

TEST_CASE("exam of several ranks says who waits for whom, of files and of their folder") {
    const tests::Scratch scratch;
    const std::string folder = (scratch / "ranks").string();
    std::filesystem::create_directory(folder);
    tests::write_text(folder + "/rank0.json", trace_of(0, 250.0, 300.0));
    tests::write_text(folder + "/rank1.json", trace_of(1, 400.0, 150.0));
    const auto files = tests::run({"exam", folder + "/rank0.json", folder + "/rank1.json"});
    const auto all = tests::run({"exam", folder});
    CHECK(files.exit == 0);
    CHECK(has(files.out, "2 ranks"));
    CHECK(has(files.out, "Who waits (row) for whom (column)"));
    CHECK(all.out == files.out);
    const auto json = checked(tests::run({"exam", folder, "--format", "json"}).out, "exam");
    CHECK(json["ranks"]["collectives"][0]["last"] == "rank 1");
    CHECK(json["ranks"]["waits_s"][0][1].get<double>() > 149e-6);
    CHECK(has(tests::run({"exam", folder, "--format", "html"}).out, "Who waits (row) for whom"));
    const auto wrong = tests::run({"exam", folder + "/rank0.json", "alexnet"});
    CHECK(wrong.exit != 0);
    CHECK(has(wrong.err, "unexpected argument 'alexnet'"));
}

TEST_CASE("upgrade from a trace takes several candidates, and says each category given the trace") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "t.json").string();
    tests::write_text(file, trace_of(0, 250.0, 300.0));
    const auto text = tests::run({"upgrade", file, "--to", "mi300x,h200-sxm-141gb"});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "kernels on mi300x, given what "));
    CHECK(has(text.out, "kernels on h200-sxm-141gb, given what "));
    const auto json = checked(
        tests::run({"upgrade", file, "--to", "h200-sxm-141gb", "--format", "json"}).out, "upgrade");
    CHECK(json["categories"][0]["name"] == "all");
}

TEST_CASE("diff of two traces matches operators and shapes, and sums up categories") {
    const tests::Scratch scratch;
    const std::string a = (scratch / "a.json").string(), b = (scratch / "b.json").string();
    tests::write_text(a, trace_of(0, 250.0, 300.0));
    tests::write_text(b, trace_of(0, 200.0, 300.0));
    const auto text = tests::run({"diff", a, b});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "mm.4096x4096x4096"));
    CHECK(has(text.out, "GEMM"));
    const auto json = checked(tests::run({"diff", a, b, "--format", "json"}).out, "run-diff");
    CHECK(json["by"] == "layer");
    CHECK(json["categories"][0]["name"] == "GEMM");
    CHECK(json["categories"][0]["adds_s"].get<double>() < -49e-6);
    CHECK(has(tests::run({"diff", a, b, "--format", "html"}).out, "category"));
}

} // namespace test_cli_trace
