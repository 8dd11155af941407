#include "base/process.hpp"

#include "base/exec_texts.hpp"
#include "base/group_guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace eyeroof {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = 65536;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Starts the program in the group with both outputs in `write_end`; its id, or minus an errno.
pid_t spawned(const std::vector<std::string>& words, const std::filesystem::path& folder,
              int write_end, pid_t group) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, write_end, 1);
    posix_spawn_file_actions_adddup2(&actions, write_end, 2);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, group);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        sigaddset(&usual, signal);
    }
    posix_spawnattr_setsigdefault(&attributes, &usual);
    // a killed compiler leaves its temporary files in the folder
    const ExecTexts texts(words, {{"TMPDIR", folder.string()}});
    pid_t child = -1;
    const int failed = posix_spawnp(&child, texts.words()[0], &actions, &attributes, texts.words(),
                                    texts.environment());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed == 0 ? child : -failed;
}

// Runs the function in a copy of this process; the copy's id, or minus an errno.
pid_t forked(const std::function<int(int)>& body, int write_end, pid_t group) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child != 0) {
        if (child > 0) {
            ::setpgid(child, group); // both do: the first call counts
        }
        return child > 0 ? child : -errno;
    }
    ::setpgid(0, group);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
        ::signal(signal, SIG_DFL);
    }
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::_exit(::getppid() == parent ? body(write_end) : 1);
}

// Reads until the other end is closed, the time is over or a stop is asked for.
void listen(int read_end, double limit_s, const std::stop_token& stop, ProcessEnd& end) {
    const auto start = Clock::now();
    std::array<char, 4096> some{};
    while (true) {
        constexpr int kLook_ms = 20; // how soon a stop is seen
        pollfd ready{read_end, POLLIN, 0};
        const int polled = ::poll(&ready, 1, kLook_ms);
        if (polled > 0) {
            const ssize_t got = ::read(read_end, some.data(), some.size());
            if (got == 0 || (got < 0 && errno != EINTR)) {
                return;
            }
            const auto room = kMostOutput - std::min(kMostOutput, end.output.size());
            end.output.append(some.data(),
                              std::min(room, static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
        }
        end.timed_out = since(start) > limit_s;
        end.stopped = stop.stop_requested();
        if (end.timed_out || end.stopped) {
            return;
        }
    }
}

// Gives a child that closed its outputs until the limit to end.
void await(pid_t child, pid_t group, double limit_s, const std::stop_token& stop,
           Clock::time_point start, ProcessEnd& end, int& status) {
    while (!end.timed_out && !end.stopped) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            return;
        }
        constexpr int kLook_ms = 1;
        ::poll(nullptr, 0, kLook_ms);
        end.timed_out = since(start) > limit_s;
        end.stopped = stop.stop_requested();
    }
    ::kill(-group, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
}

ProcessEnd not_started(int error) {
    ProcessEnd end;
    end.why = std::strerror(error);
    return end;
}

using Start = std::function<pid_t(int write_end, pid_t group)>;

// Starts a process that writes to the file it is given, and stays with it to its end.
ProcessEnd attended(const Start& start_it, double limit_s, const std::stop_token& stop) {
    const GroupGuard guard; // kills whatever it has started
    const pid_t group = guard.group();
    std::array<int, 2> ends{};
    if (group < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return not_started(errno);
    }
    ProcessEnd end;
    const auto start = Clock::now();
    const pid_t child = start_it(ends[1], group);
    ::close(ends[1]);
    end.started = child > 0;
    if (end.started) {
        int status = 0;
        listen(ends[0], limit_s, stop, end);
        await(child, group, limit_s, stop, start, end, status);
        end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    } else {
        end = not_started(-child);
    }
    ::close(ends[0]);
    end.seconds = since(start);
    return end;
}

} // namespace

ProcessEnd run_captured(const std::vector<std::string>& words, const std::filesystem::path& folder,
                        double limit_s, const std::stop_token& stop) {
    if (words.empty()) {
        return {};
    }
    return attended(
        [&](int write_end, pid_t group) { return spawned(words, folder, write_end, group); },
        limit_s, stop);
}

ProcessEnd run_forked(const std::function<int(int)>& body, double limit_s,
                      const std::stop_token& stop) {
    return attended([&](int write_end, pid_t group) { return forked(body, write_end, group); },
                    limit_s, stop);
}

double seconds_left(double limit_s, const Deadline& deadline) {
    if (!deadline) {
        return limit_s;
    }
    const double left = std::chrono::duration<double>(*deadline - Clock::now()).count();
    return std::max(0.0, std::min(limit_s, left));
}

bool is_over(const Deadline& deadline) {
    return deadline && Clock::now() >= *deadline;
}

std::string signal_text(int signal) {
    const char* name = sigabbrev_np(signal);
    return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

} // namespace eyeroof
