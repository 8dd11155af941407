// What `profile` runs in the tests without a GPU: launches kernels of the stub driver, and does
// what programs do. stub_program MODE LAUNCHES
#include "tests/gpu/programs/stub_cuda.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" int cuInit(unsigned flags); // the driver's

namespace {

void launch(int count) {
    const char* const kernels[] = {"_Z4gemmPf", "_Z4gemmPf", "_Z6reducePf"};
    for (int i = 0; i < count; ++i) {
        stub_launch(kernels[i % 3], 64U + static_cast<unsigned>(i % 3), 128);
    }
}

void ready() {
    if (const char* const path = std::getenv("READY")) {
        std::fclose(std::fopen(path, "w"));
    }
}

int run_again(const char* program, const char* count) {
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, "launch", count, nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

} // namespace

int main(int count, char** words) {
    if (count != 3) {
        return 2;
    }
    const std::string mode = words[1];
    const int launches = std::atoi(words[2]);
    cuInit(0);
    if (mode == "exec") { // before anything was launched
        execl(words[0], words[0], "launch", words[2], nullptr);
        return 127;
    }
    if (mode == "threads") {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([launches] { launch(launches / 4); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        return 0;
    }
    launch(launches);
    if (mode == "fork") { // a child that goes on without exec, and is not the session's process
        const pid_t child = fork();
        if (child == 0) {
            launch(launches);
            std::exit(0);
        }
        waitpid(child, nullptr, 0);
    } else if (mode == "processes") {
        return run_again(words[0], words[2]) + run_again(words[0], words[2]);
    } else if (mode == "late-exec") {
        execl(words[0], words[0], "launch", words[2], nullptr);
    } else if (mode == "crash") {
        std::raise(SIGSEGV);
    } else if (mode == "abort") {
        std::abort();
    } else if (mode == "quick-exit") {
        _exit(0);
    } else if (mode == "hang") {
        ready();
        sleep(60);
    } else if (mode == "status") {
        return 7;
    }
    return 0;
}
