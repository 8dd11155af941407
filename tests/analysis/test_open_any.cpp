// What a file is, by its content; and that its own reader tells its mistakes.
#include "formats/file_kind.hpp"
#include "report/session/open_any.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace test_analysis_open_any {

using namespace eyeroof; // NOLINT
namespace fs = std::filesystem;
using formats::FileKind;
using report::open_any;

namespace {

const fs::path kSources = tests::source_dir();

class File { // gone when the test is over
  public:
    File(const std::string& name, const std::string& text)
        : path_(fs::temp_directory_path() / ("eyeroof-open-" + name)) {
        std::ofstream(path_) << text;
    }
    ~File() { fs::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path() const { return path_.string(); }

  private:
    fs::path path_;
};

Result<report::Opened> open_text(const std::string& name, const std::string& text) {
    const File file(name, text);
    return open_any(file.path(), {kSources / "hwdb"}, {kSources / "examples/networks"});
}

std::string first_code(const Result<report::Opened>& result) {
    REQUIRE_FALSE(result.ok());
    return result.diagnostics().items().front().code;
}

constexpr const char* kTimeloop =
    "architecture:\n"
    "  version: 0.3\n"
    "  subtree:\n"
    "    - name: system\n"
    "      local:\n"
    "        - name: DRAM\n"
    "          class: DRAM\n"
    "          attributes: {width: 64, word-bits: 16}\n"
    "      subtree:\n"
    "        - name: PE[0..15]\n"
    "          local:\n"
    "            - name: Buffer\n"
    "              class: SRAM\n"
    "              attributes: {depth: 512, width: 16, word-bits: 16}\n"
    "            - name: MACC\n"
    "              class: intmac\n"
    "              attributes: {datawidth: 16}\n";

} // namespace

TEST_CASE("a file is told by what stands in it") {
    CHECK(*formats::kind_of_file(kSources / "hwdb/gpus/t4.yaml") == FileKind::machine);
    const auto kind = [](const std::string& name, const std::string& text) {
        const File file(name, text);
        const auto found = formats::kind_of_file(file.path());
        REQUIRE(found.ok());
        return *found;
    };
    CHECK(kind("a.yaml", "eyeroof: session/1\nnetwork: alexnet\n") == FileKind::session);
    CHECK(kind("b.yaml", "eyeroof_ceilings: 1\nceilings: []\n") == FileKind::ceilings);
    CHECK(kind("c.yaml", "eyeroof_assignments: 1\nassign: []\n") == FileKind::assignments);
    CHECK(kind("d.yaml", "name: mine\nlayers: []\n") == FileKind::network);
    CHECK(kind("e.yaml", kTimeloop) == FileKind::machine);
    CHECK(kind("f.csv", "name,op,m,n,k\nfc,gemm,1,2,3\n") == FileKind::network);
    CHECK(kind("g.csv", "kernel,time_ns\nsgemm,1200\n") == FileKind::profile);
    CHECK(kind("h.yaml", "eyeroof: sesion/1\n") == FileKind::session); // as its author meant it
}

TEST_CASE("Timeloop architectures are opened like any machine") {
    const auto opened = open_text("arch.yaml", kTimeloop);
    REQUIRE(opened.ok());
    REQUIRE(std::holds_alternative<model::Machine>(*opened));
    CHECK(std::holds_alternative<model::Accelerator>(std::get<model::Machine>(*opened).kind));
}

TEST_CASE("a layer table with a mistake is told by the reader of layer tables, with its place") {
    const auto opened = open_text("layers.csv", "name,op,m,n,k\nfc,gemm,12,many,3\n");
    REQUIRE_FALSE(opened.ok());
    const Diagnostic& told = opened.diagnostics().items().front();
    CHECK(told.where.line == 2);
    CHECK(told.message.find("many") != std::string::npos);
}

TEST_CASE("a mistake in a machine, a session or ceilings is not told as something else's") {
    CHECK(first_code(open_text("m.yaml", "eyeroof: machine/1\nkind: accelerator\nclok: 1 GHz\n")) !=
          "unknown-file");
    const auto session = open_text("s.yaml", "eyeroof: session/1\nnetwrk: alexnet\n");
    CHECK(first_code(session) == "unknown-key");
    CHECK(first_code(open_text("o.yaml", "eyeroof_ceilings: 1\nceilngs: []\n")) != "unknown-file");
}

TEST_CASE("what is nothing says what could be opened") {
    const auto opened = open_text("notes.yaml", "shopping: [milk]\n");
    CHECK(first_code(opened) == "unknown-file");
    CHECK(opened.diagnostics().items().front().hint.find("sessions") != std::string::npos);
}

} // namespace test_analysis_open_any
