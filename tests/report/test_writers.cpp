#include "analysis/exam/report_warnings.hpp"
#include "base/lines.hpp"
#include "formats/layer_csv.hpp"
#include "report/answer/write.hpp"
#include "report/catalog/network.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/exam/text.hpp"
#include "report/exam/traced_answer.hpp"
#include "report/page/page.hpp"
#include "tests/golden.hpp"
#include "tests/report/fixture.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace test_report_writers {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using namespace eyeroof::report;

namespace {

const Report kSmall = tests::small_report();

std::size_t widest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) {
        widest = std::max(widest, display_width(line));
    }
    return widest;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

} // namespace

TEST_CASE("a module of a trace is shown by its name and its parent's") {
    analysis::Traced traced;
    traced.kernel_s = 1.0;
    traced.modules = {{"Model/Encoder/Layer", 2, 4, 0.6, 0.0, {}},
                      {"Model/Head", 1, 1, 0.4, 0.0, {}}};
    const std::string text = tables_text(traced_tables(traced), 80);
    CHECK(contains(text, "…/Encoder/Layer"));
    CHECK_FALSE(contains(text, "Model/Encoder"));
    CHECK(contains(text, "Model/Head"));
}

TEST_CASE("rows of a page that are equal behind their first cell become one with their number") {
    PageTable table{{{"layer", false}, {"share"}},
                    {{"conv1", "1 %"}, {"conv2", "2 %"}, {"conv3", "1 %"}, {"conv4", "1 %"}}};
    fold_equal(table);
    CHECK(table.rows ==
          std::vector<std::vector<std::string>>{{"conv1 ×3", "1 %"}, {"conv2", "2 %"}});
}

TEST_CASE("cells are cut and filled by columns, not bytes, and never carry control characters") {
    CHECK(left("µm", 4) == "µm  ");
    CHECK(right("µm", 4) == "  µm");
    CHECK(left("αβγδε", 3) == "αβ…");
    CHECK(masked_controls("a\033[31mb\n") == "a?[31mb?");
    CHECK(masked_controls("\xC3\x28") == "?("); // a lead byte without its continuation
    CHECK(masked_controls("a\xC2\x9B"
                          "b") == "a?b"); // C1 control sequence introducer
    CHECK(left("", 0).empty());
}

TEST_CASE("a bar shows done, possible and the rest in exactly its cells") {
    CHECK(bar(0.5, 0.75, 4) == "██░·");
    CHECK(bar(0.125, 0.125, 1) == "▏");
    CHECK(display_width(bar(1.0 / 3.0, 0.9, 20)) == 20);
    CHECK(display_width(bar(2.0, -1.0, 7)) == 7);
}

TEST_CASE("sentences wrap between words within the width") {
    CHECK(wrapped("aa bb cc", 2, 7) == "  aa bb\n  cc\n");
    CHECK(wrapped_parts({"aaa", "bbb", "c"}, 0, 9) == "aaa · bbb\nc\n");
}

TEST_CASE("the text names the step, its limit and both chains of every layer") {
    const std::string text = to_text(tests::small_report());
    CHECK(contains(text, "conv,1 ×2"));
    CHECK(contains(text, "4 physical dimensions"));
    CHECK(contains(text, "−20.0 %")); // 80 of the 100 that step 3 left
    CHECK(contains(text, "−37.5 %")); // step 6: 50 of 80
    CHECK(contains(text, "step 6: Because of 6"));
    CHECK(contains(text, "100 ms (80 ms … 130 ms)"));
    CHECK(contains(text, "potential savings"));
    CHECK(contains(text, "60 ms (29.3 %)")); // twice 100 − 70 ms without step 6
    CHECK(contains(text, "note: a note"));
    CHECK(contains(text, "Unsourced values"));
    CHECK(!contains(text, "\033"));
}

TEST_CASE("the overview bar gives each step the cells that it took") {
    // 35 cells at 100 columns: 40 % are 14 done; step 7 takes 40 to 50 %, step 6 50 to 80 %, step 4
    // 80 to 100 %. Centres at (i + 0.5) / 35: below 0.4 i <= 13 (14 cells), below 0.5 i <= 16 (3),
    // below 0.8 i <= 27 (11), the rest 7.
    const std::string text =
        to_text(tests::small_report(), {false, Ladders::automatic, false, 100});
    CHECK(contains(text, "██████████████777666666666664444444"));
    CHECK(!contains(text, "███████████████777"));
}

TEST_CASE("text fits its columns whatever the names are, with and without colour") {
    Report report = tests::small_report();
    report.network_name = std::string(300, 'n');
    report.machine.name = std::string(300, 'm');
    report.layers[0].layer.name = std::string(300, 'x') + "\033[2J";
    report.layers[0].limiter = std::string(300, 'y');
    report.layers[0].steps[5].limit = std::string(300, 'z');
    report.layers[0].steps[5].reason = std::string(300, 'r') + " " + std::string(80, 's');
    report.layers[0].mapping_text = std::string(300, 'q');
    report.machine.weak_sources = {std::string(200, 'w'), "v"};
    for (const bool details : {false, true}) {
        for (const std::size_t width : {80, 100, 120}) {
            const std::string text = to_text(report, {false, Ladders::all, details, width});
            CHECK(widest_line(text) <= width);
            CHECK(!contains(text, "\033"));
        }
    }
}

TEST_CASE("colour is asked for, and changes nothing but colour") {
    const std::string plain = to_text(tests::small_report());
    std::string painted = to_text(tests::small_report(), {true, Ladders::automatic, false});
    CHECK(contains(painted, "\033["));
    for (auto at = painted.find('\033'); at != std::string::npos; at = painted.find('\033')) {
        painted.erase(at, painted.find('m', at) - at + 1);
    }
    CHECK(painted == plain);
}

TEST_CASE("many layers show their steps where that is asked for, and equal layers are one row") {
    Report report = tests::small_report();
    for (int i = 0; i < 20; ++i) {
        report.layers.push_back(tests::second_layer());
    }
    const auto steps = [&](Ladders ladders) {
        return count_of(to_text(report, {false, ladders, false}), "  4 physical dimensions");
    };
    CHECK(steps(Ladders::automatic) == 0);
    CHECK(steps(Ladders::worst) == 2); // of the two largest savings
    CHECK(steps(Ladders::all) == 22);
    CHECK(contains(to_text(report), " ×21"));
}

TEST_CASE("JSON has the keys of eyeroof/exam/1 with the report's values") {
    const auto json = nlohmann::json::parse(to_json(exam_answer(kSmall)));
    CHECK(json["schema"] == "eyeroof/exam/1");
    CHECK(json["machine"]["id"] == "box");
    CHECK(json["network"]["name"] == "Net | 1");
    const auto& layer = json["layers"][0];
    CHECK(layer["name"] == "conv,1");
    CHECK(layer["op"] == "conv2d");
    CHECK(layer["count"] == 2);
    CHECK(layer["macs"] == 4000);
    CHECK(layer["steps"].size() == 7);
    CHECK(layer["steps"][5]["step"] == 6);
    CHECK(layer["steps"][5]["name"] == "average bandwidth");
    CHECK(layer["steps"][5]["bound_macs_per_cycle"] == 50.0);
    CHECK(layer["machine_steps"][5]["bound_macs_per_cycle"] == 60.0);
    CHECK(layer["active_pes"]["allocated"] == 80.0);
    CHECK(layer["active_pes"]["averaged"] == 79.5);
    CHECK(layer["low_s"] == 0.08);
    CHECK(layer["traffic"][0]["read_bytes"] == 500);
    CHECK(layer["mapping"]["nests"][0]["levels"][0]["temporal"][0]["dim"] == "K");
    CHECK(!json["layers"][1].contains("low_s")); // no interval is known
    CHECK(json["total"]["time_s"] == 0.205);
    CHECK(json["worst"][0]["layer"] == "conv,1");
}

TEST_CASE("JSON stays JSON when a name is no UTF-8") {
    Report report = tests::small_report();
    report.layers[0].layer.name = "\xFF\"\n";
    CHECK(nlohmann::json::accept(to_json(exam_answer(report))));
}

TEST_CASE("CSV has the layer's columns, the results, and the step 6 bound in seconds") {
    std::istringstream csv(to_csv(exam_answer(kSmall)));
    std::string header;
    std::string first;
    std::string second;
    std::getline(csv, header);
    std::getline(csv, first);
    std::getline(csv, second);
    CHECK(header ==
          "name,op,count,dtype,direction,batch,m,n,k,c,h,w,r,s,stride,pad,dilation,groups,"
          "rows,cols,fn,kv_heads,causal,window,topk,depth,v,time_s,low_s,high_s,limiter,step6_bound"
          "_s,macs,flops,utilization,energy_j,outer_bytes,limiter_step,step1_macs_per_cycle,"
          "step2_macs_per_cycle,step3_macs_per_cycle,step4_macs_per_cycle,step5_macs_per_cycle,"
          "step6_macs_per_cycle,step7_macs_per_cycle,compulsory_bytes,units,active_pes_allocated,"
          "active_pes_averaged,cycles,processing_time_s,time_split_compute_s,"
          "time_split_on_chip_stall_s,time_split_dram_stall_s,time_split_overhead_s,"
          "limits_binding_step,limits_binding,limits_units_at_work_s,leakage_j");
    CHECK(first.starts_with("\"conv,1\",conv2d,2,"));
    // 4000 MAC / (50 MAC/cycle * 1000 cycle/s) = 0.08 s
    CHECK(contains(first, ",0.1,0.08,0.13,DRAM bus: weight,0.08,4000,"));
    // 100 operations count as 50 MAC: 50 / (10 * 1000) = 0.005 s
    CHECK(contains(second, ",0.005,,,DRAM bus: weight,0.005,0,100,0.1,"));
    // The sums of the report, counts included, in a row of their own.
    std::string total;
    std::getline(csv, total);
    CHECK(total.starts_with("total,total,,"));
    CHECK(contains(total, ",0.205,"));
    CHECK(contains(total, ",8000,16100,0.39,"));
    CHECK(std::count(total.begin(), total.end(), ',') ==
          std::count(header.begin(), header.end(), ','));
    CHECK(std::count(second.begin(), second.end(), ',') ==
          std::count(header.begin(), header.end(), ','));
}

TEST_CASE("CSV repeats the rows of the table that was read, also columns that it does not know") {
    const std::string input = "op,name,rows,cols,fn,mine\n"
                              "elementwise,a,2,3,relu,\"x, y\"\n"
                              "elementwise,skipped,2,3,relu,\n"
                              "elementwise,b,4,5,relu,7\n";
    const auto table = formats::parse_layer_csv(input, "t.csv");
    REQUIRE(table.ok());
    Report report = tests::small_report();
    report.layers[0].layer = table->layers[0];
    report.layers[1].layer = table->layers[2]; // as a filter leaves it
    const std::string csv = to_csv(exam_answer(report, {&*table}));
    CHECK(csv.starts_with("op,name,rows,cols,fn,mine,time_s,low_s,high_s,limiter,step6_bound_s,"));
    CHECK(contains(csv, "\nelementwise,a,2,3,relu,\"x, y\",0.1,"));
    CHECK(contains(csv, "\ntotal,total,,,,,"));
    CHECK(contains(csv, "\nelementwise,b,4,5,relu,7,0.005,"));
    CHECK(!contains(csv, "skipped"));
}

TEST_CASE("Markdown and HTML escape what names could break") {
    const std::string markdown = to_markdown(exam_answer(kSmall));
    CHECK(contains(markdown, "# Net \\| 1 on The \\<Box>"));
    CHECK(contains(markdown, "| conv,1 | 2 | conv2d |"));
    const std::string html = to_html(exam_answer(kSmall));
    CHECK(contains(html, "The &lt;Box&gt;"));
    CHECK(!contains(html, "<Box>"));
    CHECK(contains(html, "instantaneous bandwidth"));
    CHECK(html.ends_with("</html>\n"));
}

TEST_CASE("every format of a small report is as it was found right") {
    const Report report = tests::small_report();
    tests::check_golden("small-report/out.txt", to_text(report));
    tests::check_golden("small-report/details.txt", to_text(report, {false, Ladders::all, true}));
    tests::check_golden("small-report/colour.txt", to_text(report, {true, Ladders::all, false}));
    tests::check_golden("small-report/out.json", to_json(exam_answer(report)));
    tests::check_golden("small-report/out.csv", to_csv(exam_answer(report)));
    tests::check_golden("small-report/out.md", to_markdown(exam_answer(report)));
    tests::check_golden("small-report/out.html", to_html(exam_answer(report)));
}

TEST_CASE("every format says what share of the operators has no cost") {
    Report report = tests::small_report();
    const std::string said = "25 % of the network's operators have no cost";
    for (const std::string& text :
         {to_text(report), to_markdown(exam_answer(report)), to_html(exam_answer(report))}) {
        CHECK(!contains(text, "have no cost"));
    }
    report.uncosted_share = 0.25;
    CHECK(contains(to_text(report), said));
    CHECK(contains(to_markdown(exam_answer(report)), said));
    CHECK(contains(to_html(exam_answer(report)), "25 % of the network's operators have no cost"));
    CHECK(contains(to_csv(exam_answer(report)), said));
    CHECK(nlohmann::json::parse(to_json(exam_answer(report)))["uncosted_share"] == 0.25);
}

TEST_CASE("every format says why layers do not add up to the step") {
    Report report = tests::small_report();
    double kernels_s = 0.0;
    for (const auto& layer : report.layers) {
        kernels_s += layer.time_s * static_cast<double>(layer.layer.count);
    }
    report.total.time_s = kernels_s;
    CHECK(analysis::step_sum_text(report).empty());
    report.total.time_s = 2.0 * kernels_s;
    report.total.device_s = kernels_s;
    report.total.host_s = 2.0 * kernels_s;
    CHECK(contains(analysis::step_sum_text(report), "waiting for the CPU's launches"));
    report.total.host_s = 0.0;
    CHECK(contains(analysis::step_sum_text(report), "waiting for launches, operands, and copies"));
    const std::string said = "he kernels of the layers add up to";
    CHECK(contains(to_text(report), said));
    CHECK(contains(to_markdown(exam_answer(report)), said));
    CHECK(contains(to_html(exam_answer(report)), said));
    CHECK(contains(to_csv(exam_answer(report)), said));
    report.total.time_s = 0.5 * kernels_s;
    CHECK(contains(analysis::step_sum_text(report), "several streams overlap"));
}

TEST_CASE("a network's report lists the operators without a cost and their share") {
    model::Network network;
    network.id = network.name = "toy";
    network.layers.resize(1);
    network.layers[0].op = model::Op::elementwise;
    network.layers[0].shape = model::ElementwiseShape{2, 3, "relu"};
    const auto complete = totals_of(network).value();
    CHECK_FALSE(contains(to_text(network_answer(network, complete), 100), "Not costed"));
    const nlohmann::json whole = nlohmann::json::parse(to_json(network_answer(network, complete)));
    CHECK(whole["operators"] == 1);
    CHECK(whole["uncosted_share"] == 0.0);
    CHECK(whole["uncosted"].empty());
    network.operators = 8;
    network.uncosted = {{"DeformConv", "dcn", "its sizes are not known", 2, true}};
    const std::string text = to_text(network_answer(network, complete), 100);
    CHECK(contains(text, "Not costed: 2 of 8 operators (25.0 %)"));
    CHECK(contains(text, "DeformConv"));
    CHECK(contains(text, "its sizes are not known"));
    const nlohmann::json part = nlohmann::json::parse(to_json(network_answer(network, complete)));
    CHECK(part["operators"] == 8);
    CHECK(part["uncosted_share"] == 0.25);
    CHECK(part["uncosted"][0]["op"] == "DeformConv");
    CHECK(part["uncosted"][0]["may_multiply"] == true);
}

} // namespace test_report_writers
