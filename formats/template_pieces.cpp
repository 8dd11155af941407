#include "formats/template_pieces.hpp"

#include "formats/template.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats {

std::string bare(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return "";
    }
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

namespace {

// Where "{{", "{%" and "{#" begin, but in lines that YAML takes for comments.
std::vector<std::size_t> marks_of(std::string_view text) {
    std::vector<std::size_t> marks;
    bool blank = true; // so far, in this line
    bool comment = false;
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
        const char c = text[at];
        comment = c != '\n' && (comment || (blank && c == '#'));
        blank = c == '\n' || (blank && (c == ' ' || c == '\t'));
        const char next = text[at + 1];
        if (c == '{' && !comment && (next == '{' || next == '%' || next == '#')) {
            marks.push_back(at);
        }
    }
    return marks;
}

class Cutter {
  public:
    Cutter(std::string_view text, const std::string& file, Diagnostics& found)
        : text_(text), file_(file), found_(found) {}

    std::vector<Piece> run() {
        const std::vector<std::size_t> marks = marks_of(text_);
        for (std::size_t at = 0; at < text_.size();) {
            const auto next = std::lower_bound(marks.begin(), marks.end(), at);
            const std::size_t mark = next == marks.end() ? std::string_view::npos : *next;
            add(Piece::Kind::text, text_.substr(at, std::min(mark, text_.size()) - at));
            if (mark == std::string_view::npos) {
                break;
            }
            at = cut(mark);
        }
        return std::move(pieces_);
    }

  private:
    void add(Piece::Kind kind, std::string_view text) {
        if (kind != Piece::Kind::text || !text.empty()) {
            pieces_.push_back({kind, std::string(text), line_});
        }
        line_ += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    }

    // From a mark to what follows its end.
    std::size_t cut(std::size_t mark) {
        const char kind = text_[mark + 1];
        const std::string end = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
        const std::size_t close = text_.find(end, mark + 2);
        if (close == std::string_view::npos) {
            found_.error("syntax", fmt::format("'{}' has no '{}'", text_.substr(mark, 2), end),
                         "close it", {file_, line_, 1});
            return text_.size();
        }
        std::string_view inner = text_.substr(mark + 2, close - mark - 2);
        if (kind == '%' && (bare(inner) == "raw" || bare(inner) == "raw -")) {
            return take_raw(close + 2);
        }
        const bool trims = inner.ends_with('-');
        inner.remove_prefix(inner.starts_with('-') ? 1 : 0);
        inner.remove_suffix(trims && !inner.empty() ? 1 : 0);
        if (kind != '#') {
            pieces_.push_back(
                {kind == '{' ? Piece::Kind::output : Piece::Kind::statement, bare(inner), line_});
        }
        line_ += static_cast<int>(std::count(inner.begin(), inner.end(), '\n'));
        return close + 2;
    }

    // What stands before "{% endraw %}" is text, whatever marks are in it.
    std::size_t take_raw(std::size_t from) {
        const std::size_t word = text_.find("endraw", from);
        const std::size_t close = word == std::string_view::npos ? word : text_.find("%}", word);
        if (close == std::string_view::npos) {
            found_.error("syntax", "this raw has no endraw", "close it with {% endraw %}",
                         {file_, line_, 1});
            return text_.size();
        }
        const std::size_t end = std::max(from, text_.rfind("{%", word));
        add(Piece::Kind::text, text_.substr(from, end - from));
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(end),
                                        text_.begin() + static_cast<std::ptrdiff_t>(close), '\n'));
        return close + 2;
    }

    std::string_view text_;
    const std::string& file_;
    Diagnostics& found_;
    int line_ = 1;
    std::vector<Piece> pieces_;
};

} // namespace

std::vector<Piece> pieces_of(std::string_view text, const std::string& file, Diagnostics& found) {
    return Cutter(text, file, found).run();
}

bool is_template(std::string_view text) {
    for (const std::size_t mark : marks_of(text)) {
        const std::string_view end = text[mark + 1] == '{' ? "}}" : "%}";
        if (text[mark + 1] != '#' && text.find(end, mark) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

} // namespace eyeroof::formats
