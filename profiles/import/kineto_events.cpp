#include "profiles/import/kineto_events.hpp"

#include "base/ascii.hpp"
#include "profiles/import/trace_listener.hpp"

#include <yajl/yajl_parse.h>

#include <algorithm>
#include <memory>

namespace eyeroof::profiles {

namespace {

// What a source gives block by block, until one is found to be no part of a trace.
class Blocks {
  public:
    explicit Blocks(ByteSource& source) : source_(source) {}

    // Empty at the end.
    std::string_view next() {
        const std::string_view block = source_.ahead();
        without_quote_ = has_quote(block) ? 0 : without_quote_ + 1;
        return endless() ? std::string_view{} : block;
    }
    bool endless() const { return without_quote_ > kMostWithoutQuote; }

  private:
    // One that ends a text or begins one.
    static bool has_quote(std::string_view block) {
        for (std::size_t at = block.find('"'); at != std::string_view::npos;
             at = block.find('"', at + 1)) {
            if (at == 0 || block[at - 1] != '\\') {
                return true;
            }
        }
        return false;
    }

    // Of a source's blocks, 16 MiB: no name is as long, and blanks without end are no trace.
    static constexpr int kMostWithoutQuote = 64;

    ByteSource& source_;
    int without_quote_ = 0;
};

TraceListener& of(void* context) {
    return *static_cast<TraceListener*>(context);
}

std::string_view view(const unsigned char* text, std::size_t size) {
    return {reinterpret_cast<const char*>(text), size};
}

constexpr yajl_callbacks kCallbacks = {
    [](void* c) { return int{of(c).null()}; },
    [](void* c, int value) { return int{of(c).boolean(value != 0)}; },
    nullptr,
    nullptr,
    [](void* c, const char* text, std::size_t size) {
        return int{of(c).number({text, size})};
    },
    [](void* c, const unsigned char* text, std::size_t size) {
        return int{of(c).text(view(text, size))};
    },
    [](void* c) { return int{of(c).start_object()}; },
    [](void* c, const unsigned char* text, std::size_t size) {
        return int{of(c).key(view(text, size))};
    },
    [](void* c) { return int{of(c).end_object()}; },
    [](void* c) { return int{of(c).start_array()}; },
    [](void* c) { return int{of(c).end_array()}; }};

// How the parser ended; the source stands behind what it took.
struct Parsed {
    bool fine = false;
    bool cut_off = false; // nothing is wrong but that the end is missing
    bool endless = false;
    std::string word = {};  // that is no part of JSON, of letters: "NaN"
    std::string fault = {}; // why the text is no JSON
};

// The parser's words without its stage ("lexical error: "), or the comma that it stumbles over.
// `taken`: with the token that does not fit; `last`: the last byte of the blocks before.
std::string fault_of(yajl_handle parser, std::string_view taken, char last) {
    const char bracket = taken.empty() ? '\0' : taken.back();
    const std::string_view before = taken.substr(0, taken.size() - (bracket == '\0' ? 0 : 1));
    const std::size_t filled = before.find_last_not_of(" \t\r\n");
    const char behind = filled == std::string_view::npos ? last : before[filled];
    if (behind == ',' && (bracket == ']' || bracket == '}')) {
        return std::string("a comma stands before '") + bracket + "'";
    }
    unsigned char* const words = yajl_get_error(parser, 0, nullptr, 0);
    std::string fault(reinterpret_cast<const char*>(words));
    yajl_free_error(parser, words);
    const std::size_t colon = fault.find(": ");
    fault.erase(0, colon == std::string::npos ? 0 : colon + 2);
    return fault.substr(0, fault.find_last_not_of(".\n") + 1);
}

// The letters around a place: yajl stops within a word that is no JSON.
std::string word_at(std::string_view text, std::size_t at) {
    const auto letter = [&](std::size_t i) {
        const char c = static_cast<char>(text[i] | 0x20);
        return c >= 'a' && c <= 'z';
    };
    std::size_t begin = std::min(at, text.size()), end = begin;
    while (begin > 0 && letter(begin - 1)) {
        --begin;
    }
    while (end < text.size() && letter(end)) {
        ++end;
    }
    constexpr std::size_t kLongest = 20;
    return std::string(text.substr(begin, std::min(end - begin, kLongest)));
}

bool is_not_finite(std::string_view word) {
    const std::string low = lowered(word);
    return low == "nan" || low == "inf" || low == "infinity";
}

// Chrome's format lets a bare list of events end without its bracket; `last` is the text's last
// byte that is no blank.
bool closes_list(yajl_handle parser, const TraceListener& listener, char last) {
    const std::string_view end = last == ',' ? "{}]" : "]";
    return listener.in_bare_list() &&
           yajl_parse(parser, reinterpret_cast<const unsigned char*>(end.data()), end.size()) ==
               yajl_status_ok &&
           yajl_complete_parse(parser) == yajl_status_ok;
}

Parsed parse(ByteSource& source, TraceListener& listener) {
    const std::unique_ptr<yajl_handle_t, decltype(&yajl_free)> parser(
        yajl_alloc(&kCallbacks, nullptr, &listener), &yajl_free);
    Blocks blocks(source);
    char last = '\0'; // that is no blank
    yajl_status status = yajl_status_ok;
    for (auto block = blocks.next(); !block.empty(); block = blocks.next()) {
        status = yajl_parse(parser.get(), reinterpret_cast<const unsigned char*>(block.data()),
                            block.size());
        if (status != yajl_status_ok) { // the place is that of the byte that does not fit
            const std::size_t at = yajl_get_bytes_consumed(parser.get());
            std::string word = word_at(block, at);
            std::string fault = status == yajl_status_client_canceled
                                    ? "a number is larger than 1.8e308, the largest double"
                                    : fault_of(parser.get(), block.substr(0, at), last);
            source.skip(std::min(at + 1, block.size()));
            return {false, false, false, std::move(word), std::move(fault)};
        }
        const std::size_t filled = block.find_last_not_of(" \t\r\n");
        last = filled == std::string_view::npos ? last : block[filled];
        source.skip(block.size());
    }
    const bool whole = !blocks.endless() && (closes_list(parser.get(), listener, last) ||
                                             yajl_complete_parse(parser.get()) == yajl_status_ok);
    return {whole, !whole, blocks.endless()};
}

} // namespace

RunInfo run_in_trace_head(std::string_view head) {
    const EventUse ignore = [](const TraceEvent&) {};
    TraceListener listener(ignore);
    const auto source = ByteSource::of_text(head, "head");
    parse(*source, listener); // it ends in the middle
    return listener.run();
}

Result<RunInfo> read_trace_events(ByteSource& source, const EventUse& use) {
    TraceListener listener(use);
    const Parsed parsed = parse(source, listener);
    const SourceLocation where = source.here();
    using Read = Result<RunInfo>;
    if (!source.failure().empty()) {
        return Read::failure("damaged", source.failure(), "write the trace again", where);
    }
    if (parsed.endless) {
        return Read::failure("too-long", "a name of the trace is longer than 16 MiB",
                             "is this a trace of PyTorch's profiler?", where);
    }
    if (!parsed.fine && listener.too_deep()) {
        return Read::failure("too-deep", "the JSON is nested deeper than 64",
                             "a trace of PyTorch's is four levels deep; is this one?", where);
    }
    if (is_not_finite(parsed.word)) {
        return Read::failure("not-finite", "'" + parsed.word + "' is not a number of JSON",
                             "the program that wrote the trace had no value there; replace it "
                             "with 0, or write the trace again",
                             where);
    }
    if (!parsed.fine && !parsed.cut_off) {
        return Read::failure("not-json", "this is not JSON: " + parsed.fault,
                             "correct the file, or write the trace again", where);
    }
    if (!parsed.fine) {
        return Read::failure("cut-off", "the trace ends in the middle",
                             "the profiler was stopped while it wrote; write the trace again",
                             where);
    }
    if (!listener.seen_events()) {
        return Read::failure("no-events", "there is no list \"traceEvents\"",
                             "PyTorch's profiler writes it: prof.export_chrome_trace(FILE)", where);
    }
    return listener.run();
}

} // namespace eyeroof::profiles
