#include "profiles/collect/work_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>
#include <vector>

namespace eyeroof::profiles {

namespace {

namespace fs = std::filesystem;

bool is_mine_alone(const fs::path& path, mode_t kind) {
    constexpr mode_t kOthers = 0077;
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && (found.st_mode & S_IFMT) == kind &&
           found.st_uid == ::geteuid() && (found.st_mode & kOthers) == 0;
}

// The folder, open and locked; -1: another process has locked it, or it is gone.
int locked(const fs::path& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat opened {};
    struct stat named {};
    const bool mine = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0 &&
                      ::fstat(file, &opened) == 0 && ::lstat(folder.c_str(), &named) == 0 &&
                      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    if (!mine && file >= 0) {
        ::close(file);
    }
    return mine ? file : -1;
}

constexpr const char* kMark =
    ".eyeroof-work"; // a file in each folder: nothing else is ever removed

// The mark goes last: a run that is killed meanwhile leaves a folder with the mark, or an empty
// one.
void remove_marked(const fs::path& folder, std::error_code& failed) {
    std::vector<fs::path> entries;
    for (fs::directory_iterator at(folder, failed), end; at != end; at.increment(failed)) {
        if (at->path().filename() != kMark) {
            entries.push_back(at->path());
        }
    }
    for (const fs::path& entry : entries) {
        fs::remove_all(entry, failed);
        if (failed) {
            return;
        }
    }
    fs::remove_all(folder, failed);
}

// A second mark, which lasts until the folder itself is gone: a private folder that no program
// makes sticky.
constexpr mode_t kMarkedMode = S_ISVTX | S_IRWXU;

bool is_marked(const fs::path& folder) {
    constexpr mode_t kModeBits = 07777;
    struct stat found {};
    return ::lstat(folder.c_str(), &found) == 0 && (found.st_mode & kModeBits) == kMarkedMode;
}

// Folders that runs which were killed have left: private ones of this user, with both marks or with
// the second one and empty, that no process has locked.
void remove_orphans(const fs::path& temporary) {
    std::error_code ignored;
    std::vector<fs::path> orphans;
    for (fs::directory_iterator at(temporary, ignored), end; at != end; at.increment(ignored)) {
        const std::string name = at->path().filename().string();
        if (name.starts_with("eyeroof-") && name.size() == std::strlen("eyeroof-XXXXXX") &&
            is_mine_alone(at->path(), S_IFDIR)) {
            orphans.push_back(at->path());
        }
    }
    for (const fs::path& folder : orphans) {
        const int lock = locked(folder);
        if (lock >= 0) {
            if (fs::exists(folder / kMark, ignored)) {
                remove_marked(folder, ignored);
            } else if (is_marked(folder)) {
                ::rmdir(folder.c_str()); // only an empty one
            }
            ::close(lock);
        }
    }
}

} // namespace

Result<WorkFolder> WorkFolder::create() {
    using Made = Result<WorkFolder>;
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) {
        return Made::failure("cannot-write",
                             "there is no folder for temporary files: " + error.message(),
                             "let TMPDIR name a folder that exists");
    }
    remove_orphans(temporary);
    std::string name = (temporary / "eyeroof-XXXXXX").string();
    int lock = -1;
    for (int tries = 0; lock < 0 && tries < 3;
         ++tries) { // another process may have taken it for left
        name = (temporary / "eyeroof-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            break;
        }
        lock = locked(name);
    }
    if (lock < 0) {
        return Made::failure("cannot-write",
                             fmt::format("no folder can be made in '{}': {}", temporary.string(),
                                         std::strerror(errno)),
                             "let TMPDIR name a folder that you may write to");
    }
    (void)::chmod(name.c_str(), kMarkedMode);
    std::ofstream(fs::path(name) / kMark).flush();
    return WorkFolder(fs::path(name), lock);
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

WorkFolder::~WorkFolder() {
    if (!path_.empty()) {
        std::error_code failed;
        remove_marked(path_, failed);
        if (lock_ >= 0) {
            ::close(lock_);
        }
        if (failed) { // removing takes a descriptor: perhaps the lock's was the last
            failed.clear();
            remove_marked(path_, failed);
        }
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
