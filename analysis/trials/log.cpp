// Logs as files.
#include "analysis/trials/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace eyeroof::analysis::tune {

namespace {

constexpr off_t kMostBytes = off_t{1} << 31;

// All bytes of an open file; its error number instead.
std::pair<std::string, int> contents(int file) {
    struct stat found {};
    if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
        return {{}, S_ISREG(found.st_mode) ? errno : EINVAL};
    }
    if (found.st_size > kMostBytes) {
        return {{}, EFBIG};
    }
    std::string text(static_cast<std::size_t>(found.st_size), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t got =
            ::pread(file, text.data() + have, text.size() - have, static_cast<off_t>(have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return {text, 0};
}

constexpr const char* kLogHint = "a log is what `eyeroof tune --log` writes";
constexpr const char* kPlaceHint = "name a file in a folder that is there and can be written";

} // namespace

Result<std::vector<TrialLine>> load_trials(const std::filesystem::path& path) {
    using Made = Result<std::vector<TrialLine>>;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return Made::failure(
            "cannot-read", fmt::format("'{}': {}", path.string(), std::strerror(errno)), kLogHint);
    }
    const auto [text, error] = contents(file);
    ::close(file);
    if (error != 0) {
        return Made::failure(
            "cannot-read", fmt::format("'{}': {}", path.string(), std::strerror(error)), kLogHint);
    }
    return parse_trials(text, path.string());
}

TrialLog::TrialLog(TrialLog&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)),
      before_(std::move(other.before_)) {}

TrialLog::~TrialLog() {
    if (file_ >= 0) {
        ::close(file_);
    }
}

Result<TrialLog> TrialLog::open(const std::filesystem::path& path) {
    using Made = Result<TrialLog>;
    TrialLog log;
    log.path_ = path;
    log.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (log.file_ < 0) {
        return Made::failure("cannot-write",
                             fmt::format("'{}': {}", path.string(), std::strerror(errno)),
                             kPlaceHint);
    }
    if (::flock(log.file_, LOCK_EX | LOCK_NB) != 0) {
        return Made::failure("in-use",
                             fmt::format("'{}' is being written by another run", path.string()),
                             "use another log; logs can be merged");
    }
    const auto [text, error] = contents(log.file_);
    if (error != 0) {
        return Made::failure("cannot-write",
                             fmt::format("'{}': {}", path.string(), std::strerror(error)),
                             kPlaceHint);
    }
    auto lines = parse_trials(text, path.string());
    if (!lines) {
        return Made(lines.diagnostics());
    }
    const auto whole = static_cast<off_t>(text.rfind('\n') + 1); // 0 without any
    if (::ftruncate(log.file_, whole) != 0 || ::lseek(log.file_, whole, SEEK_SET) < 0) {
        return Made::failure("cannot-write",
                             fmt::format("'{}': {}", path.string(), std::strerror(errno)),
                             kPlaceHint);
    }
    log.before_ = *std::move(lines);
    Diagnostics warnings = lines.diagnostics();
    return {std::move(log), std::move(warnings)};
}

Result<Done> TrialLog::append(const TrialLine& line) {
    const std::string text = trial_text(line);
    const off_t at = ::lseek(file_, 0, SEEK_CUR);
    const ssize_t written = ::write(file_, text.data(), text.size());
    const bool whole = written == static_cast<ssize_t>(text.size());
    if (whole && ::fsync(file_) == 0) {
        return Done{};
    }
    const int error = written < 0 || whole ? errno : ENOSPC;
    if (::ftruncate(file_, at) == 0) {
        ::lseek(file_, at, SEEK_SET);
    }
    return Result<Done>::failure(
        "cannot-write", fmt::format("'{}': {}", path_.string(), std::strerror(error)),
        "the log so far is kept; free disk space, then run the same command again");
}

} // namespace eyeroof::analysis::tune
