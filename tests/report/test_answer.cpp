// Every writer shows every statement of an answer, escapes names, and spells values in one way.
#include "report/answer/write.hpp"
#include "tests/json_schema.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace test_report_answer {

using namespace eyeroof;
using namespace eyeroof::report;
using nlohmann::json;

namespace {

struct Inner {
    std::string why;
};

struct Row {
    std::string name;
    double time_s = 0.0;
    bool fits = false;
    std::optional<double> energy_j;
    std::vector<Inner> chain;
};

const char* const kHostile = "a|b<c>&\"d\",\x1b[31m`*";

Answer example() {
    const std::vector<Row> rows = {{kHostile, 4.08918e-3, false, std::nullopt, {{"first"}}},
                                   {"plain", 1.0 / 3.0, true, 2.5e-6, {}}};
    Answer a;
    a.schema = "eyeroof/example/1";
    a.title = kHostile;
    a.question = "an example";
    a.sentences = {"two rows take 337 ms"};
    a.warnings = {"one row does not fit"};
    a.figures = {{"totals.time_s", "in all", 0.3374225133333333, Unit::seconds},
                 {"proved", "proven", true},
                 {"limit_bytes", "limit", std::optional<double>(), Unit::bytes}};
    a.tables = {
        make_table<Row>("rows", "Rows", rows,
                        {{"name", "row", Unit::none, &Row::name},
                         {"time_s", "time", Unit::seconds, &Row::time_s, kAll, "of one execution"},
                         {"fits", "fits", Unit::none, &Row::fits},
                         {"energy.total_j", "energy", Unit::joules, &Row::energy_j},
                         nested<Row, Inner>("chain", "Chain", &Row::chain,
                                            {{"why", "why", Unit::none, &Inner::why}})})};
    a.notes = {"nothing is computed"};
    return a;
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("text, Markdown, and HTML have each sentence, warning, figure, cell, and note") {
    const Answer answer = example();
    for (const std::string& text : {to_text(answer, 80), to_markdown(answer), to_html(answer)}) {
        CAPTURE(text);
        for (const char* part :
             {"an example", "two rows take 337 ms", "one row does not fit", "in all", "337 ms",
              "proven", "yes", "4.09 ms", "333 ms", "no", "2.5 uJ", "nothing is computed"}) {
            CHECK_MESSAGE(holds(text, part), part);
        }
    }
    CHECK(holds(to_text(answer, 80), "first"));
    CHECK(holds(to_html(answer), "first"));
}

TEST_CASE("what is not known is a dash for people, null in JSON, and an empty cell in CSV") {
    const Answer answer = example();
    CHECK(holds(to_text(answer, 80), "limit -"));
    CHECK(json::parse(to_json(answer))["limit_bytes"].is_null());
    CHECK(holds(to_csv(answer), ",false,\n"));
}

TEST_CASE("people read small shares as hundredths of a percent, and large numbers with a prefix") {
    CHECK(value_text(5.27e-10, Unit::share) == "0.00 %");
    CHECK(value_text(-5.27e-10, Unit::share) == "0.00 %");
    CHECK(value_text(0.00006, Unit::share) == "0.01 %");
    CHECK(value_text(-0.00006, Unit::share) == "-0.01 %"); // a sign as larger shares have
    CHECK(value_text(-0.05, Unit::share) == "-5 %");
    CHECK(value_text(0.0, Unit::share) == "0 %");
    CHECK(value_text(12.34, Unit::share) == "1234 %"); // no power of ten
    CHECK(value_text(1083.0, Unit::times) == "1083x");
    CHECK(value_text(0.000123, Unit::share) == "0.0123 %");
    CHECK(value_text(0.4123, Unit::share) == "41.2 %");
    CHECK(value_text(0.0, Unit::none) == "0");
    CHECK(value_text(4.08918e9, Unit::none) == "4.089 G");
}

TEST_CASE("CSV and JSON have the same digits, and all of them") {
    const Answer answer = example();
    const json document = json::parse(to_json(answer));
    CHECK(document["rows"][1]["time_s"].get<double>() == 1.0 / 3.0);
    CHECK(holds(to_csv(answer), "\nplain,0.3333333333333333,true,2.5e-06\n"));
    CHECK(document["rows"][1]["energy"]["total_j"] == 2.5e-6);
    CHECK(to_csv(answer).starts_with("name,time_s,fits,energy_total_j\n"));
    CHECK(document["rows"][0]["chain"][0]["why"] == "first");
}

TEST_CASE("names cannot leave their cell in any format") {
    const Answer answer = example();
    const std::string text = to_text(answer, 80);
    const std::string markdown = to_markdown(answer);
    const std::string html = to_html(answer);
    for (const std::string& people : {text, markdown, html}) {
        CHECK(!holds(people, "\x1b"));
    }
    CHECK(holds(markdown, "a\\|b\\<c>"));
    CHECK(holds(html, "a|b&lt;c&gt;&amp;"));
    CHECK(!holds(html, "b<c>"));
    CHECK(json::parse(to_json(answer))["rows"][0]["name"] == kHostile);
}

TEST_CASE("no name of a table is cut in text, however narrow it is") {
    const std::string first = "a-name-of-more-than-thirty-characters-1";
    const std::string second = "another-name-of-more-than-thirty-characters-2";
    struct Pair {
        std::string one, two;
    };
    const std::vector<Pair> rows = {{first, second}, {"a", "b"}};
    Answer answer;
    answer.tables = {make_table<Pair>("", "", rows,
                                      {{"", "one", Unit::none, &Pair::one, kPeople},
                                       {"", "two", Unit::none, &Pair::two, kPeople}})};
    const std::string wide = to_text(answer, 100);
    CHECK(holds(wide, "\n" + first + "  " + second + "\n"));
    const std::string narrow = to_text(answer, 80); // both do not fit beside each other
    CHECK(holds(narrow, "\n" + first + "\n"));
    CHECK(holds(narrow, "two " + second + "\n"));
}

TEST_CASE("lines of text are at most as wide as asked for") {
    const std::string text = to_text(example(), 80);
    for (std::size_t from = 0; from < text.size(); from = text.find('\n', from) + 1) {
        CHECK(text.find('\n', from) - from <= 80);
    }
}

TEST_CASE("the schema follows from the columns, also of an answer without rows") {
    const Answer answer = example();
    Answer empty = answer;
    empty.tables.front().rows.clear();
    CHECK(to_schema(answer) == to_schema(empty));
    const json schema = json::parse(to_schema(empty));
    tests::SchemaCheck check(schema);
    CHECK(check.faults(json::parse(to_json(answer))) == std::vector<std::string>{});
    json other = json::parse(to_json(answer));
    other["rows"][0]["fits"] = "no";
    CHECK(check.faults(other).size() == 1);
    other = json::parse(to_json(answer));
    other["rows"][0].erase("time_s");
    CHECK(check.faults(other).size() == 1);
    CHECK(schema["properties"]["rows"]["items"]["properties"]["time_s"]["description"] ==
          "of one execution");
}

} // namespace test_report_answer
