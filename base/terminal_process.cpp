#include "base/terminal_process.hpp"

#include "base/exec_texts.hpp"
#include "base/group_guard.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

namespace eyeroof {

namespace {

using Clock = std::chrono::steady_clock;

// The terminal on stdin, where the caller holds it: lent to the child's group.
class Terminal {
  public:
    Terminal() : ours_(::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) {}
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() { give_to(::getpgrp()); }

    bool ours() const { return ours_; }
    void give_to(pid_t group) const {
        if (!ours_) {
            return;
        }
        sigset_t background;
        sigset_t before;
        sigemptyset(&background);
        sigaddset(&background, SIGTTOU);
        pthread_sigmask(SIG_BLOCK, &background, &before);
        ::tcsetpgrp(STDIN_FILENO, group);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

  private:
    bool ours_;
};

// In the child, between fork and exec: nothing here allocates. Never returns.
[[noreturn]] void become(const ExecTexts& texts, bool empty_stdin, pid_t parent, pid_t group,
                         int tell) {
    ::setpgid(0, group);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(128 + SIGKILL); // the parent went before the line above
    }
    if (empty_stdin) {
        const int nothing = ::open("/dev/null", O_RDONLY);
        if (nothing >= 0) {
            ::dup2(nothing, STDIN_FILENO);
        }
    }
    ::execvpe(texts.words()[0], texts.words(), texts.environment());
    const int error = errno;
    (void)!::write(tell, &error, sizeof error);
    ::_exit(127);
}

// The errno of an exec that failed; 0 when the program runs.
int exec_error(int pipe) {
    int error = 0;
    ssize_t got = 0;
    do {
        got = ::read(pipe, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

class Child {
  public:
    Child(pid_t child, pid_t group, const Terminal& terminal, const StopPlan& plan)
        : child_(child), group_(group), terminal_(terminal), plan_(plan) {}

    ChildEnd wait(const std::stop_token& stop) {
        constexpr auto kPoll = std::chrono::milliseconds(5);
        ChildEnd end;
        end.started = true;
        int status = 0;
        for (;;) {
            const pid_t got = ::waitpid(child_, &status, WNOHANG | WUNTRACED);
            if (got == child_ && WIFSTOPPED(status)) {
                step_aside();
                continue;
            }
            if (got == child_ || (got < 0 && errno != EINTR)) {
                break;
            }
            if (stop.stop_requested()) {
                press();
            }
            std::this_thread::sleep_for(kPoll);
        }
        end.cancelled =
            pressed_ > 0 || (terminal_.ours() && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
        if (pressed_ > 0) {
            ::kill(-group_, SIGKILL); // what the program itself has started and left
        }
        constexpr int kSignalBase = 128;
        end.status = WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
        return end;
    }

  private:
    // The caller's signal once, then SIGTERM, then SIGKILL.
    void press() {
        const auto now = Clock::now();
        if (pressed_ > 2 || now < next_) {
            return;
        }
        const int asked = plan_.signal ? plan_.signal() : SIGINT;
        const int signals[] = {asked == 0 ? SIGINT : asked, SIGTERM, SIGKILL};
        ::kill(-group_, signals[pressed_]);
        ++pressed_;
        const bool patient = plan_.has_results && plan_.has_results();
        next_ = now + (patient ? plan_.long_step : plan_.step);
    }

    // Ctrl-Z in a terminal that the child holds stops the caller too, and both go on together.
    void step_aside() const {
        if (!terminal_.ours()) {
            return;
        }
        terminal_.give_to(::getpgrp());
        ::raise(SIGSTOP);
        terminal_.give_to(group_);
        ::kill(-group_, SIGCONT);
    }

    pid_t child_;
    pid_t group_;
    const Terminal& terminal_;
    const StopPlan& plan_;
    int pressed_ = 0;
    Clock::time_point next_{};
};

ChildEnd failed(int error) {
    ChildEnd end;
    end.why = std::strerror(error);
    end.status = error == ENOENT ? 127 : 126; // as a shell
    return end;
}

} // namespace

ChildEnd run_in_terminal(const ChildCommand& command, const std::stop_token& stop,
                         const StopPlan& plan) {
    const ExecTexts texts(command.words, command.environment);
    const Terminal terminal;
    GroupGuard guard; // ends the program, and what it has started, when this process is killed
    if (guard.group() < 0) {
        return failed(errno);
    }
    int tell[2] = {-1, -1};
    if (::pipe2(tell, O_CLOEXEC) != 0) {
        return failed(errno);
    }
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        become(texts, command.empty_stdin, parent, guard.group(), tell[1]);
    }
    const int fork_error = child < 0 ? errno : 0;
    ::close(tell[1]);
    int error = fork_error;
    if (child > 0) {
        ::setpgid(child, guard.group()); // both do: the first call counts
        terminal.give_to(guard.group());
        error = exec_error(tell[0]);
    }
    ::close(tell[0]);
    if (error != 0) {
        if (child > 0) {
            ::waitpid(child, nullptr, 0);
        }
        return failed(error);
    }
    const ChildEnd end = Child(child, guard.group(), terminal, plan).wait(stop);
    if (!end.cancelled) {
        guard.let_go(); // a program may leave others behind, as without us
    }
    return end;
}

} // namespace eyeroof
