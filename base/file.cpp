#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace eyeroof {

namespace {

namespace fs = std::filesystem;
using Written = Result<Done>;

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr mode_t kModeBits = 07777;

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Whether another user may have put this link into a folder that everybody writes to, such as /tmp:
// neither the caller nor the owner of the folder has made it. The kernel does not follow such links
// where fs.protected_symlinks is set; renaming over a link's target would.
bool is_planted(const fs::path& link) {
    struct stat own {};
    struct stat folder {};
    return ::lstat(link.c_str(), &own) == 0 && ::stat(folder_of(link).c_str(), &folder) == 0 &&
           (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0 &&
           own.st_uid != ::geteuid() && own.st_uid != folder.st_uid;
}

Diagnostics refusal(const fs::path& path, int error) {
    std::string hint;
    if (error == ENOENT || error == ENOTDIR) {
        hint = fmt::format("is there a folder '{}'?", path.parent_path().string());
    } else if (error == EISDIR) {
        hint = "name a file in it";
    } else if (error == EACCES && is_planted(path)) {
        hint =
            "another user put this link into a folder that everybody writes to; name another file";
    } else if (error == ELOOP) {
        hint = "the link leads back to itself; remove it, or name another file";
    } else if (error == ENOSPC || error == EDQUOT) {
        hint = "the disk is full; the file is as it was";
    }
    Diagnostics found;
    found.error("cannot-write",
                fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)), hint);
    return found;
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

// Some file systems cannot sync: then their own order is all there is.
int synced(int file) {
    return ::fsync(file) == 0 || errno == EINVAL || errno == ENOSYS ? 0 : errno;
}

// The name of a file that is whole but has not replaced its target yet. It depends on the target
// alone: what a kill in that instant leaves is taken away when the target is written next.
std::string name_beside(const fs::path& target) {
    std::uint64_t hash = 14695981039346656037ULL; // FNV-1a
    for (const char c : target.filename().string()) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    return (folder_of(target) / fmt::format(".eyeroof-{:016x}.part", hash)).string();
}

std::string own_name_beside(const fs::path& target, const void* writer) {
    return (folder_of(target) / fmt::format(".eyeroof-{}-{:x}.part", ::getpid(),
                                            reinterpret_cast<std::uintptr_t>(writer)))
        .string();
}

// The file that `path` stands for; also when a link points to a file that does not exist yet.
// Nothing where a link on the way is_planted().
std::optional<fs::path> behind_links(fs::path path) {
    constexpr int most_links = 40; // as the kernel
    std::error_code ignored;
    for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(path, ignored)); ++i) {
        if (is_planted(path)) {
            return std::nullopt;
        }
        path = path.parent_path() / fs::read_symlink(path, ignored); // an absolute one replaces all
    }
    return path;
}

void keep_owner_and_mode(int file, const fs::path& target) {
    struct stat old {};
    if (::stat(target.c_str(), &old) != 0) {
        return;
    }
    if (::fchown(file, old.st_uid, old.st_gid) != 0) {
        // only the administrator may give files away: then it stays the caller's
    }
    (void)::fchmod(file, old.st_mode & kModeBits); // last: a change of owner takes bits away
}

// Takes away a file that a writer left when it was killed; not one whose writer lives.
bool remove_left_over(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return errno == ENOENT;
    }
    struct stat opened {};
    struct stat named {};
    const bool dead = ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &opened) == 0 &&
                      ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
                      opened.st_dev == named.st_dev;
    const bool removed = dead && ::unlink(path.c_str()) == 0;
    ::close(file);
    return removed;
}

int copy_of(int from, int to) {
    std::array<char, std::size_t{1} << 16> block{};
    off_t at = 0;
    for (;;) {
        const ssize_t got = ::pread(from, block.data(), block.size(), at);
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got == 0) {
            return ::ftruncate(to, at) == 0 ? 0 : errno;
        }
        if (got > 0) {
            if (const int error = write_all(to, {block.data(), static_cast<std::size_t>(got)})) {
                return error;
            }
            at += got;
        }
    }
}

void sync_folder(const fs::path& folder) {
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
        (void)::fsync(opened); // the content is safe already; this is the name's turn
        ::close(opened);
    }
}

} // namespace

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : asked_(std::move(other.asked_)), target_(std::move(other.target_)),
      hidden_(std::exchange(other.hidden_, {})), buffer_(std::move(other.buffer_)),
      file_(std::exchange(other.file_, -1)), error_(other.error_), direct_(other.direct_),
      in_place_(other.in_place_) {}

AtomicFile::~AtomicFile() {
    if (file_ >= 0) {
        ::close(file_);
    }
    if (!hidden_.empty()) {
        ::unlink(hidden_.c_str());
    }
}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
    AtomicFile made;
    made.asked_ = path;
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (fs::is_directory(status)) {
        return Result<AtomicFile>(refusal(path, EISDIR));
    }
    made.direct_ = fs::exists(status) && !fs::is_regular_file(status);
    const auto target = behind_links(path);
    if (!target) {
        return Result<AtomicFile>(refusal(path, EACCES));
    }
    made.target_ = *target;
    if (fs::is_symlink(fs::symlink_status(made.target_, ignored))) {
        return Result<AtomicFile>(refusal(path, ELOOP));
    }
    if (made.direct_) {
        made.file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        made.error_ = made.file_ < 0 ? errno : 0;
    } else {
        made.open_beside();
    }
    if (made.error_ != 0) {
        return Result<AtomicFile>(refusal(path, made.error_));
    }
    return Result<AtomicFile>(std::move(made));
}

// A new file in the target's folder: without a name where that is possible. A kill leaves nothing.
void AtomicFile::open_beside() {
    constexpr mode_t kEverybody = 0666; // less the process's mask
    file_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kEverybody);
    if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        hidden_ = own_name_beside(target_, this);
        file_ = ::open(hidden_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kEverybody);
    }
    if (file_ < 0) {
        error_ = errno;
        hidden_.clear();
    }
    if (error_ == EROFS && ::access(target_.c_str(), W_OK) == 0) { // a mount of its own
        file_ = ::memfd_create("eyeroof", MFD_CLOEXEC);
        error_ = file_ < 0 ? errno : 0;
        in_place_ = true;
    }
}

bool AtomicFile::append(std::string_view bytes) {
    if (error_ != 0) {
        return false;
    }
    if (buffer_.size() + bytes.size() < kBufferBytes) {
        buffer_.append(bytes);
        return true;
    }
    error_ = flush();
    if (error_ == 0) {
        error_ = write_all(file_, bytes);
    }
    return error_ == 0;
}

int AtomicFile::flush() {
    const int error = write_all(file_, buffer_);
    buffer_.clear();
    return error;
}

Result<Done> AtomicFile::commit() {
    if (error_ == 0) {
        error_ = flush();
    }
    if (error_ == 0 && in_place_) {
        error_ = write_in_place();
    } else if (error_ == 0 && !direct_) {
        keep_owner_and_mode(file_, target_);
        error_ = synced(file_);
        error_ = error_ == 0 ? give_name() : error_;
    }
    const int closed = ::close(std::exchange(file_, -1));
    if (direct_ && error_ == 0 && closed != 0) {
        error_ = errno;
    }
    return error_ == 0 ? Written(Done{}) : Written(refusal(asked_, error_));
}

// The unnamed file gets the target's name: at once where there is no target yet, otherwise by a
// name beside it.
int AtomicFile::give_name() {
    if (!hidden_.empty()) {
        return replace_target(hidden_);
    }
    const std::string self = fmt::format("/proc/self/fd/{}", file_);
    const auto link_to = [&](const std::string& name) {
        const int done =
            ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
        return done == 0 ? 0 : errno;
    };
    int error = link_to(target_.string());
    if (error != EEXIST) {
        if (error == 0) {
            sync_folder(folder_of(target_));
        }
        return error;
    }
    (void)::flock(file_, LOCK_EX | LOCK_NB); // tells other writers that this one lives
    std::string beside = name_beside(target_);
    error = link_to(beside);
    if (error == EEXIST && remove_left_over(beside)) {
        error = link_to(beside);
    }
    if (error == EEXIST) { // another writer of the same target, in the same instant
        beside = own_name_beside(target_, this);
        error = link_to(beside);
    }
    return error == 0 ? replace_target(beside) : error;
}

int AtomicFile::replace_target(const std::string& beside) {
    int error = ::rename(beside.c_str(), target_.c_str()) == 0 ? 0 : errno;
    if (error == EBUSY || error == EXDEV) { // a mount of its own
        error = write_in_place();
        ::unlink(beside.c_str());
    } else if (error != 0) {
        ::unlink(beside.c_str());
    }
    hidden_.clear();
    if (error == 0) {
        sync_folder(folder_of(target_));
    }
    return error;
}

int AtomicFile::write_in_place() {
    const int to = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (to < 0) {
        return errno;
    }
    int error = copy_of(file_, to);
    error = error == 0 ? synced(to) : error;
    if (::close(to) != 0 && error == 0) {
        error = errno;
    }
    return error;
}

Result<Done> write_file(const fs::path& path, std::string_view text) {
    auto file = AtomicFile::create(path);
    if (!file) {
        return Written(file.diagnostics());
    }
    file->append(text);
    return file->commit();
}

} // namespace eyeroof
