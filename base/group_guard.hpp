// A process group that ends with this process, however that ends. Used wherever programs are
// started that start others: a parent-death signal reaches only the first of them.
#pragma once

#include <sys/types.h>

namespace eyeroof {

// Its leader is a process that does nothing but wait: when the one that made it is gone, also by
// SIGKILL, it kills the whole group. It ignores every other signal that a group can be sent, and
// holds no file open. While it lives no other group gets its number.
class GroupGuard {
  public:
    // Must be made and destroyed by the same thread, which waits for the group's processes.
    GroupGuard();
    ~GroupGuard(); // kills what is left of the group
    GroupGuard(const GroupGuard&) = delete;
    GroupGuard& operator=(const GroupGuard&) = delete;

    // The group that a process joins with setpgid(); -1: no process could be made, errno says why.
    pid_t group() const { return leader_; }
    void let_go(); // ends the guard alone: what is left of the group lives on

  private:
    void end(pid_t whom);

    pid_t leader_ = -1;
};

} // namespace eyeroof
