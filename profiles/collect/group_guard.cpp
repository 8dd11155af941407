#include "profiles/collect/group_guard.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace eyeroof::profiles {

namespace {

// After a fork of a program with threads: nothing here allocates or locks. Never returns.
[[noreturn]] void guard(pid_t parent) {
    ::setpgid(0, 0);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
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
    leader_ = ::fork();
    if (leader_ == 0) {
        guard(parent);
    }
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

} // namespace eyeroof::profiles
