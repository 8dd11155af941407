#include "profiles/profile_file.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace test_profiles_profile_file {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

Profile small_profile() {
    ProfileBuilder built;
    built.profile.run = {.tool = "test",
                         .gpu = "NVIDIA H200",
                         .chip = "GH100",
                         .compute_capability = "9.0",
                         .driver = "580.1",
                         .cuda = "13.0",
                         .command = "./app --n 4",
                         .date = "2026-01-01T00:00:00Z",
                         .host = "somewhere",
                         .sm_count = 132,
                         .sm_clock_hz = 1.98e9,
                         .memory_clock_hz = 3.2e9,
                         .power_limit_w = 700.0,
                         .memory_bandwidth_bytes_per_s = 4.8e12};
    built.profile.notes = {"times under replay"};
    built.profile.ceilings = {{.name = "dram read", .level = "dram", .value = 4.1e12, .trials = 5}};
    Launch gemm;
    gemm.source = built.source("a.csv");
    gemm.kernel = built.kernel("gemm<float>", "_Z4gemmIfEvv");
    gemm.op = built.op({"aten::mm", {{8, 16}, {16, 4}}, {"float", "float"}, {}});
    gemm.range = built.range("eyeroof:layer=fc1");
    gemm.op_call = 0;
    gemm.range_call = 3;
    gemm.grid = {4, 2, 1};
    gemm.block = {256, 1, 1};
    gemm.stream = 7;
    gemm.device = 0;
    gemm.start_ns = 1000;
    gemm.duration_ns = 2500.5;
    gemm.counters = {{"dram__bytes.sum", 4096.0}};
    Launch relu;
    relu.source = gemm.source;
    relu.kernel = built.kernel("relu", "");
    relu.start_ns = 5000;
    relu.duration_ns = 100.0;
    relu.under_replay = true;
    built.profile.launches = {gemm, relu, gemm};
    return built.profile;
}

Result<Profile> read_text(const std::string& text) {
    const auto source = ByteSource::of_text(text, "p.jsonl");
    return read_profile(*source);
}

const Diagnostic& first_error(const Result<Profile>& result) {
    REQUIRE_FALSE(result.ok());
    return result.diagnostics().items().front();
}

} // namespace

TEST_CASE("a profile that is written and read again is the same") {
    const Profile profile = small_profile();
    const auto read = read_text(profile_text(profile));
    REQUIRE(read.ok());
    CHECK(*read == profile);
    CHECK(read.diagnostics().empty());
}

TEST_CASE("plain and gzip files hold the same profile") {
    const auto folder = std::filesystem::temp_directory_path();
    for (const char* name : {"eyeroof_test_profile.jsonl", "eyeroof_test_profile.jsonl.gz"}) {
        const std::string path = (folder / name).string();
        REQUIRE(write_profile(small_profile(), path).ok());
        auto source = ByteSource::open(path);
        REQUIRE(source.ok());
        const auto read = read_profile(**source);
        REQUIRE(read.ok());
        CHECK(*read == small_profile());
        std::filesystem::remove(path);
    }
}

TEST_CASE("a profile without its last line is read with a warning") {
    std::string text = profile_text(small_profile());
    text.resize(text.rfind("{\"end\""));
    const auto read = read_text(text);
    REQUIRE(read.ok());
    CHECK(read->launches.size() == 3);
    REQUIRE(read.diagnostics().size() == 1);
    CHECK(read.diagnostics().items()[0].code == "cut-off");
}

TEST_CASE("wherever a profile is cut off, the whole lines before are kept") {
    const std::string text = profile_text(small_profile());
    const std::size_t header = text.find('\n') + 1;
    for (std::size_t cut = header; cut + 1 < text.size(); ++cut) {
        CAPTURE(cut);
        const auto read = read_text(text.substr(0, cut));
        REQUIRE(read.ok());
        const std::string_view whole = std::string_view(text).substr(0, cut);
        std::size_t launches = 0;
        for (std::size_t at = whole.find("{\"launch\""); at != std::string_view::npos;
             at = whole.find("{\"launch\"", at + 1)) {
            launches += text.find("}\n", at) + 1 <= cut ? 1 : 0;
        }
        CHECK(read->launches.size() == launches);
        REQUIRE(read.diagnostics().size() <= 1);
        const bool all_there = text.substr(0, cut).ends_with("{\"launches\":3}}");
        CHECK(read.diagnostics().empty() == all_there);
        if (!all_there) {
            CHECK(read.diagnostics().items()[0].code == "cut-off");
        }
    }
}

TEST_CASE("a packed profile that is cut off gives what can be unpacked") {
    Profile profile = small_profile();
    const Launch first = profile.launches[0];
    std::uint32_t random = 1;
    for (int i = 0; i < 5000; ++i) {
        random = random * 1664525U + 1013904223U; // numbers that do not pack to nothing
        profile.launches.push_back(first);
        profile.launches.back().start_ns = random;
    }
    const auto path = (std::filesystem::temp_directory_path() / "eyeroof_cut.jsonl.gz").string();
    REQUIRE(write_profile(profile, path).ok());
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    auto source = ByteSource::open(path);
    REQUIRE(source.ok());
    const auto read = read_profile(**source);
    std::filesystem::remove(path);
    REQUIRE(read.ok());
    CHECK(read->launches.size() > 1000);
    CHECK(read->launches.size() < 5003);
    CHECK(read.diagnostics().items()[0].message.find("the compressed data end") == 0);
}

TEST_CASE("a line that is broken before the end is refused with its line and column") {
    const std::string text = profile_text(small_profile());
    const std::size_t cut = text.rfind("\"duration_ns\"");
    const auto read = read_text(text.substr(0, cut) + "\n" + text.substr(cut));
    const auto& error = first_error(read);
    CHECK(error.code == "not-json");
    // header, source, note, a ceiling, two kernels, one operator, one range, two launches: the
    // third is line 10
    CHECK(error.where.line == 11);
    CHECK(error.where.column > 10);
}

TEST_CASE("a launch of a kernel that was never described is refused") {
    const auto read =
        read_text("{\"eyeroof_profile\":1}\n{\"source\":\"x\"}\n{\"launch\":{\"kernel\":3}}\n");
    CHECK(first_error(read).where.line == 3);
    CHECK(first_error(read).field == "launch.kernel");
}

TEST_CASE("wrong types, versions, records and counts are each refused") {
    const std::string head = "{\"eyeroof_profile\":1}\n";
    const std::string kernel = "{\"kernel\":{\"name\":\"k\"}}\n";
    struct Case {
        std::string text, code;
    };
    const Case cases[] = {
        {"", "not-a-profile"},
        {"{\"eyeroof_profile\":2}\n", "bad-version"},
        {"{\"other\":1}\n", "not-a-profile"},
        {"[1]\n", "bad-record"},
        {head + "{\"lunch\":{}}\n", "bad-record"},
        {head + "{\"kernel\":{\"name\":\"k\"},\"note\":\"n\"}\n", "bad-record"},
        {head + "{\"kernel\":{}}\n", "bad-field"},
        {head + kernel + "{\"launch\":{\"kernel\":-1}}\n", "bad-field"},
        {head + kernel + "{\"launch\":{\"kernel\":0,\"duration_ns\":\"5\"}}\n", "bad-field"},
        {head + kernel + "{\"launch\":{\"kernel\":0,\"grid\":[1,2]}}\n", "bad-field"},
        {head + kernel + "{\"launch\":{\"kernel\":0,\"stream\":1e99}}\n", "bad-field"},
        {head + kernel + "{\"launch\":{\"kernel\":0,\"stream\":18446744073709551615}}\n",
         "bad-field"},
        {head + "{\"ceiling\":{\"name\":\"x\",\"value\":0}}\n", "bad-field"},
        {head + "{\"end\":{\"launches\":1}}\n", "count-differs"},
        {head + "{\"end\":{\"launches\":0}}\n{\"note\":\"late\"}\n", "trailing-data"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        CHECK(first_error(read_text(c.text)).code == c.code);
    }
}

TEST_CASE("no cut of a profile file is accepted in silence") {
    const std::string text = profile_text(small_profile());
    for (std::size_t cut = 0; cut + 1 < text.size(); ++cut) {
        const auto read = read_text(text.substr(0, cut));
        CHECK(!read.diagnostics().empty());
    }
}

TEST_CASE("a damaged gzip file is refused") {
    const std::string path =
        (std::filesystem::temp_directory_path() / "eyeroof_test_damaged.jsonl.gz").string();
    REQUIRE(write_profile(small_profile(), path).ok());
    std::stringstream packed;
    packed << std::ifstream(path, std::ios::binary).rdbuf();
    std::string text = packed.str();
    std::filesystem::remove(path);
    const auto cut = ByteSource::of_text(text.substr(0, text.size() / 2), "p.gz");
    CHECK_FALSE(read_profile(*cut).ok());
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 0x55);
    const auto flipped = ByteSource::of_text(text, "p.gz");
    CHECK_FALSE(read_profile(*flipped).ok());
}

TEST_CASE("the filter takes names, ranges, skip and count together") {
    const Profile profile = small_profile();
    const auto gemms = filter(profile, {.name_regex = "gemm", .range = "layer=fc1", .skip = 1});
    REQUIRE(gemms.ok());
    REQUIRE(gemms->launches.size() == 1); // launches 0 and 2 match, the first of them is skipped
    CHECK(gemms->kernels.size() == 1);
    CHECK(gemms->operator_of(gemms->launches[0])->name == "aten::mm");
    CHECK(filter(profile, {.count = 2})->launches.size() == 2);
    CHECK(filter(profile, {.count = 0})->launches.empty());
    CHECK_FALSE(filter(profile, {.name_regex = "gemm["}).ok());
}

TEST_CASE("merging keeps every launch once and warns of different devices") {
    Profile other = small_profile();
    other.run.gpu = "NVIDIA A100";
    other.sources = {"b.csv"};
    const auto both = merge({small_profile(), other});
    REQUIRE(both.ok());
    CHECK(both->launches.size() == 6);
    CHECK(both->kernels.size() == 2);
    CHECK(both->sources == std::vector<std::string>{"a.csv", "b.csv"});
    CHECK(both->launches[3].source == 1);
    CHECK(both.diagnostics().size() == 1);
}

TEST_CASE("counters go to the timed launches only when both runs launched the same") {
    Profile times = small_profile();
    for (Launch& launch : times.launches) {
        launch.counters.clear();
    }
    Profile counters = small_profile();
    counters.launches[1].counters = {{"lts__t_bytes.sum", 5.0}};
    const auto joined = join_runs(times, counters);
    REQUIRE(joined.ok());
    CHECK(joined->launches[1].counters.at("lts__t_bytes.sum") == 5.0);
    CHECK(joined->launches[1].duration_ns == times.launches[1].duration_ns);

    std::swap(counters.launches[0], counters.launches[1]);
    const auto refused = join_runs(times, counters);
    CHECK(first_error(refused).code == "runs-differ");
    counters.launches.pop_back();
    CHECK_FALSE(join_runs(times, counters).ok());
}

TEST_CASE("the summary adds the launches of a kernel") {
    const auto sums = summarise(small_profile());
    REQUIRE(sums.size() == 2);
    CHECK(sums[0].name == "gemm<float>");
    CHECK(sums[0].calls == 2);
    // 2 x 2500.5 ns = 5.001 us of 5.101 us
    CHECK(sums[0].time_s == near(5.001e-6));
    CHECK(sums[0].share == near(5001.0 / 5101.0));
}

TEST_CASE("a profile with a number that is none is not valid") {
    Profile profile = small_profile();
    CHECK(validate(profile).empty());
    profile.launches[0].counters["x"] = std::numeric_limits<double>::quiet_NaN();
    profile.launches[1].duration_ns = -5.0;
    profile.launches[2].op = 7;
    CHECK(validate(profile).size() == 3);
}

TEST_CASE("a field that is not read is reported once, with the nearest that is") {
    const std::string text = "{\"eyeroof_profile\":1,\"run\":{\"gpuu\":\"x\"}}\n"
                             "{\"source\":\"s\"}\n{\"kernel\":{\"name\":\"k\"}}\n"
                             "{\"launch\":{\"kernel\":0,\"durtion_ns\":5}}\n"
                             "{\"launch\":{\"kernel\":0,\"durtion_ns\":6}}\n"
                             "{\"end\":{\"launches\":2}}\n";
    const auto source = ByteSource::of_text(text, "p.jsonl");
    const auto profile = read_profile(*source);
    REQUIRE(profile.ok());
    REQUIRE(profile.diagnostics().size() == 2);
    CHECK(profile.diagnostics().items()[0].hint.find("'gpu'") != std::string::npos);
    CHECK(profile.diagnostics().items()[1].code == "unknown-field");
    CHECK(profile.diagnostics().items()[1].hint.find("'duration_ns'") != std::string::npos);
    CHECK(profile.diagnostics().items()[1].where.line == 4);
}

} // namespace test_profiles_profile_file
