#include "profiles/byte_source.hpp"

#include "base/plain_text.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 26;
// What comes out of a packed file: any amount up to the first, then at most so many times its size,
// and never more than the last.
constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMostExpansion = 200;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30U;

bool expands_too_much(std::uint64_t packed, std::uint64_t unpacked) {
    return unpacked > kMostBytes || (unpacked > kFreeBytes && unpacked / kMostExpansion > packed);
}

constexpr const char* kExpansion = "the compressed data unpack to more than 200 times their size";

class GzFileSource final : public ByteSource {
  public:
    GzFileSource(const std::string& name, gzFile file) : ByteSource(name), file_(file) {
        std::error_code unknown;
        const auto size = std::filesystem::file_size(name, unknown);
        size_ = unknown ? 0.0 : static_cast<double>(size);
    }
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
        unpacked_ += static_cast<std::uint64_t>(got);
        if (gzdirect(file_) == 0 && got > 0) {
            const auto packed = gzoffset(file_);
            if (packed > 0 && expands_too_much(static_cast<std::uint64_t>(packed), unpacked_)) {
                fail(kExpansion);
                return 0;
            }
        }
        return static_cast<std::size_t>(got);
    }

    double share_read() const override {
        return size_ > 0 ? std::min(1.0, static_cast<double>(gzoffset(file_)) / size_) : 0.0;
    }

  private:
    gzFile file_;       // owned
    double size_ = 0.0; // packed
    std::uint64_t unpacked_ = 0;
};

class TextSource final : public ByteSource {
  public:
    TextSource(std::shared_ptr<const std::string> text, std::string name)
        : ByteSource(std::move(name)), text_(std::move(text)) {}

  protected:
    std::size_t read(char* block, std::size_t size) override {
        const std::size_t got = std::min(size, text_->size() - at_);
        std::copy_n(text_->data() + at_, got, block);
        at_ += got;
        return got;
    }

  private:
    std::shared_ptr<const std::string> text_;
    std::size_t at_ = 0;
};

// Unpacks gzip that lies in memory.
class GzTextSource final : public ByteSource {
  public:
    GzTextSource(std::shared_ptr<const std::string> text, std::string name)
        : ByteSource(std::move(name)), text_(std::move(text)) {
        constexpr int kGzipHeader = 16;
        ready_ = inflateInit2(&stream_, MAX_WBITS + kGzipHeader) == Z_OK;
        // zlib's type; it only reads there
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text_->data())); // NOLINT
        stream_.avail_in = static_cast<uInt>(text_->size());
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
        if (expands_too_much(stream_.total_in, stream_.total_out)) {
            fail(kExpansion);
            ended_ = true;
        }
        return size - stream_.avail_out;
    }

  private:
    std::shared_ptr<const std::string> text_;
    z_stream stream_{};
    bool ready_ = false;
    bool ended_ = false;
};

// UTF-16 is decoded in memory, up to what is free of the limit above. refill() skips the one byte
// order mark of UTF-8.
std::unique_ptr<ByteSource> made_plain(std::unique_ptr<ByteSource> source,
                                       const std::string& name) {
    if (!is_utf16(source->ahead())) {
        return source;
    }
    std::string text;
    for (auto ahead = source->ahead(); !ahead.empty() && text.size() < kFreeBytes;
         ahead = source->ahead()) {
        text += ahead;
        source->skip(ahead.size());
    }
    auto plain = std::make_shared<const std::string>(plain_text(std::move(text)));
    return std::make_unique<TextSource>(std::move(plain), name);
}

} // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
    using Opened = Result<std::unique_ptr<ByteSource>>;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return Opened::failure("cannot-open", "'" + path + "' is a directory",
                               "name one of the files in it");
    }
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) {
        return Opened::failure("cannot-open", "'" + path + "' cannot be opened",
                               "does the file exist, and may you read it?");
    }
    gzbuffer(file, static_cast<unsigned>(kBlockBytes));
    return Opened(made_plain(std::make_unique<GzFileSource>(path, file), path));
}

std::unique_ptr<ByteSource> ByteSource::of_text(std::string_view text, std::string name) {
    return of_text(std::make_shared<const std::string>(text), std::move(name));
}

std::unique_ptr<ByteSource> ByteSource::of_text(std::shared_ptr<const std::string> text,
                                                std::string name) {
    constexpr std::string_view kGzipMagic = "\x1f\x8b";
    if (text->starts_with(kGzipMagic) && text->size() < std::numeric_limits<uInt>::max()) {
        return made_plain(std::make_unique<GzTextSource>(std::move(text), name), name);
    }
    return made_plain(std::make_unique<TextSource>(std::move(text), name), name);
}

bool ByteSource::refill() {
    if (!failure_.empty()) {
        return false;
    }
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf"; // of editors and spreadsheets
    const bool first = store_.empty();
    count_to(block_.size());
    counted_ = 0;
    store_.resize(kBlockBytes);
    const std::size_t got = read(store_.data(), store_.size());
    block_ = std::string_view(store_.data(), got);
    cursor_ = 0;
    if (first && block_.starts_with(kByteOrderMark)) {
        cursor_ = counted_ = kByteOrderMark.size();
        if (got == cursor_) {
            return refill();
        }
    }
    if (tell_) {
        tell_(share_read());
    }
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
        if (line.size() + stop - cursor_ > kLongestLine) {
            fail("a line is longer than 64 MiB");
            cursor_ = block_.size();
            return false;
        }
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

void ByteSource::count_to(std::size_t end) const {
    if (end <= counted_) {
        return;
    }
    const std::string_view part = block_.substr(counted_, end - counted_);
    columns_ += part.size();
    for (std::size_t at = part.find('\n'); at != std::string_view::npos;
         at = part.find('\n', at + 1)) {
        ++lines_;
        columns_ = part.size() - at - 1;
    }
    counted_ = end;
}

SourceLocation ByteSource::here() const {
    SourceLocation where;
    here(where);
    return where;
}

void ByteSource::here(SourceLocation& where) const {
    count_to(cursor_ > 0 ? cursor_ - 1 : 0);
    where.file = name_;
    where.line = lines_ + 1;
    where.column = static_cast<int>(std::min<std::size_t>(columns_ + 1, 1U << 30U));
}

} // namespace eyeroof::profiles
