// Preloaded into a program, it makes the N-th call that changes a file go wrong: the process is
// killed just before it or just after it, the disk is full, the device fails, or a write is short.
// Used by tests/faults/run.sh. FAULT_AT=N (from 1), FAULT_KIND=before|after|ENOSPC|EIO|short;
// FAULT_COUNT=FILE takes the number of calls at the program's end.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class Function> Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)); // NOLINT: what dlsym is for
}

enum class Turn { ordinary, after, fail, shortened };

int calls = 0;

// What happens to this call; errno is set for Turn::fail.
Turn next_call() {
    static const char* const at = std::getenv("FAULT_AT");
    static const char* const kind = std::getenv("FAULT_KIND");
    ++calls;
    if (at == nullptr || kind == nullptr) {
        return Turn::ordinary;
    }
    const int first = std::atoi(at);
    if (std::strcmp(kind, "short") == 0) {
        return calls >= first ? Turn::shortened : Turn::ordinary;
    }
    if (std::strcmp(kind, "ENOSPC") == 0 || std::strcmp(kind, "EIO") == 0) {
        errno = kind[1] == 'N' ? ENOSPC : EIO;
        return calls >= first ? Turn::fail : Turn::ordinary; // a full disk stays full
    }
    if (calls == first && std::strcmp(kind, "before") == 0) {
        raise(SIGKILL);
    }
    return calls == first ? Turn::after : Turn::ordinary;
}

template <class Call> auto changed(Call call) -> decltype(call()) {
    const Turn turn = next_call();
    if (turn == Turn::fail) {
        return -1;
    }
    const auto result = call();
    if (turn == Turn::after) {
        raise(SIGKILL);
    }
    return result;
}

bool is_file(int descriptor) {
    struct stat found {};
    return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
}

struct Teller {
    ~Teller() {
        const char* const name = std::getenv("FAULT_COUNT");
        std::FILE* file = name == nullptr ? nullptr : std::fopen(name, "w");
        if (file != nullptr) {
            std::fprintf(file, "%d\n", calls);
            std::fclose(file);
        }
    }
} teller;

} // namespace

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t size) {
    static const auto original = real<ssize_t (*)(int, const void*, std::size_t)>("write");
    if (!is_file(file)) {
        return original(file, bytes, size);
    }
    const Turn turn = next_call();
    if (turn == Turn::fail) {
        return -1;
    }
    const ssize_t done =
        original(file, bytes, turn == Turn::shortened && size > 1 ? size / 2 : size);
    if (turn == Turn::after) {
        raise(SIGKILL);
    }
    return done;
}

int fsync(int file) {
    static const auto original = real<int (*)(int)>("fsync");
    return changed([&] { return original(file); });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    static const auto original = real<int (*)(int, const char*, int, const char*, int)>("linkat");
    return changed([&] { return original(from_folder, from, to_folder, to, flags); });
}

int rename(const char* from, const char* to) {
    static const auto original = real<int (*)(const char*, const char*)>("rename");
    return changed([&] { return original(from, to); });
}

int unlink(const char* name) {
    static const auto original = real<int (*)(const char*)>("unlink");
    return changed([&] { return original(name); });
}

int fchmod(int file, mode_t mode) {
    static const auto original = real<int (*)(int, mode_t)>("fchmod");
    return changed([&] { return original(file, mode); });
}

int fchown(int file, uid_t user, gid_t group) {
    static const auto original = real<int (*)(int, uid_t, gid_t)>("fchown");
    return changed([&] { return original(file, user, group); });
}
}
