// The private folder in which the profiled program's collector leaves what it measured.
// Made by `eyeroof profile`; checked by the runner and by the injected library.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>

namespace eyeroof::profiles {

// A new folder that only this user may enter, in the folder for temporary files; removed with all
// in it. Error "cannot-write": there is no such folder, or nothing can be made in it.
// Those that killed runs have left are removed first: each holds a mark and a lock while it is in
// use.
class WorkFolder {
  public:
    static Result<WorkFolder> create();

    WorkFolder(WorkFolder&& other) noexcept;
    WorkFolder& operator=(WorkFolder&&) = delete;
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder();
    const std::filesystem::path& path() const { return path_; }

  private:
    WorkFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

    std::filesystem::path path_;
    int lock_ = -1; // held while this process lives
};

// A folder (or regular file), no link to one, that belongs to this user and that no one else may
// read, enter or change.
bool is_private_folder(const std::filesystem::path& path);
bool is_private_file(const std::filesystem::path& path);

// 32 hexadecimal digits that no one can guess.
std::string random_token();

} // namespace eyeroof::profiles
