// The program. The only place of the command line that reads the environment, the terminal and the
// program's own position on disk; everything else gets them as values.
#include "cli/command.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

int interrupt_pipe[2] = {-1, -1}; // a signal handler can reach nothing but globals

// The first Ctrl-C asks, the second does not.
extern "C" void on_interrupt(int) {
    static volatile std::sig_atomic_t seen = 0;
    if (seen != 0) {
        _exit(130);
    }
    seen = 1;
    const char byte = 'i';
    (void)!write(interrupt_pipe[1], &byte, 1);
}

// Turns SIGINT and SIGTERM into a stop request while it lives.
class InterruptWatch {
  public:
    InterruptWatch() {
        if (pipe(interrupt_pipe) != 0) {
            return; // Ctrl-C then ends the program at once, as without a handler
        }
        watcher_ = std::thread([this] {
            char byte = 0;
            if (read(interrupt_pipe[0], &byte, 1) == 1 && byte == 'i') {
                source_.request_stop();
            }
        });
        struct sigaction action {};
        action.sa_handler = on_interrupt;
        action.sa_flags = SA_RESTART;
        sigaction(SIGINT, &action, nullptr);
        sigaction(SIGTERM, &action, nullptr);
    }
    ~InterruptWatch() {
        if (watcher_.joinable()) {
            const char byte = 'q';
            (void)!write(interrupt_pipe[1], &byte, 1);
            watcher_.join();
        }
    }
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    std::stop_token token() const { return source_.get_token(); }

  private:
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
        "threads: " + std::to_string(std::thread::hardware_concurrency()) + " (oneTBB)",
    };
}

} // namespace

int main(int argc, char** argv) {
    const InterruptWatch interrupt;
    eyeroof::cli::Environment environment;
    environment.out = &std::cout;
    environment.err = &std::cerr;
    environment.out_is_terminal = isatty(STDOUT_FILENO) == 1;
    environment.err_is_terminal = isatty(STDERR_FILENO) == 1;
    environment.no_colour = !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
    environment.data_dirs = data_dirs();
    environment.built_in = built_in();
    environment.stop = interrupt.token();
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return eyeroof::cli::run_program(arguments, environment);
}
