#include "study/write/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fs = std::filesystem;
using eyeroof::study::write_file;

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
