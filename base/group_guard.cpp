#include "base/group_guard.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace eyeroof {

namespace {

// After a fork of a program with threads, with every signal blocked: nothing here allocates or
// locks. Never returns.
[[noreturn]] void guard(pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
    ::prctl(PR_SET_NAME, "eyeroof-guard");
    ::syscall(SYS_close_range, 0U, ~0U, 0U); // a held end of a pipe would keep its reader waiting
    sigset_t death;
    sigemptyset(&death);
    sigaddset(&death, SIGUSR1);
    while (::getppid() == parent) { // else the signal came from elsewhere
        ::sigwaitinfo(&death, nullptr);
    }
    ::kill(0, SIGKILL);
    ::_exit(1);
}

} // namespace

GroupGuard::GroupGuard() {
    const pid_t parent = ::getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all,
                      &before); // a new guard must not run this process's handlers
    leader_ = ::fork();
    if (leader_ == 0) {
        guard(parent);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (leader_ > 0) {
        ::setpgid(leader_, leader_); // both do: the first call counts
    }
}

GroupGuard::~GroupGuard() {
    end(-leader_);
}

void GroupGuard::let_go() {
    end(leader_);
}

void GroupGuard::end(pid_t whom) {
    if (leader_ <= 0) {
        return;
    }
    ::kill(whom, SIGKILL);
    while (::waitpid(leader_, nullptr, 0) < 0 && errno == EINTR) {
    }
    leader_ = -1;
}

} // namespace eyeroof
