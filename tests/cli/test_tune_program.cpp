// `eyeroof tune` is the program eyeroof-tune: found beside `eyeroof` and where an installation
// keeps it, and started with the same words, exit code, and signals.
#include "analysis/tune/strategy.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace test_cli_tune_program {

using namespace eyeroof;
using namespace eyeroof::tests;
namespace fs = std::filesystem;

namespace {

const std::string kSmall = " tune resnet18-c1-c12 --layers 'C9$' --target model --trials 4";

// A prefix with `eyeroof` in bin/ and its data; /proc/self/exe names the hard link.
class Prefix {
  public:
    Prefix() {
        const fs::path built = fs::path(EYEROOF_PROGRAM).parent_path();
        std::string name = (built / "prefix-XXXXXX").string();
        path_ = mkdtemp(name.data());
        fs::create_directories(path_ / "bin");
        fs::create_directories(path_ / "libexec/eyeroof");
        fs::create_directories(path_ / "share");
        fs::create_hard_link(EYEROOF_PROGRAM, path_ / "bin/eyeroof");
        fs::create_directory_symlink(fs::canonical(share_dir()), path_ / "share/eyeroof");
    }
    ~Prefix() { fs::remove_all(path_); }
    Prefix(const Prefix&) = delete;
    Prefix& operator=(const Prefix&) = delete;

    fs::path started() const { return path_ / "libexec/eyeroof/eyeroof-tune"; }
    // A script in the place of the search.
    void put_script(const std::string& text) const {
        write_text(started(), "#!/bin/sh\n" + text);
        fs::permissions(started(), fs::perms::owner_all);
    }
    std::string eyeroof() const { return (path_ / "bin/eyeroof").string(); }
    Outcome run(const std::string& words) const {
        return shell("HOME=/nowhere XDG_DATA_HOME= " + eyeroof() + words);
    }

  private:
    fs::path path_;
};

} // namespace

TEST_CASE("the search runs from the build folder, and from a prefix with the same answer") {
    const Prefix prefix;
    fs::create_hard_link(fs::path(EYEROOF_PROGRAM).parent_path() / "eyeroof-tune",
                         prefix.started());
    const Outcome built = shell("$eyeroof" + kSmall + " --format csv");
    CHECK(built.exit == 0);
    CHECK(built.out.find("C9") != std::string::npos);
    const Outcome installed = prefix.run(kSmall + " --format csv");
    CHECK(installed.exit == 0);
    CHECK(installed.out.size() == built.out.size());
    const Outcome wrong = prefix.run(" tune nosuchnet --target model");
    CHECK(wrong.exit == 3);
    CHECK(wrong.err.find("nosuchnet") != std::string::npos);
}

TEST_CASE("the search is started with the words behind its name, its exit code, and its signal") {
    const Prefix prefix;
    prefix.put_script("printf '[%s]' \"$@\"; cat; exit 7\n");
    const Outcome refused =
        prefix.run(" --color never --hwdb / tune 'a b' --trials=3 -o '' < /dev/null");
    CHECK(refused.exit == 2); // the command line is judged before
    const Outcome words = shell("echo in > " + prefix.started().string() + ".txt"); // its stdin
    CHECK(words.exit == 0);
    const Outcome asked =
        prefix.run(" --color never --hwdb / tune 'tune it' --trials=3 --layers tune < " +
                   prefix.started().string() + ".txt");
    CHECK(asked.out == "[--color][never][--hwdb][/][tune it][--trials=3][--layers][tune]in\n");
    CHECK(asked.exit == 7);
    prefix.put_script("kill -TERM $$\n");
    CHECK(prefix.run(" tune alexnet").exit == 143);
    prefix.put_script("trap 'exit 9' TERM; echo; while :; do sleep 0.01; done\n");
    CHECK(shell(prefix.eyeroof() + " tune alexnet & sleep 0.2; kill -TERM $!; wait $!").exit == 9);
}

TEST_CASE("without the search, its help is there, and running it says how to get it") {
    const Prefix prefix;
    const Outcome absent = prefix.run(" tune alexnet");
    CHECK(absent.exit == 4);
    CHECK(absent.out.empty());
    CHECK(absent.err.find("eyeroof-tune") != std::string::npos);
    CHECK(absent.err.find("./bootstrap tune") != std::string::npos);
    CHECK(prefix.run(" tune --help").out.find("--target") != std::string::npos);
    CHECK(prefix.run(" completion bash").out.find("--end-to-end") != std::string::npos);
    prefix.put_script("");
    fs::permissions(prefix.started(), fs::perms::owner_read);
    CHECK(prefix.run(" tune alexnet").exit == 4);
}

TEST_CASE("claims that the search must answer are left out without it, and said so") {
    const Prefix prefix;
    const Outcome all = prefix.run(" claims --only learned-search");
    CHECK(all.exit == 4);
    CHECK(all.err.find("eyeroof-tune") != std::string::npos);
    prefix.put_script("echo 'a line on stderr' >&2; exit 3\n"); // what it says is caught
    const Outcome caught = prefix.run(" claims --only learned-search");
    CHECK(caught.exit == 1); // no answer
    CHECK(caught.err.find("a line on stderr") != std::string::npos);
}

TEST_CASE("the words of the options are those that the search knows") {
    const std::string words = run({"completion", "bash"}).out;
    CHECK(words.find(fmt::format("'{}'", fmt::join(analysis::tune::strategy_names(), " "))) !=
          std::string::npos);
    for (const char* loss : {"regression", "rank"}) {
        CHECK(analysis::tune::loss_from_name(loss).has_value());
    }
    for (const char* set :
         {"all", "knobs", "loops", "steps", "loops+steps", "knobs+loops", "knobs+steps"}) {
        CHECK(analysis::tune::features_from_name(set).has_value());
    }
}

} // namespace test_cli_tune_program
