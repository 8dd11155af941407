#include "base/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace test_model_file {

namespace fs = std::filesystem;
using eyeroof::AtomicFile;
using eyeroof::write_file;

namespace {

std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "eyeroof-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    long entries() const { return std::distance(fs::directory_iterator(path), {}); }
};

} // namespace

TEST_CASE("a file is written whole, replaced whole, and keeps its permissions") {
    const Folder folder;
    const fs::path file = folder.path / "result.txt";
    CHECK(write_file(file, "one\n").ok());
    CHECK(content(file) == "one\n");
    CHECK(::chmod(file.c_str(), 0640) == 0);
    CHECK(write_file(file, "two\n").ok());
    CHECK(content(file) == "two\n");
    CHECK((fs::status(file).permissions() & fs::perms::mask) == fs::perms(0640));
    CHECK(folder.entries() == 1); // no temporary file is left
}

TEST_CASE("a link is followed and stays a link") {
    const Folder folder;
    fs::create_directory(folder.path / "far");
    fs::create_symlink(folder.path / "far/real.txt", folder.path / "link.txt");
    CHECK(write_file(folder.path / "link.txt", "x").ok());
    CHECK(fs::is_symlink(folder.path / "link.txt"));
    CHECK(content(folder.path / "far/real.txt") == "x");
}

TEST_CASE("a link that another user put into a folder of everybody's is not followed") {
    const Folder folder;
    if (::geteuid() != 0) { // whose link it is, only the administrator can change
        return;
    }
    constexpr uid_t other = 65534;
    fs::create_directory(folder.path / "shared");
    REQUIRE(::chmod((folder.path / "shared").c_str(), 01777) == 0);
    std::ofstream(folder.path / "mine.txt") << "mine";
    const fs::path link = folder.path / "shared/result.txt";
    fs::create_symlink(folder.path / "mine.txt", link);
    REQUIRE(::lchown(link.c_str(), other, other) == 0);
    const auto written = write_file(link, "x");
    REQUIRE(!written.ok());
    CHECK(written.diagnostics().items()[0].hint.find("another user") != std::string::npos);
    CHECK(content(folder.path / "mine.txt") == "mine");
}

TEST_CASE("links that lead back to themselves are refused and stay") {
    const Folder folder;
    fs::create_symlink(folder.path / "b.txt", folder.path / "a.txt");
    fs::create_symlink(folder.path / "a.txt", folder.path / "b.txt");
    const auto written = write_file(folder.path / "a.txt", "x");
    REQUIRE(!written.ok());
    CHECK(written.diagnostics().items()[0].hint.find("leads back to itself") != std::string::npos);
    CHECK(fs::is_symlink(folder.path / "a.txt"));
    CHECK(fs::is_symlink(folder.path / "b.txt"));
    CHECK(folder.entries() == 2);
}

TEST_CASE("a folder, a missing folder and a full device are errors with a reason") {
    const Folder folder;
    const auto onto_folder = write_file(folder.path, "x");
    REQUIRE(!onto_folder.ok());
    CHECK(onto_folder.diagnostics().items()[0].message.find("Is a directory") != std::string::npos);
    const auto nowhere = write_file(folder.path / "no/such/file", "x");
    REQUIRE(!nowhere.ok());
    CHECK(nowhere.diagnostics().items()[0].hint.find("is there a folder") == 0);
    CHECK(!write_file("/dev/full", "x").ok());
    CHECK(write_file("/dev/null", "x").ok());
    CHECK(folder.entries() == 0);
}

TEST_CASE("a name of 255 bytes is written and replaced") {
    const Folder folder;
    const fs::path file = folder.path / std::string(255, 'n');
    CHECK(write_file(file, "one").ok());
    CHECK(write_file(file, "two").ok());
    CHECK(content(file) == "two");
    CHECK(folder.entries() == 1);
}

TEST_CASE("without a commit nothing has happened") {
    const Folder folder;
    const fs::path file = folder.path / "result.txt";
    CHECK(write_file(file, "old").ok());
    {
        auto begun = AtomicFile::create(file);
        REQUIRE(begun.ok());
        CHECK(begun->append(std::string(1'000'000, 'x')));
        CHECK(content(file) == "old");
    }
    CHECK(content(file) == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("what a writer that was killed left beside the file goes with the next writing") {
    const Folder folder;
    const fs::path file = folder.path / "result.txt";
    CHECK(write_file(file, "old").ok());
    // the name of the instant between "whole" and "in place"; a kill there leaves a whole file
    std::ofstream(folder.path / ".eyeroof-c5b4744218888812.part") << "left over";
    CHECK(write_file(file, "new").ok());
    CHECK(content(file) == "new");
    CHECK(folder.entries() == 1);
}

TEST_CASE("many writers of one file leave one whole text") {
    const Folder folder;
    const fs::path file = folder.path / "result.txt";
    const auto write_many = [&](char letter) {
        for (int i = 0; i < 200; ++i) {
            CHECK(write_file(file, std::string(5000, letter)).ok());
        }
    };
    {
        std::jthread a([&] { write_many('a'); });
        std::jthread b([&] { write_many('b'); });
        std::jthread c([&] { write_many('c'); });
    }
    const std::string text = content(file);
    CHECK(text == std::string(5000, text.at(0)));
    CHECK(folder.entries() == 1);
}

} // namespace test_model_file
