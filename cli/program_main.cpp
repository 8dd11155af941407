#include "cli/program_main.hpp"

#include "cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace cli = eyeroof::cli;
using eyeroof::Result;

// A signal handler can reach nothing but globals.
int signal_pipe[2] = {-1, -1};
std::atomic<int> signal_seen{0};
std::atomic<long> ms_to_stop{30}; // from a signal to the end that is forced

// The first signal asks, the second does not.
extern "C" void on_signal(int signal) {
    if (signal_seen.exchange(signal) != 0) {
        _exit(128 + signal);
    }
    const char byte = 's';
    (void)!write(signal_pipe[1], &byte, 1);
}

// Turns SIGINT, SIGTERM and SIGHUP into a stop request while it lives. A command that does not come
// back in time is ended: files are whole or untouched at every instant, so nothing is lost.
class SignalWatch {
  public:
    SignalWatch() {
        if (pipe2(signal_pipe, O_CLOEXEC) != 0) {
            return; // a signal then ends the program at once, as without a handler
        }
        watcher_ = std::thread([this] { watch(); });
        struct sigaction action {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        sigaction(SIGINT, &action, nullptr);
        sigaction(SIGTERM, &action, nullptr);
        struct sigaction before {};
        sigaction(SIGHUP, nullptr, &before);
        if (before.sa_handler != SIG_IGN) { // nohup
            sigaction(SIGHUP, &action, nullptr);
        }
    }
    ~SignalWatch() {
        if (watcher_.joinable()) {
            const char byte = 'q';
            (void)!write(signal_pipe[1], &byte, 1);
            watcher_.join();
        }
    }
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    std::stop_token token() const { return source_.get_token(); }

  private:
    void watch() {
        char byte = 0;
        ssize_t got = 0;
        do {
            got = read(signal_pipe[0], &byte, 1);
        } while (got < 0 && errno == EINTR);
        if (got != 1 || byte != 's') {
            return;
        }
        source_.request_stop();
        pollfd ended{signal_pipe[0], POLLIN, 0};
        const auto asked = std::chrono::steady_clock::now();
        const auto left = [&] {
            const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::steady_clock::now() - asked);
            return static_cast<int>(ms_to_stop.load() - spent.count());
        };
        while (left() > 0) {
            if (poll(&ended, 1, left()) > 0) {
                return; // the command came back
            }
        }
        constexpr std::string_view kTold = "eyeroof: stopped by a signal\n";
        (void)!write(STDERR_FILENO, kTold.data(), kTold.size());
        _exit(128 + signal_seen.load());
    }

    std::stop_source source_;
    std::thread watcher_;
};

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string(value);
}

fs::path own_folder() {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

// <prefix>/libexec/eyeroof: what `eyeroof` starts lies there when installed.
constexpr const char* kStarted = "libexec/eyeroof";

// The user's data first, then what lies beside the program: <prefix>/bin/../share when installed,
// <build>/cli/../share (links into the sources) when just built.
std::vector<fs::path> data_dirs() {
    std::vector<fs::path> dirs;
    const std::string xdg = variable("XDG_DATA_HOME");
    const std::string home = variable("HOME");
    if (!xdg.empty()) {
        dirs.push_back(fs::path(xdg) / "eyeroof");
    } else if (!home.empty()) {
        dirs.push_back(fs::path(home) / ".local/share/eyeroof");
    }
    if (fs::path folder = own_folder(); !folder.empty()) {
        const bool started = folder.parent_path().filename() / folder.filename() == kStarted;
        folder = started ? folder.parent_path() : folder;
        dirs.push_back((folder.parent_path() / "share/eyeroof").lexically_normal());
    }
    return dirs;
}

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Takes this process's place. From here on a signal ends it as it ends any program: those that came
// before are answered here. Gives the exit code of these, or -1 where the program cannot be run.
int become(const fs::path& program, char* const* words) {
    for (const int signal : kStopSignals) {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        if (now.sa_handler != SIG_IGN) {
            std::signal(signal, SIG_DFL);
        }
    }
    if (const int seen = signal_seen.load(); seen != 0) {
        return 128 + seen;
    }
    execv(program.c_str(), words);
    return -1;
}

std::string contents_of(int file) {
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, lseek(file, 0, SEEK_END))), '\0');
    const ssize_t got = pread(file, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    return text;
}

// As a child that ends with this process; what it says goes where this one's words go. -1: it
// cannot be run.
int run_child(const fs::path& program, char* const* words, const cli::Environment& here) {
    constexpr int kNotRun = 127;
    const int out = memfd_create("stdout", MFD_CLOEXEC);
    const int err = memfd_create("stderr", MFD_CLOEXEC);
    const pid_t child = out < 0 || err < 0 ? -1 : fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        execv(program.c_str(), words);
        _exit(kNotRun);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0) {
        *here.out << contents_of(out);
        *here.err << contents_of(err);
    }
    close(out);
    close(err);
    const bool ran = child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == kNotRun);
    return !ran ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Another program of ours: beside this one, or where an installation keeps it.
Result<int> start(const std::string& name, const std::vector<std::string>& arguments,
                  const cli::Environment& here) {
    const fs::path folder = own_folder();
    const fs::path installed = (folder.parent_path() / kStarted).lexically_normal();
    fs::path program = folder / name;
    if (access(program.c_str(), X_OK) != 0) {
        program = installed / name;
    }
    std::vector<std::string> all = {name};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> words;
    for (std::string& word : all) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    const bool alone = here.out == &std::cout; // what it says is not caught
    const bool there = access(program.c_str(), X_OK) == 0;
    const int exit = !there  ? -1
                     : alone ? become(program, words.data())
                             : run_child(program, words.data(), here);
    if (exit >= 0) {
        return exit;
    }
    return there ? Result<int>::failure("unavailable",
                                        fmt::format("'{}' cannot be run: {}", program.string(),
                                                    std::strerror(errno)))
                 : Result<int>::failure(
                       "unavailable",
                       fmt::format("this is the program {}, which is neither in '{}' nor in '{}'",
                                   name, folder.string(), installed.string()),
                       "in the sources, `./bootstrap tune` builds it; packages have it");
}

std::vector<std::string> built_in() {
    return {
        std::string("desktop explorer (Qt): ") +
            (EYEROOF_HAS_GUI ? "built, run eyeroof-gui" : "not built"),
        std::string("GPU counters (CUDA/CUPTI): ") + (EYEROOF_HAS_CUDA
                                                          ? "built in, loaded when there is a GPU"
                                                          : "not built in; recorded "
                                                            "profiles can be imported"),
        "threads: " + std::to_string(std::thread::hardware_concurrency()),
    };
}

// $COLUMNS, else of the terminal on stdout; 0 where there is none.
std::size_t columns() {
    const std::string set = variable("COLUMNS");
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(set.data(), set.data() + set.size(), count);
    if (error == std::errc{} && end == set.data() + set.size()) {
        return count;
    }
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace

namespace eyeroof::cli {

int run_process(int argc, char** argv, const Program& program,
                const std::function<void(Environment&)>& adapt) {
    const SignalWatch watch;
    Environment environment;
    environment.out = &std::cout;
    environment.err = &std::cerr;
    environment.out_is_terminal = isatty(STDOUT_FILENO) == 1;
    environment.err_is_terminal = isatty(STDERR_FILENO) == 1;
    environment.columns = columns();
    environment.no_colour = !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
    environment.data_dirs = data_dirs();
    environment.built_in = built_in();
    environment.stop = watch.token();
    environment.start = start;
    environment.signal = [] { return signal_seen.load(); };
    environment.take_time_to_stop = [](std::chrono::milliseconds most) {
        ms_to_stop = most.count();
    };
    if (adapt) {
        adapt(environment);
    }
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int exit = run_program(arguments, environment, program);
    const int signal = signal_seen.load();
    return signal == 0 ? exit : 128 + signal;
}

} // namespace eyeroof::cli
