// Each answer says the same in every format: sentences, warnings, figures, cells, and digits.
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "cli/command.hpp"
#include "tests/cli/program.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace test_cli_every_format {

using namespace eyeroof; // NOLINT
using nlohmann::json;

namespace {

std::string in_format(std::vector<std::string> words, const char* format) {
    words.insert(words.end(), {"--format", format});
    const tests::Outcome outcome = tests::run(words);
    CAPTURE(outcome.err);
    CHECK(outcome.exit <= 1);
    return format == std::string("csv") ? outcome.out + outcome.err : outcome.out;
}

// On one line, without what Markdown and HTML add to words.
std::string words_alone(std::string text) {
    const std::string dot = "·"; // between facts, but not at the end of a line
    for (std::size_t at = text.find(dot); at != std::string::npos; at = text.find(dot, at)) {
        text.replace(at, dot.size(), " ");
    }
    std::string plain;
    for (const char c : text) {
        const bool blank = c == '\n' || c == ' ';
        if (c != '\\' && !(blank && plain.ends_with(' '))) {
            plain += blank ? ' ' : c;
        }
    }
    return plain;
}

std::vector<std::string> command_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

// Members of CSV rows are those of the JSON's, with '_' for '.'.
void add_cells(const json& row, const std::string& before, std::map<std::string, std::string>& to) {
    for (const auto& [key, value] : row.items()) {
        if (value.is_object()) {
            add_cells(value, before + key + "_", to);
        } else if (value.is_number()) {
            to[before + key] = value.dump();
        } else if (value.is_boolean()) {
            to[before + key] = value.get<bool>() ? "true" : "false";
        }
    }
}

void check_digits(const std::string& csv, const json& rows) {
    std::istringstream lines(csv);
    std::string head;
    std::getline(lines, head);
    std::map<std::string, std::string> cells;
    add_cells(rows.is_array() ? rows.front() : rows, "", cells);
    REQUIRE(cells.size() > 1);
    std::string first;
    std::getline(lines, first);
    for (const auto& [key, digits] : cells) {
        CAPTURE(key);
        CHECK(("," + head + ",").find("," + key + ",") != std::string::npos);
        const bool number = digits != "true" && digits != "false";
        bool found = false;
        std::istringstream row(first);
        for (std::string cell; std::getline(row, cell, ',');) {
            found = found || cell == digits ||
                    (number && !cell.empty() &&
                     cell.find_first_not_of("0123456789.e+-") == std::string::npos &&
                     std::stod(cell) == std::stod(digits));
        }
        CHECK_MESSAGE(found, digits);
    }
}

struct Asked {
    std::string command;
    const char* rows; // of the JSON, that CSV has; empty: CSV is a file to edit, or is refused
};

const std::vector<Asked>& answered() {
    static const std::string trace = tests::source_dir() + "/tests/profiles/samples/kineto.json";
    static const std::vector<Asked> all = {
        {"fuse alexnet --on eyeriss-v1", "groups"},
        {"fuse vgg16 --on eyeriss-v1 --buffer 64B", "groups"},
        {"fuse alexnet --on eyeriss-v1 --layers ^CONV --curve", "points"},
        {"exam alexnet --on eyeriss-v1 --layers CONV3", "layers"},
        {"exam resnet18 --on t4 --advice", ""},
        {"net list", "networks"},
        {"net show alexnet", ""},
        {"exam alexnet --on scnn --density alexnet-pruned", "layers"},
        {"exam alexnet --on scnn --density curve --layers CONV", "points"},
        {"exam alexnet --on eyeriss-v1 --layers CONV3 --chip", "parts"},
        {"exam alexnet --on simba --layers CONV3 --mapping dataflow --cores", "points"},
        {"exam alexnet --on one-large-four-small --layers CONV3 --mapping dataflow", "layers"},
        {"memory resnet18 --on t4 --phase training", "curve"},
        {"memory alexnet --on t4 --memory 1B", "curve"},
        {"memory gpt2 --on t4 --stream weights --memory 150MB", "curve"},
        {"scale alexnet --on t4 --fabric pcie4-100g --devices 1,8", "points"},
        {"scale alexnet --on t4 --on v100-sxm2-16gb --search-nodes 1000", "devices"},
        {"serve llama-3-8b --on h100-sxm-80gb --requests 4", "points"},
        {"collective all-reduce --fabric dgx-h100-ndr --devices 8", "points"},
        {"improve resnet18 --on t4 --batches 1", "now"},
        {"upgrade alexnet --from t4 --to l4", "layers"},
        {"upgrade mlp-2layer --from laptop-quad-3.1ghz --to k80-die --dtype fp32", "layers"},
        {"timeline alexnet --on t4", "layers"},
        {"timeline alexnet --on t4 --compare-copies", "ways"},
        {"timeline alexnet --on t4 --compare-launches", "ways"},
        {"diff alexnet@t4 alexnet@l4", "layers"},
        {"diff " + trace + " " + trace, "rows"},
        {"validate --machines --on simba", "rows"},
        {"map alexnet --on eyeriss-v1 --layers CONV3", "layers"},
        {"bound resnet18 --on t4 --measured 9ms", "operators"},
        {"roofline alexnet --on eyeriss-v1", "points"},
        {"exam alexnet --on systolic:32x32 --compat scalesim", "layers"},
        {"scale alexnet --on t4 --fabric pcie4-100g --devices 8 --search", "layers"},
        {"measure host resnet18 --on h100-sxm-80gb --measured 30ms", ""},
        {"claims --only ops-per-byte --details", "claims"},
        {"tune resnet18-c1-c12 --layers C9$ --target model --trials 8 --details", ""},
        {"hw list", "machines"},
        {"hw show t4", ""},
        {"hw show eyeriss-v2", ""},
        {"hw show cimu-65nm", ""},
        {"hw check eyeriss-v1 t4", "machines"}};
    return all;
}

// Commands whose formats still have writers of their own, and those with nothing to compare.
const std::map<std::string, std::string>& not_answered() {
    static const std::map<std::string, std::string> all = {
        {"measure cpu", "a machine's description"},
        {"measure gpu", "a machine's description"},
        {"import", "a file of launches"},
        {"sweep",
         "rows are a stream; text, Markdown, and the page are one answer, compared below"}};
    return all;
}

// "exam", "hw list": commands with --format.
void add_formatted(const CLI::App& app, const std::string& path, std::vector<std::string>& found) {
    if (app.get_option_no_throw("--format") != nullptr) {
        found.push_back(path);
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        add_formatted(*command, path + (path.empty() ? "" : " ") + command->get_name(), found);
    }
}

} // namespace

TEST_CASE("every command with formats is compared in all of them, or has a reason why not") {
    cli::Frame frame;
    cli::add_commands(frame);
    std::vector<std::string> commands;
    add_formatted(frame.root(), "", commands);
    CHECK(commands.size() > 20);
    for (const std::string& command : commands) {
        CAPTURE(command);
        const bool compared = std::ranges::any_of(answered(), [&](const Asked& asked) {
            return (asked.command + " ").starts_with(command + " ");
        });
        CHECK((compared || not_answered().contains(command)));
    }
}

TEST_CASE("each answer has the same sentences, warnings, and digits in every format") {
    for (const Asked& asked : answered()) {
        CAPTURE(asked.command);
        const auto words = command_of(asked.command);
        const json document = json::parse(in_format(words, "json"));
        const std::string csv = *asked.rows == '\0' ? "" : in_format(words, "csv");
        if (!csv.empty()) {
            check_digits(csv, document[asked.rows]);
        }
        REQUIRE(!document["sentences"].empty());
        for (const char* format : {"text", "md", "html"}) {
            CAPTURE(format);
            const std::string text = words_alone(in_format(words, format));
            for (const char* part : {"sentences", "warnings", "notes"}) {
                for (const std::string sentence : document[part]) {
                    const std::string wanted =
                        format == std::string("html") ? html_escaped(sentence) : sentence;
                    CHECK_MESSAGE(text.find(words_alone(wanted)) != std::string::npos, wanted);
                }
            }
        }
        for (const std::string warning : document["warnings"]) {
            CHECK((csv.empty() || csv.find(warning) != std::string::npos));
        }
    }
}

TEST_CASE("fusion in a buffer that is too small warns in every format that its sums are bounds") {
    const auto words = command_of("fuse vgg16 --on eyeriss-v1 --buffer 64B");
    for (const char* format : {"text", "json", "csv", "md", "html"}) {
        CAPTURE(format);
        const std::string text = words_alone(in_format(words, format));
        CHECK(text.find("do not fit and count each tensor once: the sums are lower bounds") !=
              std::string::npos);
        CHECK(text.find("proven optimal among") == std::string::npos);
    }
}

TEST_CASE("every format of a scaling study has the interval of its steps") {
    const auto words =
        command_of("scale resnet50 --on a100-sxm-80gb --fabric dgx-a100-hdr --devices 8,16");
    const json point = json::parse(in_format(words, "json"))["points"][0];
    REQUIRE(point["step_low_s"].is_number());
    CHECK(in_format(words, "csv").find("step_low_s,step_high_s") != std::string::npos);
    for (const char* format : {"text", "md", "html"}) {
        CAPTURE(format);
        const std::string text = in_format(words, format);
        CHECK(text.find("80 % interval") != std::string::npos);
        CHECK(text.find("ms … ") != std::string::npos);
    }
}

TEST_CASE("an exam as Markdown begins with what bounds it and the largest saving, as text does") {
    const auto words = command_of("exam alexnet --on eyeriss-v1 --layers CONV3");
    const std::string text = words_alone(in_format(words, "text"));
    const std::string markdown = words_alone(in_format(words, "md"));
    const std::size_t bound = text.find("Bound by ");
    const std::size_t saving = text.find("Largest saving: ");
    REQUIRE(bound < saving);
    REQUIRE(saving != std::string::npos);
    const std::string first = text.substr(bound, saving - 1 - bound); // Markdown ends it: "."
    CHECK(markdown.find(first + ". " + text.substr(saving, 40)) != std::string::npos);
}

TEST_CASE("the table, the Markdown, and the page of a sweep say the same") {
    const auto words = command_of("sweep alexnet --on eyeriss-v1 --vary batch=1,4");
    const std::string text = words_alone(in_format(words, "text"));
    const std::size_t begin = text.find("Shortest time");
    REQUIRE(begin != std::string::npos);
    const std::string best = text.substr(begin, text.find(" in all", begin) - begin);
    CHECK(words_alone(in_format(words, "md")).find(best) != std::string::npos);
    CHECK(words_alone(in_format(words, "html")).find(best) != std::string::npos);
}

TEST_CASE("a page of a sweep has no figure with an exponent") {
    const std::string page =
        in_format(command_of("sweep alexnet --on eyeriss-v1 --vary batch=1,4"), "html");
    for (std::size_t at = page.find("e+"); at != std::string::npos; at = page.find("e+", at + 1)) {
        const bool digits = at > 0 && page[at - 1] >= '0' && page[at - 1] <= '9';
        CHECK_MESSAGE(!digits, page.substr(at > 20 ? at - 20 : 0, 40));
    }
}

TEST_CASE("a network's name cannot add columns to Markdown or elements to HTML") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "hostile.yaml").string();
    tests::write_text(file, "name: \"a|b<i>c\"\nsource: mine\nlayers:\n"
                            "  - {name: \"x|y<b>\", op: gemm, m: 64, n: 64, k: 64}\n");
    const auto words = [&](const std::string& command) {
        std::vector<std::string> all = command_of(command);
        all.insert(all.begin() + 1, file);
        return all;
    };
    for (const std::vector<std::string>& asked :
         {words("fuse --on eyeriss-v1"),
          words("scale --on t4 --fabric pcie4-100g --devices 1,2 --batch-per-device 1"),
          words("memory --on t4")}) {
        CAPTURE(asked.front());
        const std::string markdown = in_format(asked, "md");
        for (const char* raw : {"a|b", "x|y", "b<i>", "y<b>"}) {
            CHECK(markdown.find(raw) == std::string::npos);
        }
        const std::string html = in_format(asked, "html");
        CHECK(html.find("<i>c") == std::string::npos);
        CHECK(html.find("y<b>") == std::string::npos);
    }
}

} // namespace test_cli_every_format
