// Every page says where it comes from, and the command on it writes the same page.
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace test_cli_origin {

using namespace eyeroof; // NOLINT

namespace {

std::string between(const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from);
    REQUIRE(begin != std::string::npos);
    const std::size_t end = text.find(to, begin + from.size());
    REQUIRE(end != std::string::npos);
    return text.substr(begin + from.size(), end - begin - from.size());
}

void replace(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
}

// The words of a line as a shell would take them; '…' is all that the program writes.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    bool quoted = false;
    bool open = false; // inside a word
    for (const char c : line) {
        if (c == ' ' && !quoted) {
            open = false;
            continue;
        }
        if (!open) {
            words.emplace_back();
            open = true;
        }
        if (c == '\'') {
            quoted = !quoted;
        } else {
            words.back() += c;
        }
    }
    return words;
}

// The command that stands on a page, without the program's name.
std::vector<std::string> command_on(const std::string& page) {
    const bool html = page.starts_with("<!DOCTYPE");
    std::string line = html ? between(page, "<pre><code>", "</code></pre>")
                            : between(page, "Made by eyeroof ", "\nThe same command");
    line = html ? line : between(line + '\n', "`", "`");
    for (const auto& [what, by] : {std::pair("&quot;", "\""), std::pair("&lt;", "<"),
                                   std::pair("&gt;", ">"), std::pair("&amp;", "&")}) {
        replace(line, what, by);
    }
    std::vector<std::string> words = words_of(line);
    REQUIRE(words.front() == "eyeroof");
    words.erase(words.begin());
    return words;
}

} // namespace

TEST_CASE("the command on a page writes the same page") {
    const std::vector<std::vector<std::string>> asked = {
        {"exam", "alexnet", "--on", "t4", "--format", "html", "--batch", "4"},
        {"exam", "--format", "md", "--set", "clock=x2", "alexnet", "--on", "eyeriss-v1", "--layers",
         "CONV[12] *", "--threads", "1"},
        {"exam", "alexnet", "--on", "t4", "--on", "l4", "--format", "md"},
        {"exam", "alexnet", "--on", "t4", "--on", "l4", "--format", "html"},
        {"upgrade", "alexnet", "--from", "t4", "--to", "l4", "--format", "html", "--sweep-batch",
         "1,8"},
        {"upgrade", "alexnet", "--from", "t4", "--to", "l4", "--format", "md"},
        {"roofline", "alexnet", "--on", "t4", "--format", "html"},
        {"timeline", "alexnet", "--on", "t4", "--format", "html"},
        {"upgrade", "alexnet", "--from", "server-2x20", "--to", "t4", "--dtype", "fp32", "--format",
         "md"},
        {"diff", "alexnet@t4", "alexnet@l4", "--format", "md"},
        {"scale", "alexnet", "--on", "a100-sxm-80gb", "--fabric", "dgx-a100-hdr", "--devices",
         "8,16", "--format", "html"},
    };
    for (const auto& words : asked) {
        CAPTURE(words.front());
        CAPTURE(words.back());
        const tests::Outcome first = tests::run(words);
        CAPTURE(first.err);
        REQUIRE(first.exit == 0);
        const tests::Outcome again = tests::run(command_on(first.out));
        CAPTURE(again.err);
        CHECK(again.exit == 0);
        CHECK(again.out == first.out);
    }
}

TEST_CASE("a page names version, machines with their sources, constants and their errors") {
    const auto page = [](const char* machine, const char* format) {
        return tests::run({"exam", "alexnet", "--on", machine, "--format", format}).out;
    };
    for (const char* format : {"md", "html"}) {
        const std::string gpu = page("t4", format);
        CHECK(gpu.find("Where this comes from") != std::string::npos);
        CHECK(gpu.find("Machine Tesla T4 (t4)") != std::string::npos);
        CHECK(gpu.find("linear") != std::string::npos);
        CHECK(gpu.find("measured / predicted") != std::string::npos);
        const std::string accelerator = page("eyeriss-v1", format);
        CHECK(accelerator.find("IEEE JSSC 52(1), 2017") != std::string::npos);
        CHECK(accelerator.find("measured / predicted") == std::string::npos);
    }
}

TEST_CASE("a page does not depend on where it is written or on the number of threads") {
    const auto file = std::filesystem::temp_directory_path() /
                      ("eyeroof-origin-" + std::to_string(::getpid()) + ".html");
    const std::vector<std::string> words = {"exam", "alexnet", "--on", "t4", "--format", "html"};
    const std::string shown = tests::run(words).out;
    std::vector<std::string> more = words;
    more.insert(more.end(), {"--threads", "1", "--color", "never", "-o", file.string()});
    REQUIRE(tests::run(more).exit == 0);
    const std::string written = tests::read_file(file);
    std::filesystem::remove(file);
    CHECK(written == shown);
}

} // namespace test_cli_origin
