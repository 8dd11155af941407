#include "profiles/collect/work_folder.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

namespace eyeroof::profiles {

namespace {

namespace fs = std::filesystem;

bool is_mine_alone(const fs::path& path, mode_t kind) {
    constexpr mode_t kOthers = 0077;
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && (found.st_mode & S_IFMT) == kind &&
           found.st_uid == ::geteuid() && (found.st_mode & kOthers) == 0;
}

} // namespace

model::Result<WorkFolder> WorkFolder::create() {
    using Made = model::Result<WorkFolder>;
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) {
        return Made::failure("cannot-write",
                             "there is no folder for temporary files: " + error.message(),
                             "let TMPDIR name a folder that exists");
    }
    std::string name = (temporary / "eyeroof-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        return Made::failure("cannot-write",
                             fmt::format("no folder can be made in '{}': {}", temporary.string(),
                                         std::strerror(errno)),
                             "let TMPDIR name a folder that you may write to");
    }
    return WorkFolder(fs::path(name));
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

WorkFolder::~WorkFolder() {
    if (!path_.empty()) {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
}

bool is_private_folder(const fs::path& path) {
    return is_mine_alone(path, S_IFDIR);
}

bool is_private_file(const fs::path& path) {
    return is_mine_alone(path, S_IFREG);
}

std::string random_token() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        std::random_device device;
        for (unsigned char& byte : bytes) {
            byte = static_cast<unsigned char>(device());
        }
    }
    std::string text;
    for (const unsigned char byte : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    }
    return text;
}

} // namespace eyeroof::profiles
