// The short ways of the readers give what the long ways give.
#include "profiles/import/csv_table.hpp"
#include "profiles/launch_line.hpp"
#include "profiles/profile_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_profiles_reading_fast {

using namespace eyeroof::profiles;

namespace {

constexpr const char* kHead = "{\"eyeroof_profile\":1}\n{\"source\":\"s\"}\n"
                              "{\"kernel\":{\"name\":\"k\"}}\n{\"operator\":{\"name\":\"o\"}}\n"
                              "{\"range\":\"r\"}\n";

// The launch of a line by the general reader: a field that only it knows sends the line there.
eyeroof::Result<Profile> read_the_long_way(const std::string& line) {
    std::string text = line;
    text.insert(text.find("\"kernel\""), "\"not_known\":0,");
    const auto source = ByteSource::of_text(kHead + text + "\n", "t");
    return read_profile(*source);
}

std::vector<std::string> fields_of(const std::string& text) {
    const auto source = ByteSource::of_text(text, "t");
    CsvRows reader(*source);
    CsvRow row;
    reader.next(row);
    return row.fields;
}

} // namespace

TEST_CASE("a launch read the short way is the launch of the general reader") {
    for (const std::string line :
         {R"({"launch":{"kernel":0}})",
          R"({"launch":{"block":[1,2,3],"counters":{"a.b":1.5,"c d":-2e3},"device":1,)"
          R"("duration_ns":12.25,"grid":[4,5,6],"kernel":0,"op":0,"op_call":7,"range":0,)"
          R"("range_call":8,"source":0,"start_ns":1234567890123,"stream":9,"under_replay":true}})",
          R"( { "launch" : { "kernel" : 0 , "counters" : { } , "duration_ns" : 0 } } )",
          R"({"launch":{"kernel":0,"duration_ns":1.0,"duration_ns":2.0}})",
          R"({"launch":{"kernel":0,"counters":{"a":1,"a":2}}})"}) {
        CAPTURE(line);
        const auto quick = launch_of_line(line);
        const auto slow = read_the_long_way(line);
        REQUIRE(quick);
        REQUIRE(slow);
        CHECK(*quick == slow->launches.at(0));
    }
}

TEST_CASE("a line that is no plain launch is left to the general reader") {
    for (const std::string line :
         {R"({"launch":{}})",
          R"({"launch":{"kernel":0}} x)",
          R"({"launch":{"kernel":0})",
          R"({"launch":{"kernel":-1}})",
          R"({"launch":{"kernel":1.0}})",
          R"({"launch":{"kernel":00}})",
          R"({"launch":{"kernel":0,}})",
          R"({"launch":{"kernel":0,"op":3000000000}})",
          R"({"launch":{"kernel":0,"new":1}})",
          R"({"launch":{"kernel":0,"duration_ns":1e400}})",
          R"({"launch":{"kernel":0,"duration_ns":nan}})",
          R"({"launch":{"kernel":0,"stream":.5}})",
          R"({"launch":{"kernel":0,"duration_ns":5.}})",
          R"({"launch":{"kernel":0,"grid":[1,2]}})",
          R"({"launch":{"kernel":0,"counters":{"a":"b"}}})",
          R"({"launch":{"kernel":0,"counters":{"\u0061":1}}})",
          R"({"launch":{"kernel":0,"counters":{"a":1},"counters":{"b":1}}})",
          R"({"launch":{"kernel":0,"start_ns":9223372036854775807}})",
          R"({"launch":{"kernel":0},"launch":{"kernel":0}})",
          R"({"note":"launch"})",
          "",
          "{",
          "[]"}) {
        CAPTURE(line);
        CHECK_FALSE(launch_of_line(line));
    }
}

TEST_CASE("a written launch is read back exactly") {
    Launch launch;
    launch.kernel = 3;
    launch.duration_ns = 0.1 + 0.2;
    launch.start_ns = 1;
    launch.counters = {{"plain", 1e300}, {"quote\"", 5.0}, {"\xc3\xa9", 5e-324}};
    std::string text;
    append_launch_line(launch, text);
    CHECK(text == "{\"launch\":{\"block\":[1,1,1],\"counters\":{\"plain\":1e+300,\"quote\\\"\":5.0,"
                  "\"\xc3\xa9\":5e-324},\"duration_ns\":0.30000000000000004,\"grid\":[1,1,1],"
                  "\"kernel\":3,\"start_ns\":1}}\n");
    launch.kernel = 0;
    Profile profile;
    profile.sources = {"s"};
    profile.kernels = {{"k", ""}};
    profile.launches = {launch};
    const std::string whole = profile_text(profile);
    const auto read = read_profile(*ByteSource::of_text(whole, "t"));
    REQUIRE(read);
    CHECK(read->launches == profile.launches);
}

// A row without the end of its line takes the long way, one with it the short way.
TEST_CASE("a CSV row has the same fields the short way and the long way") {
    for (const std::string row :
         {"a,b,c", "", ",", "a,,", "\"a\",\"b,c\",d", "\"a\"\"b\",c", "a\"b,c", "\"a\"b,c",
          "\"\",\"\"", "a\rb,c", "\"a\rb\",c", "\"x\"", "\"x\",", " \"x\",y"}) {
        CAPTURE(row);
        CHECK(fields_of(row + "\n1,2\n") == fields_of(row.empty() ? "\n" : row));
        CHECK(fields_of(row + "\r\n1,2\n") == fields_of(row.empty() ? "\n" : row));
    }
}

} // namespace test_profiles_reading_fast
