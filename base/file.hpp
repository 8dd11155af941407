// Writing a file so that it is whole or untouched, whatever happens: a fault, a full disk, a kill.
// Every file that the program writes goes through here.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace eyeroof {

// Collects bytes in a file without a name (or, where the file system has none, with a hidden one in
// the same folder) and gives it the name in commit(), once everything lies on the disk. Without a
// commit nothing has happened. Links are followed; owner and permissions of a file that exists are
// kept. Devices and pipes are written directly; so is, at commit, a file that cannot be replaced
// because it is a mount of its own, with the new content beside it until that is done (in memory
// where the folder is read-only).
class AtomicFile {
  public:
    // Errors here and below: "cannot-write".
    static Result<AtomicFile> create(const std::filesystem::path& path);

    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    // False once something could not be written; commit() then says what.
    bool append(std::string_view bytes);
    Result<Done> commit();

  private:
    AtomicFile() = default;

    void open_beside();
    int give_name();
    int replace_target(const std::string& beside);
    int write_in_place();
    int flush();

    std::filesystem::path asked_;  // as the caller named it
    std::filesystem::path target_; // behind links
    std::string hidden_;           // the temporary file's path while it has one
    std::string buffer_;
    int file_ = -1;
    int error_ = 0;         // errno of what went wrong first
    bool direct_ = false;   // a device or pipe
    bool in_place_ = false; // a file in a folder that is read-only
};

// All of `text`, or nothing.
Result<Done> write_file(const std::filesystem::path& path, std::string_view text);

} // namespace eyeroof
