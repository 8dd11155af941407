#include "profiles/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

class GzFileSource final : public ByteSource {
  public:
    GzFileSource(std::string name, gzFile file) : ByteSource(std::move(name)), file_(file) {}
    ~GzFileSource() override { gzclose(file_); }
    GzFileSource(const GzFileSource&) = delete;
    GzFileSource& operator=(const GzFileSource&) = delete;

  protected:
    std::size_t read(char* block, std::size_t size) override {
        const int got = gzread(file_, block, static_cast<unsigned>(size));
        int code = Z_OK;
        const char* message = gzerror(file_, &code);
        if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
            fail(code == Z_BUF_ERROR ? "the compressed data end in the middle" : message);
            return got > 0 ? static_cast<std::size_t>(got) : 0;
        }
        return static_cast<std::size_t>(got);
    }

  private:
    gzFile file_; // owned
};

class TextSource final : public ByteSource {
  public:
    TextSource(std::string_view text, std::string name)
        : ByteSource(std::move(name)), text_(text) {}

  protected:
    std::size_t read(char* block, std::size_t size) override {
        const std::size_t got = std::min(size, text_.size() - at_);
        std::copy_n(text_.data() + at_, got, block);
        at_ += got;
        return got;
    }

  private:
    std::string text_;
    std::size_t at_ = 0;
};

// Unpacks gzip that lies in memory.
class GzTextSource final : public ByteSource {
  public:
    GzTextSource(std::string_view text, std::string name)
        : ByteSource(std::move(name)), text_(text) {
        constexpr int kGzipHeader = 16;
        ready_ = inflateInit2(&stream_, MAX_WBITS + kGzipHeader) == Z_OK;
        stream_.next_in = reinterpret_cast<Bytef*>(text_.data()); // NOLINT: zlib's type
        stream_.avail_in = static_cast<uInt>(text_.size());
    }
    ~GzTextSource() override { inflateEnd(&stream_); }
    GzTextSource(const GzTextSource&) = delete;
    GzTextSource& operator=(const GzTextSource&) = delete;

  protected:
    std::size_t read(char* block, std::size_t size) override {
        if (!ready_ || ended_) {
            return 0;
        }
        stream_.next_out = reinterpret_cast<Bytef*>(block); // NOLINT: zlib's type
        stream_.avail_out = static_cast<uInt>(size);
        const int code = inflate(&stream_, Z_NO_FLUSH);
        ended_ = code == Z_STREAM_END;
        if (code != Z_OK && code != Z_STREAM_END) {
            fail(code == Z_BUF_ERROR ? "the compressed data end in the middle"
                                     : "the compressed data are damaged");
            ended_ = true;
        }
        return size - stream_.avail_out;
    }

  private:
    std::string text_;
    z_stream stream_{};
    bool ready_ = false;
    bool ended_ = false;
};

} // namespace

model::Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
    using Opened = model::Result<std::unique_ptr<ByteSource>>;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return Opened::failure("cannot-open", "'" + path + "' is a directory");
    }
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) {
        return Opened::failure("cannot-open", "'" + path + "' cannot be opened",
                               "does the file exist, and may you read it?");
    }
    gzbuffer(file, static_cast<unsigned>(kBlockBytes));
    return Opened(std::make_unique<GzFileSource>(path, file));
}

std::unique_ptr<ByteSource> ByteSource::of_text(std::string_view text, std::string name) {
    constexpr std::string_view kGzipMagic = "\x1f\x8b";
    if (text.starts_with(kGzipMagic) && text.size() < std::numeric_limits<uInt>::max()) {
        return std::make_unique<GzTextSource>(text, std::move(name));
    }
    return std::make_unique<TextSource>(text, std::move(name));
}

bool ByteSource::refill() {
    if (!failure_.empty()) {
        return false;
    }
    const auto newlines = std::ranges::count(block_, '\n');
    const std::size_t last = block_.rfind('\n');
    lines_before_ += static_cast<int>(newlines);
    column_before_ =
        last == std::string_view::npos ? column_before_ + block_.size() : block_.size() - last - 1;
    store_.resize(kBlockBytes);
    const std::size_t got = read(store_.data(), store_.size());
    block_ = std::string_view(store_.data(), got);
    cursor_ = 0;
    return got > 0;
}

bool ByteSource::get_line(std::string& line) {
    line.clear();
    line_was_ended_ = false;
    bool any = false;
    while (cursor_ < block_.size() || refill()) {
        any = true;
        const std::size_t end = block_.find('\n', cursor_);
        const std::size_t stop = end == std::string_view::npos ? block_.size() : end;
        line.append(block_.substr(cursor_, stop - cursor_));
        cursor_ = stop;
        if (end != std::string_view::npos) {
            line_was_ended_ = true;
            ++cursor_;
            break;
        }
    }
    if (line.ends_with('\r')) {
        line.pop_back();
    }
    return any;
}

model::SourceLocation ByteSource::here() const {
    const std::size_t at = cursor_ > 0 ? cursor_ - 1 : 0;
    const std::string_view before = block_.substr(0, at);
    const std::size_t last = before.rfind('\n');
    const std::size_t column = last == std::string_view::npos ? column_before_ + at + 1 : at - last;
    const auto lines = static_cast<int>(std::ranges::count(before, '\n'));
    return {name_, lines_before_ + lines + 1,
            static_cast<int>(std::min<std::size_t>(column, 1U << 30U))};
}

} // namespace eyeroof::profiles
