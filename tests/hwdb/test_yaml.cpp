#include "hwdb/yaml.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace test_hwdb_yaml {

using namespace eyeroof;
using hwdb::Document;
using hwdb::Node;
using hwdb::parse_yaml;

namespace {

// The only diagnostic of a document that does not load.
Diagnostic refusal(const std::string& text, hwdb::YamlOptions options = {}) {
    const auto document = parse_yaml(text, "x.yaml", options);
    REQUIRE_FALSE(document.ok());
    REQUIRE(document.diagnostics().size() == 1);
    return document.diagnostics().items().front();
}

Document loaded(const std::string& text, hwdb::YamlOptions options = {}) {
    auto document = parse_yaml(text, "x.yaml", options);
    REQUIRE_MESSAGE(document.ok(),
                    (document.ok() ? std::string() : to_string(*document.diagnostics().begin())));
    return std::move(document).value();
}

// What a reader finds wrong with the value of "k".
template <class Read> Diagnostic finding(const std::string& text, Read read) {
    const Document document = loaded(text);
    read(document.root().need("k"));
    const auto found = document.finish();
    REQUIRE(found.size() == 1);
    return found.items().front();
}

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

enum class Colour { red, green };
constexpr std::pair<std::string_view, Colour> kColours[] = {{"red", Colour::red},
                                                            {"green", Colour::green}};

} // namespace

TEST_CASE("a document is read by type and every key is consumed") {
    const Document document = loaded("name: a b\ncount: 12\nshare: 0.5\non: true\n"
                                     "size: 64 KiB\nclock: 200 MHz\ncolour: green\n"
                                     "list: [1, 2, 3]\none: 7\nmap: {x: 1, y: 2}\n");
    const Node root = document.root();
    CHECK(root.need("name").text() == "a b");
    CHECK(root.need("count").integer() == 12);
    CHECK(root.need("share").number(0, 1) == 0.5);
    CHECK(root.need("on").boolean() == true);
    CHECK(root.need("size").quantity<Bytes>() == Bytes{65536});
    CHECK(root.need("clock").quantity<Hertz>() == Hertz{200e6});
    CHECK(root.need("colour").choice(kColours, "colour") == Colour::green);
    CHECK(root.need("list").items().size() == 3);
    CHECK(root.need("list").items()[1].integer() == 2);
    CHECK(root.need("one").one_or_more().size() == 1);
    CHECK(root.need("list").one_or_more().size() == 3);
    CHECK(root.need("map").entries()[1].first == "y");
    CHECK_FALSE(root["absent"].present());
    CHECK_FALSE(root["absent"]["deeper"].integer().has_value());
    CHECK(document.conclude(1).ok());
    CHECK(document.finish().empty());
}

TEST_CASE("places are counted from one and field paths are complete") {
    const Document document = loaded("levels:\n  - name: a\n  - name: b\n    size: 3\n");
    const Node size = document.root().need("levels").items()[1].need("size");
    CHECK(size.where() == SourceLocation{"x.yaml", 4, 11});
    CHECK(size.field() == "levels[1].size");
    CHECK(size.key_where() == SourceLocation{"x.yaml", 4, 5});
    CHECK(document.locate("levels[1].size").where() == size.where());
    CHECK(document.locate("levels[1].nothing[3]").field() == "levels[1]");
    CHECK(document.locate("").field().empty());
}

TEST_CASE("a key that nobody asked for is reported with the nearest one that is known") {
    const Document document = loaded("levels:\n  - nmae: a\n    size: 3\n    zzzzzzz: 4\n");
    const Node level = document.root().need("levels").items()[0];
    CHECK_FALSE(level["name"].present());
    CHECK(level["size"].integer() == 3);
    const auto result = document.conclude(1);
    REQUIRE_FALSE(result.ok());
    REQUIRE(result.diagnostics().size() == 2);
    const auto& misspelt = result.diagnostics().items()[0];
    CHECK(misspelt.code == "unknown-key");
    CHECK(misspelt.hint == "did you mean 'name'?");
    CHECK(misspelt.where == SourceLocation{"x.yaml", 2, 5});
    CHECK(misspelt.field == "levels[0].nmae");
    CHECK(result.diagnostics().items()[1].hint == "known: name");
}

TEST_CASE("all findings are reported at once and in the order of the file") {
    const Document document = loaded("a: -1\nb: 3 GHz\nc: purple\n");
    const Node root = document.root();
    CHECK_FALSE(root["c"].choice(kColours, "colour").has_value());
    CHECK_FALSE(root["b"].quantity<Bytes>().has_value());
    CHECK_FALSE(root["a"].integer().has_value());
    CHECK_FALSE(root.need("d").text().has_value());
    const auto found = document.finish();
    REQUIRE(found.size() == 4);
    CHECK(found.items()[0].code == "missing-key"); // stands at the mapping's own beginning
    CHECK(found.items()[1].code == "out-of-range");
    CHECK(found.items()[2].code == "wrong-unit");
    CHECK(found.items()[3].code == "unknown-name");
    CHECK(found.items()[3].where == SourceLocation{"x.yaml", 3, 4});
}

TEST_CASE("duplicate keys are refused at any depth") {
    const auto top = refusal("a: 1\nb: 2\na: 3\n");
    CHECK(top.code == "duplicate-key");
    CHECK(top.where == SourceLocation{"x.yaml", 3, 1});
    CHECK(top.hint.find("line 1") != std::string::npos);
    CHECK(refusal("a:\n  - b: {c: 1, \"c\": 2}\n").where.line == 2);
}

TEST_CASE("whole numbers are whole, written in digits and in range") {
    const auto integer = [](const std::string& written, hwdb::IntegerRange range = {}) {
        return finding("k: " + written, [&](const Node& n) { CHECK_FALSE(n.integer(range)); });
    };
    CHECK(integer("0").code == "out-of-range");
    CHECK(integer("0").hint == "the smallest allowed is 1");
    CHECK(integer("-3").code == "out-of-range");
    CHECK(integer("1000000000000").hint == "the largest allowed is 2147483647");
    CHECK(integer("99999999999999999999999").code == "out-of-range");
    CHECK(integer("-99999999999999999999999").hint == "the smallest allowed is 1");
    CHECK(integer("1e12").code == "not-an-integer");
    CHECK(integer("1.5").code == "not-an-integer");
    CHECK(integer(".nan").code == "not-an-integer");
    CHECK(integer("0x10").code == "not-an-integer");
    CHECK(integer("12 a").code == "not-an-integer");
    CHECK(integer("[1]").code == "wrong-type");
    CHECK(integer("65", {1, 64}).code == "out-of-range");
}

TEST_CASE("underscores between digits are taken as Python's reader takes them") {
    const Document document = loaded("k: 16_777_216\nr: 1_000.5\n");
    CHECK(document.root().need("k").integer({1, 100'000'000}) == 16'777'216);
    CHECK(document.root().need("r").number(0.0, 1e4) == 1000.5);
    CHECK(document.finish().empty());
    for (const char* text : {"k: _1", "k: 1_", "k: 1__0"}) {
        CAPTURE(text);
        CHECK(finding(text, [](Node n) { n.integer({0, 100}); }).code == "not-an-integer");
    }
}

TEST_CASE("numbers, booleans, texts and quantities refuse what they are not") {
    const auto number = [](const Node& n) { CHECK_FALSE(n.number(0, 1)); };
    CHECK(finding("k: .nan", number).code == "not-a-number");
    CHECK(finding("k: nan", number).code == "not-a-number");
    CHECK(finding("k: inf", number).code == "not-a-number");
    CHECK(finding("k: 1.5", number).code == "out-of-range");
    CHECK(finding("k: 1 B", number).code == "not-a-number");
    CHECK(finding("k: yes", [](const Node& n) { CHECK_FALSE(n.boolean()); }).code ==
          "not-a-boolean");
    CHECK(finding("k: ' '", [](const Node& n) { CHECK_FALSE(n.text()); }).code == "missing-value");
    CHECK(finding("k: {a: 1}", [](const Node& n) { CHECK_FALSE(n.text()); }).code == "wrong-type");
    const auto bytes = [](const Node& n) { CHECK_FALSE(n.quantity<Bytes>()); };
    CHECK(finding("k: 64", bytes).code == "missing-unit");
    CHECK(finding("k: 64 GHz", bytes).code == "wrong-unit");
    CHECK(finding("k: 0 B", bytes).code == "zero");
    CHECK(finding("k: nan B", bytes).code == "not-finite");
    CHECK(loaded("k: 0 J").root().need("k").quantity<Joules>(hwdb::Zero::allowed) == Joules{0});
    const auto colour = [](const Node& n) { CHECK_FALSE(n.choice(kColours, "colour")); };
    CHECK(finding("k: gren", colour).hint == "did you mean 'green'?");
}

TEST_CASE("a key without a value, an empty element and a short list are reported") {
    CHECK(finding("k:\n", [](const Node&) {}).code == "missing-value");
    CHECK(finding("k: ~\n", [](const Node&) {}).where == SourceLocation{"x.yaml", 1, 1});
    CHECK(finding("k: [1, ~]", [](const Node& n) { (void)n.items(); }).code == "missing-value");
    CHECK(finding("k: []", [](const Node& n) { (void)n.items(1); }).code == "too-few");
    CHECK(finding("k: 3", [](const Node& n) { (void)n.items(); }).code == "wrong-type");
}

TEST_CASE("a value that should be a mapping is reported once") {
    const Document document = loaded("k: 3\n");
    const Node k = document.root().need("k");
    CHECK_FALSE(k.need("a").present());
    CHECK_FALSE(k.need("b").present());
    CHECK(document.finish().size() == 1);
}

TEST_CASE("what is not one YAML document is refused with its place") {
    CHECK(refusal("").code == "empty-file");
    CHECK(refusal("# nothing but a comment\n").code == "empty-file");
    CHECK(refusal("---\n...\n").code == "empty-file");
    CHECK(refusal("~").code == "empty-file");
    CHECK(refusal("a: 1\n---\nb: 2\n").code == "several-documents");
    CHECK(refusal("a: [1, 2\n").code == "syntax");
    CHECK(refusal("a: 1\n\tb: 2\n").where.line == 2);
    CHECK(refusal("a: \"open\n").code == "syntax");
    CHECK(refusal("a: 'open\n\nb: 2\n\n").code == "syntax");
    CHECK(refusal("a: 1\n b: 2\n").where.line == 2);
    CHECK(refusal("? [a, b]\n: 1\n").code == "bad-key");
    CHECK(refusal("~: 1\n").code == "bad-key");
    CHECK(refusal("a: !!python/object x\n").code == "tag");
    CHECK(refusal("a: *nowhere\n").code == "syntax");
    const auto binary = refusal(std::string("a: 1\nb: \x01\n"));
    CHECK(binary.code == "not-text");
    CHECK(binary.where == SourceLocation{"x.yaml", 2, 4});
    CHECK(refusal("a: \xff\xfe\n").code == "not-text");
    CHECK(refusal(std::string("a\0b", 3)).code == "not-text");
}

TEST_CASE(
    "nesting deeper than 64 is refused, however it is written, without overflowing the stack") {
    CHECK(refusal(repeated("[", 65) + repeated("]", 65)).code == "too-deep");
    CHECK(parse_yaml(repeated("[", 64) + repeated("]", 64), "x").ok());
    const std::size_t many = 1'000'000;
    CHECK(refusal(repeated("[", many)).code == "too-deep");
    CHECK(refusal(repeated("{a: ", 65) + "1" + repeated("}", 65)).code == "too-deep");
    CHECK_FALSE(parse_yaml(repeated("{a: ", many / 4), "x").ok());
    CHECK(refusal(repeated("- ", many)).code == "too-deep");
    CHECK(refusal(repeated("? ", many)).code == "too-deep");
    CHECK_FALSE(parse_yaml(repeated("[{", many), "x").ok());
    CHECK_FALSE(parse_yaml(repeated("]", many), "x").ok());
    CHECK_FALSE(parse_yaml(repeated("&a ", many), "x").ok());
    CHECK_FALSE(parse_yaml(repeated("!", many), "x").ok());
}

TEST_CASE("anchors are refused, and where allowed they cannot blow up") {
    CHECK(refusal("a: &x 1\nb: *x\n").code == "alias");
    const Document document = loaded("a: &x {s: 1}\nb: *x\n", {.allow_aliases = true});
    CHECK(document.root().need("b").need("s").integer() == 1);
    CHECK(refusal("a: &x [*x]\n", {.allow_aliases = true}).code == "alias");
    // Ten times ten times ten … : 10^9 values in nine short lines.
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last +
                repeated(", " + last, 9) + "]\n";
    }
    CHECK(refusal(bomb, {.allow_aliases = true}).code == "too-large");
    // Each line one deeper than the last.
    std::string deep = "a0: &a0 [x]\n";
    for (int i = 1; i < 100; ++i) {
        deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
                std::to_string(i - 1) + "]\n";
    }
    CHECK(refusal(deep, {.allow_aliases = true}).code == "too-large");
}

TEST_CASE("merged mappings give every member that is not there, and << leaves those that are") {
    const Document document = loaded("base: &base\n  a: 1\n  b: 2\n  c:\n    x: 1\n    y: 2\n"
                                     "plain:\n  b: 3\n  c:\n    x: 5\n  <<: *base\n"
                                     "deep:\n  b: 3\n  c:\n    x: 5\n  <<<: *base\n",
                                     {.allow_aliases = true, .allow_merge_keys = true});
    for (const char* name : {"plain", "deep"}) {
        CAPTURE(name);
        const Node merged = document.root().need(name);
        CHECK(merged.need("a").integer() == 1);
        CHECK(merged.need("b").integer() == 3);
        CHECK(merged.need("c").need("x").integer() == 5);
        CHECK(bool(merged.need("c")["y"]) == (std::string(name) == "deep")); // level by level
    }
    CHECK(document.root().need("deep").need("c").need("y").integer() == 2);
}

TEST_CASE("tags are kept where the format has them") {
    const Document document = loaded("a: !Component {s: 1}\nb: 'plain'\n", {.allow_tags = true});
    CHECK(document.root().need("a").tag() == "!Component");
    CHECK(document.root().need("b").tag().empty());
}

TEST_CASE("a document of a million values is refused, and one long value is read") {
    CHECK_FALSE(parse_yaml("[" + repeated("1,", 1'100'000) + "]", "x").ok()); // too many values
    CHECK(parse_yaml("a: \"" + repeated("x", 4'000'000) + "\"\n", "x").ok());
}

TEST_CASE("what is no readable text file is refused by name") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / "eyeroof_test_yaml";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const auto code = [](const fs::path& path) {
        const auto document = hwdb::load_yaml(path);
        REQUIRE_FALSE(document.ok());
        CHECK(document.diagnostics().begin()->where.file == path.string());
        return document.diagnostics().begin()->code;
    };
    CHECK(code(folder) == "is-a-directory");
    CHECK(code(folder / "none.yaml") == "file-not-found");
    CHECK(code("/dev/null") == "empty-file");
    std::ofstream(folder / "empty.yaml").close();
    CHECK(code(folder / "empty.yaml") == "empty-file");
    std::ofstream(folder / "large.yaml").close();
    fs::resize_file(folder / "large.yaml", 100'000'000); // sparse: takes no space and no time
    CHECK(code(folder / "large.yaml") == "file-too-large");
    std::ofstream(folder / "good.yaml") << "\xEF\xBB\xBF"
                                        << "a: 1\n";
    CHECK(hwdb::load_yaml(folder / "good.yaml").ok());
    fs::remove_all(folder);
}

} // namespace test_hwdb_yaml
