#include "cli/program_main.hpp"

#include "cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

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
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    if (!program.empty()) {
        dirs.push_back((program.parent_path().parent_path() / "share/eyeroof").lexically_normal());
    }
    return dirs;
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

int run_process(int argc, char** argv, const Program& program) {
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
    environment.signal = [] { return signal_seen.load(); };
    environment.take_time_to_stop = [](std::chrono::milliseconds most) {
        ms_to_stop = most.count();
    };
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int exit = run_program(arguments, environment, program);
    const int signal = signal_seen.load();
    return signal == 0 ? exit : 128 + signal;
}

} // namespace eyeroof::cli
