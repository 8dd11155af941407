#include "study/write/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace eyeroof::study {

namespace {

namespace fs = std::filesystem;
using Written = model::Result<model::Done>;

Written failure(const fs::path& path, int error) {
    std::string hint;
    if (error == ENOENT) {
        hint = fmt::format("is there a folder '{}'?", path.parent_path().string());
    } else if (error == EISDIR) {
        hint = "name a file in it";
    }
    return Written::failure(
        "cannot-write", fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)),
        hint);
}

// 0, or the error that stopped the writing.
int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count < 0 && errno != EINTR) {
            return errno;
        }
        text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    return 0;
}

// The permissions that a new file gets here: those of the file that it replaces, or 0666 less the
// process's mask (which can only be asked for by setting it).
mode_t permissions_for(const fs::path& path) {
    struct stat old {};
    if (::stat(path.c_str(), &old) == 0) {
        return old.st_mode & 07777U;
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

Written write_directly(const fs::path& path, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return failure(path, errno);
    }
    int error = write_all(file, text);
    if (::close(file) != 0 && error == 0) {
        error = errno;
    }
    return error == 0 ? Written(model::Done{}) : failure(path, error);
}

Written replace(const fs::path& path, std::string_view text) {
    std::string temporary = path.string() + ".XXXXXX";
    const int file = ::mkstemp(temporary.data());
    if (file < 0) {
        return failure(path, errno);
    }
    int error = write_all(file, text);
    if (error == 0 && ::fchmod(file, permissions_for(path)) != 0) {
        error = errno;
    }
    if (::close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(temporary.c_str());
        return failure(path, error);
    }
    return model::Done{};
}

// The file that `path` stands for; also when a link points to a file that does not exist yet.
fs::path behind_links(fs::path path) {
    constexpr int most_links = 16;
    std::error_code ignored;
    for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(path, ignored)); ++i) {
        path = path.parent_path() / fs::read_symlink(path, ignored); // an absolute one replaces all
    }
    return path;
}

} // namespace

Written write_file(const fs::path& path, std::string_view text) {
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (fs::is_directory(status)) {
        return failure(path, EISDIR);
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        return write_directly(path, text);
    }
    return replace(behind_links(path), text);
}

} // namespace eyeroof::study
