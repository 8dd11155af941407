// A model's file, mapped into memory: of weights that no shape needs not a byte
// is read, and what was read is given back.
#include "formats/onnx/convert.hpp"
#include "formats/onnx/read_graph.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace eyeroof::formats::onnx {

namespace {

class MappedFile {
  public:
    explicit MappedFile(const std::filesystem::path& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        struct stat status {};
        regular_ =
            descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
        size_ = regular_ ? static_cast<std::size_t>(status.st_size) : 0;
        if (size_ > 0) {
            void* start = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
            start_ = start == MAP_FAILED ? nullptr : static_cast<const char*>(start);
        }
    }
    ~MappedFile() {
        if (start_ != nullptr) {
            ::munmap(const_cast<char*>(start_), size_);
        }
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    bool regular() const { return regular_; }
    std::string_view bytes() const {
        return start_ == nullptr ? std::string_view() : std::string_view(start_, size_);
    }

    // Of whole pages, and of what parse_onnx() read since the last call.
    void forget_until(const char* until) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        const std::size_t end = static_cast<std::size_t>(until - start_) / page * page;
        if (end > forgotten_) {
            ::madvise(const_cast<char*>(start_) + forgotten_, end - forgotten_, MADV_DONTNEED);
            forgotten_ = end;
        }
    }

  private:
    int descriptor_;
    bool regular_ = false;
    std::size_t size_ = 0, forgotten_ = 0;
    const char* start_ = nullptr;
};

} // namespace

bool is_onnx_file(const std::filesystem::path& path) {
    const MappedFile file(path);
    return file.regular() &&
           (path.extension() == ".onnx" || looks_like_onnx(file.bytes().substr(0, 64)));
}

Result<ConvertedModel> load_onnx(const std::filesystem::path& path, const Sizes& given) {
    MappedFile file(path);
    if (!file.regular()) {
        return Result<ConvertedModel>::failure("file-not-found", "there is no such file",
                                               "check the path", {path.string(), 0, 0});
    }
    return parse_onnx(file.bytes(), path.string(), given,
                      [&file](const char* until) { file.forget_until(until); });
}

} // namespace eyeroof::formats::onnx
