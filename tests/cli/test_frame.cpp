#include "cli/command.hpp"
#include "cli/option_table.hpp"
#include "tests/cli/program.hpp"
#include "tests/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <utility>

namespace test_cli_frame {

using namespace eyeroof;
using tests::run;
using tests::Scratch;

namespace {

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
    std::vector<const CLI::App*> found;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        found.push_back(sub);
        const auto below = all_commands(*sub);
        found.insert(found.end(), below.begin(), below.end());
    }
    return found;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The words of a line, as a shell sees them; quotes keep blanks.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    for (const char c : line + " ") {
        if (c == '\'') {
            quoted = !quoted;
        } else if (c != ' ' || quoted) {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

// Needs a file that only its reader has, a driver, a shell, or many seconds.
bool needs_more_than_the_catalog(const std::vector<std::string>& words) {
    const auto is_one_of = [](const std::string& word, std::initializer_list<const char*> all) {
        return std::find(all.begin(), all.end(), word) != all.end();
    };
    if (is_one_of(words.at(1), {"measure", "profile", "completion", "claims"})) {
        return true;
    }
    for (std::size_t i = 2; i < words.size(); ++i) {
        const std::string ending = std::filesystem::path(words[i]).extension().string();
        const bool read = is_one_of(ending, {".csv", ".json", ".jsonl", ".yaml", ".gz", ".log",
                                             ".sqlite", ".onnx"}) &&
                          !words[i - 1].starts_with("-o") && !words[i - 1].starts_with("--save");
        const bool long_search = words[i] == "any" || (words[1] == "map" && words[i] == "--plot");
        if (read || long_search || words[i] == "|") {
            return true;
        }
    }
    return false;
}

} // namespace

TEST_CASE("no command is a usage error that lists the commands on stderr") {
    const auto outcome = run({});
    CHECK(outcome.exit == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "completion"));
}

TEST_CASE("a mistyped command or option is a usage error with the nearest name") {
    const auto command = run({"completoin", "bash"});
    CHECK(command.exit == 2);
    CHECK(contains(command.err, "did you mean 'completion'?"));
    const auto option = run({"completion", "bash", "--colour", "never"});
    CHECK(option.exit == 2);
    CHECK(contains(option.err, "did you mean --color?"));
    CHECK(option.out.empty());
}

TEST_CASE("a name of the version before says where it went") {
    for (const char* gone : {"sparse", "chip", "cores", "split", "offload"}) {
        CAPTURE(gone);
        const auto outcome = run({gone, "alexnet"});
        CHECK(outcome.exit == 2);
        CHECK(contains(outcome.err, "it is now `eyeroof "));
    }
    CHECK(contains(run({"map", "alexnet", "--on", "simba", "--nodes", "5"}).err, "--search-nodes"));
    CHECK(contains(run({"improve", "alexnet", "--mode", "graph"}).err, "--launch"));
    CHECK(contains(run({"scale", "alexnet", "--on", "t4", "--collective", "ring"}).err,
                   "it is now `--algorithm`"));
}

TEST_CASE("an unknown choice names the choices") {
    const auto outcome = run({"completion", "tcsh"});
    CHECK(outcome.exit == 2);
    CHECK(contains(outcome.err, "'tcsh' is not one of bash, zsh, fish"));
}

TEST_CASE("--version says on stdout what is built in") {
    cli::Environment environment;
    environment.built_in = {"a line of its own"};
    const auto outcome = run({"--version"}, environment);
    CHECK(outcome.exit == 0);
    CHECK(outcome.out.starts_with("eyeroof "));
    CHECK(contains(outcome.out, "\na line of its own\n"));
    CHECK(outcome.err.empty());
}

TEST_CASE("every command's help has an example of itself and fits 100 columns") {
    cli::Frame frame;
    cli::add_commands(frame);
    const auto commands = all_commands(frame.root());
    REQUIRE(!commands.empty());
    for (const CLI::App* command : commands) {
        CAPTURE(command->get_name());
        const std::string help = cli::help_text(*command);
        CHECK(tests::width_of(help) <= 100);
        CHECK(contains(help, "Usage: eyeroof "));
        const auto examples = help.find("\nExamples:\n");
        REQUIRE(examples != std::string::npos);
        CHECK(help.find("eyeroof ", examples) != std::string::npos);
    }
    CHECK(contains(cli::help_text(frame.root()), "Usage: eyeroof COMMAND [options]\n"));
}

TEST_CASE("the short help of every command is a screen and names every option") {
    cli::Frame frame;
    cli::add_commands(frame);
    for (const CLI::App* command : all_commands(frame.root())) {
        CAPTURE(command->get_name());
        const std::string help = cli::brief_help(*command);
        CHECK(std::count(help.begin(), help.end(), '\n') <= 56);
        CHECK(contains(help, "\nExamples:\n"));
        const auto options = help.find("\nOptions:\n");
        if (contains(help, "--help-all explains")) {
            CHECK(tests::width_of(help.substr(options)) <= 80);
        }
        for (const CLI::Option* option : command->get_options()) {
            const std::string name = option->get_positional() || option->get_group().empty()
                                         ? option->get_name(true)
                                         : option->get_lnames().front();
            CAPTURE(name);
            CHECK((contains(help, name) || option->get_group().empty()));
        }
    }
}

TEST_CASE("what the examples of the help name is there") {
    const Scratch scratch;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(scratch.path());
    cli::Frame frame;
    cli::add_commands(frame);
    int tried = 0;
    for (const CLI::App* command : all_commands(frame.root())) {
        std::istringstream lines(cli::help_text(*command));
        for (std::string line; std::getline(lines, line);) {
            const auto at = line.find("eyeroof ");
            if (at == std::string::npos || line.find_first_not_of(' ') != at) {
                continue;
            }
            const auto words = words_of(line);
            if (needs_more_than_the_catalog(words)) {
                continue;
            }
            CAPTURE(line);
            std::vector<std::string> asked(words.begin() + 1, words.end());
            if (line.find("--mapping") == std::string::npos &&
                command->get_option_no_throw("--mapping") != nullptr) {
                asked.insert(asked.end(), {"--mapping", "dataflow"}); // a search takes seconds
            } else if (line.find("--search-nodes") == std::string::npos &&
                       command->get_option_no_throw("--search-nodes") != nullptr) {
                asked.insert(asked.end(), {"--search-nodes", "50"}); // proofs take minutes
            }
            const auto outcome = run(asked);
            CAPTURE(outcome.err);
            CHECK(outcome.exit == 0);
            ++tried;
        }
    }
    std::filesystem::current_path(before);
    CHECK(tried > 15);
}

TEST_CASE("completion and the manual list every command and every option") {
    cli::Frame frame;
    cli::add_commands(frame);
    const std::string bash = cli::completion_script(frame.root(), "bash");
    const std::string zsh = cli::completion_script(frame.root(), "zsh");
    const std::string fish = cli::completion_script(frame.root(), "fish");
    const std::string manual = cli::manual_page(frame.root(), "1.2.3");
    CHECK(contains(manual, "eyeroof 1.2.3"));
    for (const CLI::App* command : all_commands(frame.root())) {
        CAPTURE(command->get_name());
        CHECK(contains(bash, command->get_name()));
        CHECK(contains(zsh, command->get_name()));
        CHECK(contains(fish, "-a " + command->get_name()));
        CHECK(contains(manual, ".SS eyeroof "));
        for (const CLI::Option* option : command->get_options()) {
            for (const std::string& name : option->get_lnames()) {
                CAPTURE(name);
                CHECK(contains(bash, "--" + name));
                CHECK(contains(fish, "-l " + name));
            }
        }
    }
}

// Renewed by  test_cli -tc="docs/dev/options.md*" --update-golden
TEST_CASE("help COMMAND prints the help of the command") {
    const auto help = run({"help", "exam"});
    CHECK(help.exit == 0);
    CHECK(help.out == run({"exam", "--help"}).out);
    CHECK(run({"help"}).out == run({"--help"}).out);
    CHECK(run({"help", "exams"}).exit == 2);
}

TEST_CASE("the ending of the output file chooses the format, and --format overrides it") {
    const tests::Scratch scratch;
    const auto written = [&](const std::string& name, std::vector<std::string> more = {}) {
        std::vector<std::string> words = {"exam",     "alexnet", "--on", "eyeriss-v1",
                                          "--layers", "CONV1",   "-o",   (scratch / name).string()};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    CHECK(written("x.json").exit == 0);
    CHECK(tests::read_file((scratch / "x.json").string()).starts_with("{"));
    CHECK(written("x.html").exit == 0);
    CHECK(tests::read_file((scratch / "x.html").string()).starts_with("<!"));
    CHECK(written("x.json", {"--format", "csv"}).exit == 0);
    CHECK(tests::read_file((scratch / "x.json").string()).starts_with("name,"));
    for (const char* wrong : {"x.pdf", "x.png", "x.svg"}) {
        const auto refused = written(wrong);
        CHECK(refused.exit == 2);
        CHECK(contains(refused.err, "this command writes text, json, csv, md, html"));
        CHECK(!std::filesystem::exists(scratch / wrong));
    }
    CHECK(contains(written("x.pdf").err, "write HTML, which a browser prints to PDF"));
    const auto picture =
        run({"roofline", "alexnet", "--on", "eyeriss-v1", "-o", (scratch / "x.pdf").string()});
    CHECK(picture.exit == 2);
}

TEST_CASE("a data type may be written in capitals") {
    const auto words = [](const char* type) {
        return std::vector<std::string>{"exam", "alexnet", "--on", "t4", "--dtype", type};
    };
    CHECK(run(words("FP16")).out == run(words("fp16")).out);
}

TEST_CASE("docs/dev/options.md has every option once for each meaning, as the program writes it") {
    cli::Frame frame;
    cli::add_commands(frame);
    const auto page = std::filesystem::path(tests::source_dir()) / "docs/dev/options.md";
    const std::string table = cli::option_table(frame.root());
    if (tests::updating_golden()) {
        tests::write_text(page, table);
    }
    CHECK(tests::first_difference(tests::read_file(page), table) == "");
    for (const CLI::App* command : all_commands(frame.root())) {
        CHECK(contains(table, command->get_name()));
    }
}

TEST_CASE("the bash completion is valid and completes commands, options and values") {
    const auto complete = [](const std::string& words, int index) {
        return tests::shell("bash -c 'source <(\"$0\" completion bash); COMP_WORDS=(" + words +
                            "); COMP_CWORD=" + std::to_string(index) +
                            "; _eyeroof; echo \"${COMPREPLY[*]}\"' \"$eyeroof\"");
    };
    CHECK(complete("eyeroof compl", 1).out == "completion\n");
    CHECK(complete("eyeroof completion f", 2).out == "fish\n");
    CHECK(complete("eyeroof --color al", 2).out == "always\n");
    CHECK(complete("eyeroof completion --col", 2).out == "--color\n");
}

TEST_CASE("bash completes machines, networks, and values behind an equals sign") {
    // The program under test stands first in the line, so that it is asked for its catalog.
    const auto complete = [](const std::string& words, int index) {
        return tests::shell("bash -c 'source <(\"$0\" completion bash); COMP_WORDS=(\"$0\" " +
                            words + "); COMP_CWORD=" + std::to_string(index) +
                            "; _eyeroof; printf \"%s\\n\" \"${COMPREPLY[@]}\"' \"$eyeroof\"");
    };
    const auto machines = complete("exam alexnet --on eyer", 4);
    CHECK(machines.err.empty());
    CHECK(contains(machines.out, "eyeriss-v1\n"));
    CHECK(!contains(machines.out, "alexnet"));
    CHECK(contains(complete("exam mobilenet", 2).out, "mobilenet-v2\n"));
    CHECK(complete("exam alexnet --format = htm", 5).out == "html\n");
    CHECK(complete("exam alexnet --format =", 4).out == "text\njson\ncsv\nmd\nhtml\n");
    CHECK(complete("hw li", 2).out == "list\n");
}

TEST_CASE("fish reads its completion without errors and completes commands, machines, and values") {
    const auto complete = [](const std::string& line) {
        return tests::shell("fish --no-config -c '\"'\"$eyeroof\"'\" completion fish | source; "
                            "complete -C \"'\"$eyeroof\"' " +
                            line + "\"'");
    };
    if (tests::shell("fish --version").exit != 0) {
        MESSAGE("skipped: fish is not installed");
        return;
    }
    const auto commands = complete("hw li");
    CHECK(commands.err.empty());
    CHECK(commands.out.starts_with("list\t"));
    CHECK(complete("exam alexnet --format ht").out.starts_with("html"));
    const auto machines = complete("exam alexnet --on eyeriss");
    CHECK(machines.err.empty());
    CHECK(contains(machines.out, "eyeriss-v1"));
    CHECK(contains(complete("exam mobilenet").out, "mobilenet-v2"));
    CHECK(contains(complete("roofline --ladd").out, "--ladder"));
    CHECK(complete("roofline alexnet --hide pred").out.starts_with("predicted"));
}

TEST_CASE("zsh at a terminal completes commands, options, machines, and values") {
    if (tests::shell("zsh --version").exit != 0) {
        MESSAGE("skipped: zsh is not installed");
        return;
    }
    const tests::Scratch scratch;
    const std::string script = (scratch / "_eyeroof").string();
    REQUIRE(tests::shell("\"$eyeroof\" completion zsh -o " + script).exit == 0);
    const auto complete = [&](const std::string& line) {
        return tests::shell("zsh -f " + tests::source_dir() +
                            "/tests/cli/programs/zsh_completion.zsh \"$eyeroof\" " + script + " '" +
                            line + "'");
    };
    CHECK(complete("eyeroof hw li").out == "list\n");
    CHECK(complete("eyeroof exam alexnet --format ").out == "csv\nhtml\njson\nmd\ntext\n");
    CHECK(complete("eyeroof exam alexnet --format=h").out == "html\n");
    CHECK(complete("eyeroof exam alexnet --forma").out == "--format\n");
    CHECK(contains(complete("eyeroof exam alexnet --on eyeriss").out, "eyeriss-v1\n"));
    CHECK(contains(complete("eyeroof exam mobilenet").out, "mobilenet-v2\n"));
}

TEST_CASE(
    "commands that answer with a table have a page with the answer, a picture, and the table") {
    using Words = std::vector<std::string>;
    for (Words words :
         {Words{"memory", "resnet18", "--on", "t4"},
          Words{"serve", "llama-3-8b", "--on", "a100-sxm-80gb"},
          Words{"collective", "all-reduce", "--fabric", "dgx-a100-hdr"},
          Words{"map", "alexnet", "--on", "eyeriss-v1", "--layers", "CONV3"},
          Words{"improve", "resnet18", "--on", "t4"}, Words{"fuse", "alexnet", "--on", "npu-int8"},
          Words{"sweep", "alexnet", "--on", "npu-int8", "--vary", "batch=1,2"}}) {
        CAPTURE(words.front());
        words.insert(words.end(), {"--format", "html"});
        const auto page = run(words);
        CHECK(page.exit == 0);
        CHECK(page.out.starts_with("<!DOCTYPE html>"));
        CHECK(contains(page.out, "<h1>"));
        CHECK(contains(page.out, "<figure><svg"));
        CHECK(contains(page.out, "<table class=\"sort\"><tr><th>"));
        CHECK(!contains(page.out, "<pre>"));
        CHECK(!contains(page.out, "https://"));
        words.back() = "csv";
        CHECK(run(words).exit == 0);
    }
}

TEST_CASE("the page of an exam begins with the answer and lists equal layers once") {
    const auto page = run({"exam", "resnet50", "--on", "a100-sxm-40gb", "--format", "html"});
    REQUIRE(page.exit == 0);
    const std::size_t answer = page.out.find("<p class=\"answer\">");
    const std::size_t picture = page.out.find("<figure><svg");
    const std::size_t layers = page.out.find("<h2>Layers</h2>");
    const std::size_t folded = page.out.find("<details>");
    CHECK(answer < picture);
    CHECK(picture < layers);
    REQUIRE(layers < folded);
    std::size_t rows = 0;
    for (std::size_t at = layers; (at = page.out.find("<tr>", at + 1)) < folded;) {
        ++rows;
    }
    CHECK(rows > 10);
    CHECK(rows < 60); // of 175 layers
    CHECK(contains(page.out.substr(layers, folded - layers), ">runs</span>"));
    CHECK(contains(page.out.substr(folded), "<summary>layer conv1</summary>"));
}

TEST_CASE("a page of a sweep cannot be resumed or in parts") {
    const auto refused = run({"sweep", "alexnet", "--on", "npu-int8", "--vary", "batch=1,2",
                              "--shard", "1/2", "--format", "html"});
    CHECK(refused.exit == 2);
    CHECK(contains(refused.err, "a page shows a whole sweep"));
}

TEST_CASE("hw list as CSV has a row for each machine of the catalog") {
    const auto table = run({"hw", "list", "--format", "csv"});
    CHECK(table.exit == 0);
    CHECK(table.out.starts_with(
        "id,family,name,trust,macs_per_cycle,clock_hz,peak_macs_per_s,dram_bytes_per_s\n"));
    CHECK(contains(table.out,
                   "\neyeriss-v1,accelerators,Eyeriss v1,fitted,168,200000000,33600000000,\n"));
    CHECK(contains(table.out, "\na100-sxm-40gb,gpus,A100 SXM4 40GB,secondary,,,,1555000000000\n"));
}

TEST_CASE("the program itself gives the exit codes and keeps stdout for results") {
    const auto good = tests::shell("\"$eyeroof\" completion fish");
    CHECK(good.exit == 0);
    CHECK(good.err.empty());
    CHECK(contains(good.out, "complete -c eyeroof"));
    const auto bad = tests::shell("\"$eyeroof\" completion");
    CHECK(bad.exit == 2);
    CHECK(bad.out.empty());
    CHECK(!bad.err.empty());
    CHECK(!contains(bad.err, "\033[")); // no colour away from a terminal
}

TEST_CASE("a result that stdout does not take is an error") {
    const auto outcome = tests::shell("\"$eyeroof\" manual > /dev/full");
    CHECK(outcome.exit == 3);
    CHECK(contains(outcome.err, "cannot-write"));
}

TEST_CASE("on a terminal the answer is bold in every command's text, and in no other format") {
    cli::Environment terminal;
    terminal.out_is_terminal = true;
    const std::vector<std::vector<std::string>> commands = {
        {"exam", "resnet18", "--on", "t4"},     {"timeline", "resnet18", "--on", "t4"},
        {"memory", "resnet18", "--on", "t4"},   {"fuse", "resnet18", "--on", "npu-int8"},
        {"roofline", "resnet18", "--on", "t4"}, {"net", "show", "mnist-cnn"}};
    for (std::vector<std::string> words : commands) {
        CAPTURE(words.front());
        const std::string plain = run(words).out;
        const std::string painted = run(words, terminal).out;
        CHECK(painted.starts_with("\033[1m" + plain.substr(0, plain.find('\n')) + "\033[0m\n"));
        const std::string without = std::regex_replace(painted, std::regex("\033\\[[0-9;]*m"), "");
        CHECK(without == plain);
        if (words.front() != "roofline") {
            words.insert(words.end(), {"--format", "json"});
            CHECK_FALSE(contains(run(words, terminal).out, "\033["));
        }
    }
}

} // namespace test_cli_frame
