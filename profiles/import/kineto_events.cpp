#include "profiles/import/kineto_events.hpp"

#include "profiles/import/trace_listener.hpp"

#include <yajl/yajl_parse.h>

#include <algorithm>
#include <memory>

namespace eyeroof::profiles {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

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
};

Parsed parse(ByteSource& source, TraceListener& listener) {
    const std::unique_ptr<yajl_handle_t, decltype(&yajl_free)> parser(
        yajl_alloc(&kCallbacks, nullptr, &listener), &yajl_free);
    Blocks blocks(source);
    bool first = true;
    yajl_status status = yajl_status_ok;
    for (auto block = blocks.next(); !block.empty(); block = blocks.next()) {
        const std::size_t mark =
            first && block.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
        source.skip(mark);
        block.remove_prefix(mark);
        first = false;
        status = yajl_parse(parser.get(), reinterpret_cast<const unsigned char*>(block.data()),
                            block.size());
        if (status != yajl_status_ok) { // the place is that of the byte that does not fit
            source.skip(std::min(yajl_get_bytes_consumed(parser.get()) + 1, block.size()));
            return {};
        }
        source.skip(block.size());
    }
    const bool whole = !blocks.endless() && yajl_complete_parse(parser.get()) == yajl_status_ok;
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
    if (!parsed.fine) {
        return Read::failure(parsed.cut_off ? "cut-off" : "not-json",
                             parsed.cut_off ? "the trace ends in the middle" : "this is not JSON",
                             "the profiler was stopped while it wrote, or the file was edited",
                             where);
    }
    if (!listener.seen_events()) {
        return Read::failure("no-events", "there is no list \"traceEvents\"",
                             "PyTorch's profiler writes it: prof.export_chrome_trace(FILE)", where);
    }
    return listener.run();
}

} // namespace eyeroof::profiles
