// Bytes of a file, plain or gzip, or of memory, read in blocks with the position kept.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

class ByteSource {
  public:
    static constexpr int kEnd = -1;

    // Errors: "cannot-open" (missing, a directory, no permission).
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
    // Gzip in memory is unpacked too; `name` stands in diagnostics.
    static std::unique_ptr<ByteSource> of_text(std::string_view text, std::string name);
    // The same without a copy of the text.
    static std::unique_ptr<ByteSource> of_text(std::shared_ptr<const std::string> text,
                                               std::string name);

    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    virtual ~ByteSource() = default;

    // The next byte, or kEnd at the end or after a read error.
    int get() { return cursor_ < block_.size() || refill() ? next() : kEnd; }
    int peek() {
        return cursor_ < block_.size() || refill() ? static_cast<unsigned char>(block_[cursor_])
                                                   : kEnd;
    }
    // What is read already and not yet taken: never empty before the end. skip() takes from it.
    std::string_view ahead() {
        return cursor_ < block_.size() || refill() ? block_.substr(cursor_) : std::string_view{};
    }
    void skip(std::size_t bytes) { cursor_ += bytes; }
    // One line without its end ("\n" or "\r\n"); false at the end of the input. A line longer than
    // 64 MiB is a failure.
    bool get_line(std::string& line);
    // Did the last get_line() find the line's end, and not the input's?
    bool line_was_ended() const { return line_was_ended_; }

    // Of the byte that get() gave last; the line counts from 1.
    SourceLocation here() const;
    void here(SourceLocation& where) const; // the same, without a new string
    // Called with the share of the input that is read, after each block.
    void tell(std::function<void(double)> use) { tell_ = std::move(use); }
    // Why reading stopped early (damaged gzip, input/output error); empty if it did not.
    const std::string& failure() const { return failure_; }

  protected:
    explicit ByteSource(std::string name) : name_(std::move(name)) {}
    // Fills `block` (at most its size) and returns how many bytes; 0 at the end; fail() on an
    // error.
    virtual std::size_t read(char* block, std::size_t size) = 0;
    virtual double share_read() const { return 0.0; } // of the input, 0 where that is not known
    void fail(std::string why) { failure_ = std::move(why); }

  private:
    bool refill();
    int next() { return static_cast<unsigned char>(block_[cursor_++]); }

    std::string name_;
    std::function<void(double)> tell_;
    std::vector<char> store_;
    std::string_view block_;
    std::size_t cursor_ = 0;
    // Up to `counted_` in the block, newlines are counted: asking for places costs what was read.
    void count_to(std::size_t end) const;

    mutable std::size_t counted_ = 0;
    mutable int lines_ = 0;           // newlines before `counted_`, in all blocks
    mutable std::size_t columns_ = 0; // bytes since the last of them
    std::string failure_;
    bool line_was_ended_ = false;
};

} // namespace eyeroof::profiles
