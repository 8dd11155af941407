#include "base/csv.hpp"
#include "formats/layer_csv.hpp"
#include "formats/layer_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <string>

namespace test_formats_layer_csv {

using namespace eyeroof;
using formats::LayerTable;
using formats::parse_layer_csv;

namespace {

const std::string kHeader = "name,op,count,dtype,direction,batch,m,n,k,c,h,w,r,s,stride,pad,"
                            "dilation,groups,rows,cols,fn\n";

// Does four times as much take less than eight times as long? Sixteen times where it is quadratic.
template <class Read> bool grows_as_its_input(Read read, int size) {
    const auto ticks = [&](int n) {
        const std::clock_t start = std::clock(); // of this process alone
        read(n);
        return static_cast<double>(std::clock() - start);
    };
    const double quarter = ticks(size);
    return ticks(4 * size) < 8.0 * quarter;
}

LayerTable table_of(const std::string& text) {
    auto table = parse_layer_csv(text, "t.csv");
    for (const Diagnostic& d : table.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(table.ok());
    return *table;
}

Diagnostics errors_of(const std::string& text) {
    auto table = parse_layer_csv(text, "t.csv");
    REQUIRE_FALSE(table.ok());
    return table.diagnostics();
}

// The only error, or a made-up one that no check expects.
Diagnostic error_of(const std::string& text) {
    const Diagnostics found = errors_of(text);
    for (const Diagnostic& d : found) {
        INFO(to_string(d));
        CHECK(found.size() == 1);
    }
    return found.items().front();
}

std::string at(const Diagnostic& d) {
    return d.where.file + ":" + std::to_string(d.where.line) + ":" + std::to_string(d.where.column);
}

} // namespace

TEST_CASE("every operator is read from the columns it uses") {
    const LayerTable table =
        table_of(kHeader + "conv,conv2d,,int8/int8/int32,,,,4,96,3,227,227,11,11,4,,,,,,\n"
                           "wide,conv2d,2,fp32,bwd_data,,,1,8,4,9,17,3,5,2x1,1x2,1x2,2,,,\n"
                           "fc,gemm,,bf16,,2,16,32,64,,,,,,,,,,,,\n"
                           "qk,bmm,12,,,8,128,128,64,,,,,,,,,,,,\n"
                           "pool,maxpool,,,,,,1,,64,56,56,3,3,2,1,,,,,\n"
                           "sum,elementwise,,,,,,,,,,,,,,,,,128,768,add\n"
                           "sm,softmax,,,,,,,,,,,,,,,,,128,128,\n"
                           "att,attention,,,,2,128,256,64,,,,,,,,,12,,,\n");
    REQUIRE(table.layers.size() == 8);
    const auto& conv = std::get<model::ConvShape>(table.layers[0].shape);
    CHECK(conv.n == 4);
    CHECK(conv.k == 96);
    CHECK(conv.p() == 55);
    CHECK(table.layers[0].types ==
          model::TensorTypes{model::DataType::int8, model::DataType::int8, model::DataType::int32});
    const auto& wide = std::get<model::ConvShape>(table.layers[1].shape);
    CHECK(wide.stride == model::Extent2{2, 1});
    CHECK(wide.pad == model::Extent2{1, 2});
    CHECK(wide.dilation == model::Extent2{1, 2});
    CHECK(wide.groups == 2);
    CHECK(table.layers[1].direction == model::Direction::bwd_data);
    CHECK(table.layers[1].count == 2);
    CHECK(std::get<model::GemmShape>(table.layers[2].shape) == model::GemmShape{2, 16, 32, 64});
    CHECK(table.layers[3].types == model::TensorTypes{}); // fp16
    CHECK(std::get<model::PoolShape>(table.layers[4].shape).pad == model::Extent2{1, 1});
    CHECK(std::get<model::ElementwiseShape>(table.layers[5].shape) ==
          model::ElementwiseShape{128, 768, "add"});
    CHECK(std::get<model::AttentionShape>(table.layers[7].shape) ==
          model::AttentionShape{2, 12, 128, 256, 64});
}

TEST_CASE("columns stand in any order, missing ones take their defaults, others are kept") {
    const LayerTable table = table_of("gpu,K,n,op,m,measured_s\n"
                                      "v100,64,32,gemm,16,1.5e-5\n"
                                      "\"a,100\",64.0,32,gemm,16,2e-5\n");
    REQUIRE(table.layers.size() == 2);
    CHECK(std::get<model::GemmShape>(table.layers[0].shape) == model::GemmShape{1, 16, 32, 64});
    CHECK(table.layers[0].name == "line2");
    CHECK(table.layers[0].count == 1);
    CHECK(table.header == "gpu,K,n,op,m,measured_s");
    CHECK(table.rows[1] == "\"a,100\",64.0,32,gemm,16,2e-5");
    CHECK(table.lines[1] == 3);
    REQUIRE(table.extra_index("measured_s") == 1);
    CHECK(table.extras[0][1] == "1.5e-5");
    CHECK(table.extras[1][0] == "a,100");
    CHECK(table.extra_index("k") == -1);
}

TEST_CASE("byte order marks, carriage returns, quotes, blanks and blank lines are taken as meant") {
    const LayerTable table = table_of("\xEF\xBB\xBF# made by hand\r\nname,op,m,n,k\r\n\r\n"
                                      "\"a \"\"b\"\", c\", gemm , 1,2,3\r\n   \r\n#2,gemm,1,2,3");
    REQUIRE(table.layers.size() == 2);
    CHECK(table.layers[0].name == "a \"b\", c");
    CHECK(table.layers[1].name == "#2");
    CHECK(std::get<model::GemmShape>(table.layers[0].shape) == model::GemmShape{1, 1, 2, 3});
}

TEST_CASE("a layer that is written is read back the same") {
    const LayerTable table =
        table_of(kHeader + "\"x,y\",conv2d,2,fp32,bwd_data,,,1,8,4,9,17,3,5,2x1,1x2,2,2,,,\n"
                           "#1,conv2d,,fp8/fp8/bf16,,,,3,8,4,9,9,3,3,2,1,,4,,,\n"
                           "g,gemm,,bf16,bwd_weight,2,16,32,64,,,,,,,,,,,,\n"
                           "p,avgpool,,,,,,1,,64,56,56,3,3,2,1,,,,,\n"
                           "e,elementwise,,,,,,,,,,,,,,,,,128,768,swiglu\n"
                           "r,rope,,,,,,,,,,,,,,,,,128,128,\n"
                           "a,attention,,,,2,128,256,64,,,,,,,,,12,,,\n");
    const LayerTable again = table_of(formats::write_layer_csv(table.layers));
    CHECK(again.layers == table.layers);
}

TEST_CASE("attention is written by its own names, experts too, and both are read back the same") {
    const LayerTable table =
        table_of("op,dtype,batch,heads,kv_heads,q_len,kv_len,head_dim,causal,window\n"
                 "attention,bf16/fp8/bf16,4,32,8,1,4096,128,1,1024\n");
    const auto& shape = std::get<model::AttentionShape>(table.layers.at(0).shape);
    CHECK(shape == model::AttentionShape{4, 32, 1, 4096, 128, 8, true, 1024});
    const LayerTable experts = table_of("op,m,n,k,topk,experts\nmoe,64,4096,1536,8,128\n");
    CHECK(std::get<model::MoeShape>(experts.layers.at(0).shape) ==
          model::MoeShape{64, 4096, 1536, 8, 128});
    for (const LayerTable& given : {table, experts}) {
        CHECK(table_of(formats::write_layer_csv(given.layers)).layers == given.layers);
    }
    CHECK(error_of("op,m,n,k,groups,causal\nattention,8,8,64,1,2\n").code == "bad-dimension");
    CHECK(error_of("op,m,q_len,n,k\nattention,8,8,8,64\n").code == "duplicate-column");
}

TEST_CASE("each bad cell is reported at its line and column with a hint") {
    const auto gemm = [](const std::string& m) { return "name,op,m,n,k\nx,gemm," + m + ",2,3\n"; };
    for (const std::string bad : {"0", "-4", "1000000000000", "99999999999999999999"}) {
        CAPTURE(bad);
        const Diagnostic d = error_of(gemm(bad));
        CHECK(d.code == "bad-dimension");
        CHECK(at(d) == "t.csv:2:8");
        CHECK_FALSE(d.hint.empty());
    }
    for (const std::string bad : {"NaN", "1.5", "12abc", "1e3", "0x10", "inf", "--1", "+ 4"}) {
        CAPTURE(bad);
        const Diagnostic d = error_of(gemm(bad));
        CHECK(d.code == "not-a-number");
        CHECK(at(d) == "t.csv:2:8");
        CHECK_FALSE(d.hint.empty());
    }
    const Diagnostic missing = error_of(gemm(""));
    CHECK(missing.code == "missing-value");
    CHECK(missing.message == "gemm needs a value for m");
}

TEST_CASE("impossible layers are reported at the column that makes them so") {
    const std::string header = "op,c,h,w,k,r,s,groups,pad\n";
    const Diagnostic large = error_of(header + "conv2d,3,5,9,8,7,7,1,0\n");
    CHECK(large.code == "window-too-large");
    CHECK(at(large) == "t.csv:2:16"); // the cell of r
    const Diagnostic groups = error_of(header + "conv2d,4,5,5,6,3,3,4,0\n");
    CHECK(groups.code == "groups");
    CHECK(at(groups) == "t.csv:2:20");
    const Diagnostic overflow = error_of("op,m,n,k\ngemm,1000000000,1000000000,1000000000\n");
    CHECK(overflow.code == "overflow");
    CHECK(at(overflow) == "t.csv:2:1");
    CHECK(error_of("op,m,n,k,groups\ngemm,1,2,3,4\n").code == "unused-value");
    CHECK(error_of("op,rows,cols\nelementwise,1,2\n").code == "missing-value");
    CHECK(error_of("op,rows,cols,direction\nsoftmax,1,2,bwd_weight\n").code == "no-gradient");
}

TEST_CASE("unknown names are refused with the nearest known one") {
    CHECK(error_of("op,m,n,k\ngem,1,2,3\n").hint == "did you mean 'gemm'?");
    CHECK(error_of("op,m,n,k,dtype\ngemm,1,2,3,fp17\n").hint == "did you mean 'fp16'?");
    CHECK(error_of("op,m,n,k,dtype\ngemm,1,2,3,fp16/fp16\n").code == "unknown-dtype");
    CHECK(error_of("op,m,n,k,direction\ngemm,1,2,3,bwd_dat\n").hint == "did you mean 'bwd_data'?");
    CHECK(error_of("op,rows,cols,fn\nelementwise,1,2,rleu\n").hint == "did you mean 'relu'?");
    const Diagnostic column = error_of("op,m,n,k,dtyp\ngemm,1,2,3,fp16\n");
    CHECK(column.code == "unknown-column");
    CHECK(column.hint == "did you mean 'dtype'?");
    CHECK(at(column) == "t.csv:1:10");
}

TEST_CASE("a table that is no table is refused") {
    CHECK(error_of("").code == "empty-file");
    CHECK(error_of("\n \n").code == "empty-file");
    CHECK(error_of("op,m,n,k\n").code == "no-layers");
    CHECK(error_of("m,n,k\n1,2,3\n").code == "missing-column");
    CHECK(error_of("op;m;n\ngemm;1;2\n").code == "missing-value"); // read as columns; k lacks
    CHECK(error_of("op,m,n,k,m\ngemm,1,2,3,4\n").code == "duplicate-column");
    CHECK(error_of("op,m,n,k\ngemm,1,2\n").code == "missing-cells");
    CHECK(error_of("op,m,n,k\ngemm,1,2,3,4\n").code == "too-many-cells");
    CHECK(error_of("op,m,n,k\n\"gemm,1,2,3\n").code == "open-quote");
    CHECK(error_of("op,m,n,k\n\"gemm\"x,1,2,3\n").code == "after-quote");
    CHECK(error_of(std::string("op,m\0n", 6)).code == "not-text");
    CHECK(formats::load_layer_csv("/").diagnostics().items()[0].code == "is-a-directory");
    CHECK(formats::load_layer_csv("/no/such.csv").diagnostics().items()[0].code ==
          "file-not-found");
}

TEST_CASE("reading stops after a thousand errors") {
    std::string text = "op,m,n,k\n";
    for (int i = 0; i < 3000; ++i) {
        text += "gemm,0,-1,2\n"; // two errors a row
    }
    const Diagnostics found = errors_of(text);
    CHECK(found.size() == Diagnostics::kMost);
    CHECK(found.full());
    CHECK(found.items().back().where.line == 501);
}

TEST_CASE("a table of very many columns is read in a time that grows as its length") {
    const auto read = [](int columns) {
        std::string head = "name,op,m,n,k";
        std::string row = "a,gemm,1,2,3";
        for (int i = 0; i < columns; ++i) {
            head += ",column" + std::to_string(i);
            row += ",7";
        }
        CHECK(table_of(head + "\n" + row + "\n").extras[0].size() ==
              static_cast<std::size_t>(columns));
    };
    CHECK(grows_as_its_input(read, 50'000));
}

TEST_CASE("what a spreadsheet computes gets a mark before it, which the reader takes away again") {
    for (const std::string cell :
         {"=1+1", "@sum", "\uFF1D1+1", "\uFF0B1", "\uFF0Dx", "\uFF20a", "\t=1"}) {
        const std::string written = csv_quoted(cell);
        CHECK_MESSAGE(written.find('\'') < 2, cell); // as the first of the cell, quoted or not
        const LayerTable table = table_of("op,m,n,k,note\ngemm,1,2,3," + written + "\n");
        CHECK(table.extras[0][0] == cell);
    }
    CHECK(csv_quoted("-1.5 ms") == "-1.5 ms");
}

TEST_CASE("a cell that cannot be read hides no error of the row's other cells, and repeats none") {
    const Diagnostics found = errors_of("op,n,c,h,k,r\nconv2d,0,x,-4,8,3\n");
    REQUIRE(found.size() == 3);
    CHECK(found.items()[0].code == "not-a-number"); // c
    CHECK(found.items()[0].where.column == 10);
    CHECK(found.items()[1].message == "n is 0");
    CHECK(found.items()[1].where.column == 8);
    CHECK(found.items()[2].message == "h is -4");
    CHECK(found.items()[2].where.column == 12);
}

TEST_CASE("a hundred thousand rows are read in a time that grows as their number") {
    const auto read = [](int rows) {
        std::string text = kHeader;
        for (int i = 0; i < rows; ++i) {
            text += "layer" + std::to_string(i) + ",conv2d,1,fp16,fwd,,,8," +
                    std::to_string(64 + i % 64) + ",64,56,56,3,3,1,1,1,1,,,\n";
        }
        CHECK(table_of(text).layers.size() == static_cast<std::size_t>(rows));
    };
    CHECK(grows_as_its_input(read, 25'000));
}

} // namespace test_formats_layer_csv
