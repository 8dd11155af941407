// Rows of a library, source, or session that is left out; which limits bind; former figures.
#include "analysis/cross_validate/cross_folds.hpp"
#include "analysis/cross_validate/cross_validate.hpp"
#include "report/cross_validate/cross_validation.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace test_analysis_leave_outs {

using namespace eyeroof; // NOLINT
using analysis::LeaveOut;
using eyeroof::tests::near;

namespace {

Result<model::Machine> by_name(const std::string& id) {
    model::Machine machine;
    machine.id = id;
    machine.kind = id == "a100" ? test::a100_sxm_40() : test::v100_sxm2();
    return machine;
}

// Long vector products timed by the model itself, of two libraries and, of a sixth of the rows, of
// none; on "v100" everything takes twice as long, whatever the library.
std::vector<analysis::MeasuredLayer> rows() {
    std::vector<analysis::MeasuredLayer> table;
    for (const std::string id : {"v100", "a100"}) {
        const model::Gpu gpu = std::get<model::Gpu>(by_name(id)->kind);
        for (Count i = 1; i <= 72; ++i) {
            const model::Layer layer =
                test::gemm(512 + 32 * i, 1024, 1024 + 8 * i, model::DataType::fp32);
            const auto p = model::predict(gpu, layer);
            REQUIRE(p.ok());
            analysis::MeasuredLayer row{layer, id, p->time_s * (id == "v100" ? 2.0 : 1.0),
                                        static_cast<int>(i)};
            row.library = i % 6 == 0 ? "" : i % 2 == 0 ? "even" : "odd";
            row.source = "one";
            table.push_back(row);
        }
    }
    return table;
}

analysis::CrossValidateOptions quick() {
    analysis::CrossValidateOptions options;
    options.rounds = 4;
    options.rows = 40;
    return options;
}

} // namespace

TEST_CASE("rows of a library that is left out are predicted by the GPU's rows of other libraries") {
    analysis::CrossValidateOptions options = quick();
    options.also = {LeaveOut::library};
    const auto result = analysis::cross_validate(rows(), by_name, options);
    REQUIRE(result.ok());
    REQUIRE(result->also.size() == 1);
    const analysis::LeftOut& library = result->also.front();
    CHECK(library.by == LeaveOut::library);
    REQUIRE(library.groups.size() == 2);
    for (const analysis::CrossGroup& g : library.groups) {
        CHECK(g.rows == 60); // those that name a library
        REQUIRE(g.left_out.has_value());
        CHECK(*g.left_out < 0.05); // the card is known: common constants alone are a third off
        CHECK(g.left_out_inside.has_value());
    }
    REQUIRE(library.means.size() == 1);
    CHECK(library.means.front().rows == 120);
    const auto slow = std::find_if(result->groups.begin(), result->groups.end(),
                                   [](const auto& g) { return g.gpu == "v100"; });
    REQUIRE(slow != result->groups.end());
    CHECK(*slow->left_out > 0.3); // blind to the card's architecture
}

TEST_CASE("a library is left out as the only column, too") {
    analysis::CrossValidateOptions options = quick();
    options.leave_out = LeaveOut::library;
    const auto result = analysis::cross_validate(rows(), by_name, options);
    REQUIRE(result.ok());
    REQUIRE(result->means.size() == 1);
    REQUIRE(result->means.front().left_out.has_value());
    CHECK(*result->means.front().left_out < 0.05);
    CHECK(result->means.front().held_out.has_value());
}

TEST_CASE("a source that all rows share leaves nothing to fit on, and no figure is made up") {
    analysis::CrossValidateOptions options = quick();
    options.also = {LeaveOut::source, LeaveOut::session};
    const auto result = analysis::cross_validate(rows(), by_name, options);
    REQUIRE(result.ok());
    REQUIRE(result->also.size() == 2);
    CHECK(result->also[0].groups.empty());
    CHECK(result->also[1].groups.empty()); // no row names a session
}

TEST_CASE("every row of a class has one limit that binds, also over all GPUs") {
    const auto result = analysis::cross_validate(rows(), by_name, quick());
    REQUIRE(result.ok());
    REQUIRE(result->bindings.size() == 3); // two GPUs and both together
    for (const analysis::BindingRow& row : result->bindings) {
        double sum = 0.0;
        for (const auto& [limit, share] : row.shares) {
            CHECK_FALSE(limit.empty());
            sum += share;
        }
        CHECK(sum == near(1.0));
    }
    CHECK(result->bindings.back().gpu.empty());
    CHECK(result->bindings.back().rows == 144);
}

TEST_CASE("limits are listed from the most frequent") {
    const analysis::BindingRow row{"t4", "memory", true, 8, {{"launch", 0.25}, {"DRAM", 0.75}}};
    CHECK(row.text() == "DRAM 75.0, launch 25.0");
}

TEST_CASE("names of leave-outs are read as they are written") {
    for (const LeaveOut by : {LeaveOut::die, LeaveOut::architecture, LeaveOut::library,
                              LeaveOut::source, LeaveOut::session}) {
        CHECK(analysis::leave_out_from_name(analysis::leave_out_name(by)) == by);
    }
    CHECK_FALSE(analysis::leave_out_from_name("day").has_value());
}

TEST_CASE("former errors are means over the GPUs of an earlier run's CSV, and stand in the page") {
    analysis::CrossValidateOptions options = quick();
    options.also = {LeaveOut::library};
    const auto result = analysis::cross_validate(rows(), by_name, options);
    REQUIRE(result.ok());
    const std::string csv = report::cross_validation_csv(*result);
    const auto former = report::former_errors(csv, "before.csv");
    REQUIRE(former.ok());
    const double mean = *result->means.front().left_out;
    CHECK(std::fabs(former->at("architecture gemm fp32 fwd") - mean) < 1e-4); // four digits
    CHECK(former->count("library gemm fp32 fwd") == 1);
    const std::string page = report::cross_validation_markdown(
        *result, {{"architecture gemm fp32 fwd", 0.123}, {"library gemm fp32 fwd", 0.456}});
    CHECK(page.find("| 12.3 |") != std::string::npos);
    CHECK(page.find("| 45.6 |") != std::string::npos);
    CHECK(page.find("each library left out") != std::string::npos);
}

TEST_CASE("a table that is no earlier run is refused with the column or the line that is wrong") {
    CHECK_FALSE(report::former_errors("", "x.csv").ok());
    CHECK_FALSE(report::former_errors("op,dtype\ngemm,fp16\n", "x.csv").ok());
    const std::string head = "op,dtype,direction,left_out_mape,left_out_by\n";
    CHECK(report::former_errors(head + "gemm,fp16,fwd,,library\n", "x.csv")->empty());
    const auto bad = report::former_errors(head + "gemm,fp16,fwd,-1,library\n", "x.csv");
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.diagnostics().items().front().where.line == 2);
    CHECK_FALSE(report::former_errors(head + "gemm,fp16,fwd,nan,library\n", "x.csv").ok());
}

} // namespace test_analysis_leave_outs
