// What a user can get wrong, through the program itself: each mistake is told with its place and a
// hint, the exit code says "bad input", stdout stays empty and no file is written.
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace test_cli_bad_input {

using namespace eyeroof;
using tests::run;
using tests::Scratch;
using tests::write_text;

namespace {

struct Mistake {
    std::string what;
    std::string content;
    std::string where; // "line:column" of the first error
    std::string hint;  // a part of it
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Examines `network` on `machine`, one of which is `file` with the mistake in it.
void check_told(const Mistake& mistake, const std::string& file, const std::string& network,
                const std::string& machine) {
    CAPTURE(mistake.what);
    const Scratch scratch;
    const std::string path = (scratch / file).string();
    const std::string result = (scratch / "result.txt").string();
    write_text(path, mistake.content);
    const auto outcome = run({"exam", network.empty() ? path : network, "--on",
                              machine.empty() ? path : machine, "-o", result});
    CHECK(outcome.exit == 3);
    CHECK(outcome.out.empty());
    CHECK(!std::filesystem::exists(result));
    const std::string place =
        path + (mistake.where.empty() ? "" : ":" + mistake.where) + ": error: ";
    CHECK_MESSAGE(contains(outcome.err, place), outcome.err, " is not at ", mistake.where);
    CHECK_MESSAGE(contains(outcome.err, "hint: "), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, mistake.hint), outcome.err);
}

std::string conv(const std::string& cells) {
    return "name,op,n,c,h,w,k,r,s,pad,groups\nlayer,conv2d," + cells + "\n";
}

std::string machine_text() {
    const auto shown = run({"hw", "show", "eyeriss-v1"});
    REQUIRE(shown.exit == 0);
    return shown.out;
}

// Line and column of a text in the machine's description.
std::string place_of(const std::string& text, const std::string& part) {
    const auto at = text.find(part);
    REQUIRE(at != std::string::npos);
    const auto line = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n') + 1;
    const auto start = text.rfind('\n', at);
    return std::to_string(line) + ":" + std::to_string(at - (start + 1) + 1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("mistakes in a table of layers are told with line and column") {
    const std::vector<Mistake> mistakes = {
        {"zero", conv("1,0,8,8,4,3,3,0,1"), "2:16", "smallest"},
        {"negative", conv("1,-4,8,8,4,3,3,0,1"), "2:16", "smallest"},
        {"10^12", conv("1,1000000000000,8,8,4,3,3,0,1"), "2:16", "largest"},
        {"beyond 63 bits", conv("1,99999999999999999999,8,8,4,3,3,0,1"), "2:16", ""},
        {"NaN", conv("1,nan,8,8,4,3,3,0,1"), "2:16", "whole number"},
        {"a fraction", conv("1,1.5,8,8,4,3,3,0,1"), "2:16", "whole number"},
        {"filter over the padded input", conv("1,4,8,8,4,30,3,0,1"), "2:24", "enlarge"},
        {"channels not divisible", conv("1,5,8,8,4,3,3,0,2"), "2:30", "divi"},
        {"missing columns", "name,op,n,c\nlayer,conv2d,1\n", "2:1", "comma"},
        {"a misspelt column", "name,op,n,c,h,w,k,r,s,strid\nl,conv2d,1,4,8,8,4,3,3,1\n", "1:23",
         "stride"},
        {"an unknown operator", "name,op,m,n,k\nl,gem,1,1,1\n", "2:3", "gemm"},
        {"overflow", "name,op,m,n,k\nl,gemm,1000000000,1000000000,1000000000\n", "2:1", ""},
        {"no layer", "name,op,m,n,k\n", "1:1", "row"},
    };
    for (const Mistake& mistake : mistakes) {
        check_told(mistake, "net.csv", "", "systolic:8x8");
    }
}

TEST_CASE("mistakes in a machine are told with line and column") {
    const std::string good = machine_text();
    const std::string clock = "clock: 200 MHz";
    const std::string key = place_of(good, clock);
    const std::string value = place_of(good, "200 MHz");
    const std::string next =
        std::to_string(std::stoi(key.substr(0, key.find(':'))) + 1) + ":1"; // a line below
    const std::vector<Mistake> mistakes = {
        {"missing unit", replaced(good, clock, "clock: 200"), value, "200 MHz"},
        {"wrong unit", replaced(good, clock, "clock: 200 MB"), value, "Hz"},
        {"NaN", replaced(good, clock, "clock: nan Hz"), value, "Hz"},
        {"negative", replaced(good, clock, "clock: -200 MHz"), value, ""},
        {"zero", replaced(good, clock, "clock: 0 MHz"), value, ""},
        {"unknown key", replaced(good, clock, "clokc: 200 MHz"), key, "did you mean 'clock'?"},
        {"duplicate key", replaced(good, clock, clock + "\nclock: 1 MHz"), next, "keep one"},
    };
    for (const Mistake& mistake : mistakes) {
        check_told(mistake, "machine.yaml", "alexnet", "");
    }
}

TEST_CASE("documents made to exhaust a reader are refused at once") {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string above = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + above;
        for (int k = 1; k < 10; ++k) {
            bomb += ", " + above;
        }
        bomb += "]\n";
    }
    const std::string deep = "a: " + std::string(100'000, '[');
    const std::string binary("eyeroof: machine/1\nname: \0\x01\xFF\n", 30);
    for (const char* file : {"bad.yaml"}) {
        check_told({"alias bomb", bomb, "1:5", "write the value out"}, file, "", "systolic:8x8");
        check_told({"alias bomb", bomb, "1:5", "write the value out"}, file, "alexnet", "");
        check_told({"deep nesting", deep, "1:36", "flatten"}, file, "", "systolic:8x8");
        check_told({"deep nesting", deep, "1:36", "flatten"}, file, "alexnet", "");
        check_told({"no text", binary, "2:7", "UTF-8"}, file, "alexnet", "");
    }
    const std::string huge(100'000'000, 'a'); // 100 MB
    check_told({"100 MB", huge, "", "meant"}, "net.csv", "", "systolic:8x8");
    check_told({"100 MB", huge, "", "meant"}, "machine.yaml", "alexnet", "");
}

TEST_CASE("an empty file, a folder and a missing file are told as such") {
    check_told({"empty", "", "", ""}, "net.csv", "", "systolic:8x8");
    check_told({"empty", "", "", ""}, "machine.yaml", "alexnet", "");
    const Scratch scratch;
    const auto folder = run({"exam", scratch.path().string() + "/", "--on", "systolic:8x8"});
    CHECK(folder.exit == 3);
    CHECK(contains(folder.err, "directory"));
    const auto machine = run({"exam", "alexnet", "--on", scratch.path().string() + "/"});
    CHECK(machine.exit == 3);
    CHECK(contains(machine.err, "directory"));
    const auto missing = run({"exam", (scratch / "none.csv").string(), "--on", "systolic:8x8"});
    CHECK(missing.exit == 3);
    CHECK(contains(missing.err, "no such file"));
}

TEST_CASE("all mistakes of a file are told in one run") {
    const Scratch scratch;
    write_text(scratch / "net.csv", "name,op,m,n,k\na,gemm,0,1,1\nb,gem,1,1,1\nc,gemm,1,x,1\n");
    const auto outcome = run({"exam", (scratch / "net.csv").string(), "--on", "systolic:8x8"});
    CHECK(outcome.exit == 3);
    CHECK(contains(outcome.err, "net.csv:2:8"));
    CHECK(contains(outcome.err, "net.csv:3:3"));
    CHECK(contains(outcome.err, "net.csv:4:10"));
}

} // namespace test_cli_bad_input
