#include "profiles/import/kineto_events.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kMaxDepth = 64;

// What is read already of a ByteSource, for a parser that takes it byte by byte.
class Window {
  public:
    explicit Window(ByteSource& source) : source_(source) { fill(); }

    bool at_end() const { return at_ == end_; }
    bool endless() const { return blocks_without_quote_ > kMostWithoutQuote; }
    char here() const { return *at_; }
    void next() {
        if (++at_ == end_) {
            fill();
        }
    }
    // Gives back to the source what was not taken, so that it knows its place.
    void close() {
        source_.skip(static_cast<std::size_t>(at_ - begin_));
        begin_ = end_ = at_;
    }

  private:
    void fill() {
        source_.skip(static_cast<std::size_t>(end_ - begin_));
        std::string_view ahead = source_.ahead();
        blocks_without_quote_ = has_quote(ahead) ? 0 : blocks_without_quote_ + 1;
        ahead = endless() ? std::string_view{} : ahead;
        begin_ = at_ = ahead.data();
        end_ = begin_ + ahead.size();
    }
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
    int blocks_without_quote_ = 0;
    const char* begin_ = nullptr;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
};

// Lets the parser pull bytes from a Window; the end is a null window.
class ByteIterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    ByteIterator() = default;
    explicit ByteIterator(Window& window) : window_(&window) {}
    char operator*() const { return window_->here(); }
    ByteIterator& operator++() {
        window_->next();
        return *this;
    }
    ByteIterator operator++(int) {
        ByteIterator copy = *this;
        ++*this;
        return copy;
    }
    bool operator==(const ByteIterator& other) const { return at_end() == other.at_end(); }
    bool operator!=(const ByteIterator& other) const { return !(*this == other); }

  private:
    bool at_end() const { return window_ == nullptr || window_->at_end(); }
    Window* window_ = nullptr;
};

TraceKind kind_of(std::string_view category) {
    if (category == "kernel" || category == "Kernel") {
        return TraceKind::kernel;
    }
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime" ||
        category == "hip_runtime") {
        return TraceKind::launch_call;
    }
    if (category == "cpu_op" || category == "Operator") {
        return TraceKind::cpu_op;
    }
    return category == "user_annotation" ? TraceKind::annotation : TraceKind::other;
}

// Fields of an event's "args", in the spellings of all versions.
enum class Arg {
    none,
    external_id,
    correlation,
    stream,
    device,
    grid,
    block,
    dims,
    types,
    concrete
};

struct ArgName {
    std::string_view name;
    Arg arg;
};
constexpr std::array<ArgName, 12> kArgs = {{{"External id", Arg::external_id},
                                            {"external id", Arg::external_id},
                                            {"external Id", Arg::external_id},
                                            {"correlation", Arg::correlation},
                                            {"stream", Arg::stream},
                                            {"device", Arg::device},
                                            {"grid", Arg::grid},
                                            {"block", Arg::block},
                                            {"Input Dims", Arg::dims},
                                            {"Input dims", Arg::dims},
                                            {"Input type", Arg::types},
                                            {"Concrete Inputs", Arg::concrete}}};

// The parser's listener. Depth counts open objects and arrays: the document is 1, traceEvents 2, an
// event 3, its args 4, a list in them 5, a list in that 6. A bare array of events is one less deep.
class Listener {
  public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    explicit Listener(const EventUse& use) : use_(use) {}

    bool null() { return text_value(""); }
    bool boolean(bool value) { return text_value(value ? "True" : "False"); }
    bool number_integer(number_integer_t value) { return integer_value(value); }
    bool number_unsigned(number_unsigned_t value) {
        constexpr auto kLargest = static_cast<number_unsigned_t>(INT64_MAX);
        return integer_value(static_cast<std::int64_t>(std::min(value, kLargest)));
    }
    bool number_float(number_float_t value, const string_t&) {
        float_value(value);
        return true;
    }
    bool string(string_t& value) { return text_value(value); }
    bool binary(binary_t&) { return true; }

    bool start_object(std::size_t) {
        ++depth_;
        if (depth_ == event_depth_ && in_events_) {
            event_ = {};
            category_.clear();
            phase_.clear();
            pid_.clear();
            tid_.clear();
            args_open_ = false;
        } else if (depth_ == event_depth_ + 1 && in_events_) {
            args_open_ = key_ == "args";
        }
        arg_ = Arg::none;
        return depth_ <= kMaxDepth;
    }

    bool end_object() {
        if (depth_ == event_depth_ && in_events_) {
            finish_event();
        }
        if (depth_ == event_depth_ + 1) {
            args_open_ = false;
        }
        if (in_device_ && depth_ == 3) {
            device_done_ = true;
        }
        --depth_;
        return true;
    }

    bool key(string_t& name) {
        key_ = name;
        if (depth_ == event_depth_ + 1 && args_open_) {
            const auto it = std::ranges::find(kArgs, key_, &ArgName::name);
            arg_ = it == kArgs.end() ? Arg::none : it->arg;
        }
        return true;
    }

    bool start_array(std::size_t) {
        ++depth_;
        const bool bare = depth_ == 1;
        const bool listed = depth_ == 2 && key_ == "traceEvents";
        if (bare || listed) {
            in_events_ = true;
            seen_events_ = true;
            event_depth_ = depth_ + 1;
        }
        if (depth_ == 2 && key_ == "deviceProperties") {
            in_device_ = true;
        }
        if (in_list() && arg_ == Arg::dims && depth_ == event_depth_ + 3) {
            event_.op.input_dims.emplace_back();
        }
        list_index_ = 0;
        return depth_ <= kMaxDepth;
    }

    bool end_array() {
        if (depth_ == event_depth_ - 1) {
            in_events_ = false;
        }
        if (depth_ == 2) {
            in_device_ = false;
        }
        --depth_;
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
        error_ = error.what();
        return false;
    }

    bool seen_events() const { return seen_events_; }
    bool too_deep() const { return depth_ > kMaxDepth; }
    const std::string& error() const { return error_; }
    RunInfo run;

  private:
    bool in_args() const { return in_events_ && args_open_ && depth_ == event_depth_ + 1; }
    bool in_list() const { return in_events_ && args_open_ && depth_ > event_depth_ + 1; }
    bool in_event() const { return in_events_ && depth_ == event_depth_; }

    bool integer_value(std::int64_t value) {
        if (in_list()) {
            list_integer(value);
        } else if (in_args()) {
            arg_integer(value);
        } else if (in_device_ && !device_done_) {
            device_integer(value);
        } else {
            float_value(static_cast<double>(value));
            if (in_event() && (key_ == "pid" || key_ == "tid")) {
                (key_ == "pid" ? pid_ : tid_) = std::to_string(value);
            }
        }
        return true;
    }

    void float_value(double value) {
        if (!in_event() || !std::isfinite(value)) {
            return;
        }
        if (key_ == "ts") {
            event_.ts_us = value;
        } else if (key_ == "dur") {
            event_.dur_us = value;
        }
    }

    void arg_integer(std::int64_t value) {
        switch (arg_) {
        case Arg::external_id:
            event_.external_id = value;
            break;
        case Arg::correlation:
            event_.correlation = value;
            break;
        case Arg::stream:
            event_.stream = value;
            break;
        case Arg::device:
            event_.device = value;
            break;
        default:
            break;
        }
    }

    void list_integer(std::int64_t value) {
        if (arg_ == Arg::dims && depth_ == event_depth_ + 3) {
            event_.op.input_dims.back().push_back(value);
        }
        if ((arg_ == Arg::grid || arg_ == Arg::block) && list_index_ < 3) {
            Dim3& dim = arg_ == Arg::grid ? event_.grid : event_.block;
            std::int64_t* const parts[] = {&dim.x, &dim.y, &dim.z};
            *parts[list_index_] = value;
        }
        ++list_index_;
    }

    void device_integer(std::int64_t value) {
        if (key_ == "computeMajor") {
            run.compute_capability = std::to_string(value) + "." + minor_;
            major_ = std::to_string(value);
        } else if (key_ == "computeMinor") {
            minor_ = std::to_string(value);
            run.compute_capability = major_ + "." + minor_;
        } else if (key_ == "numSms") {
            run.sm_count = value;
        }
    }

    bool text_value(const std::string& value) {
        if (in_list()) {
            list_text(value);
        } else if (in_args() && value.size() < 20 && arg_ != Arg::none) {
            arg_text(value);
        } else if (in_event()) {
            event_text(value);
        } else if (in_device_ && !device_done_ && key_ == "name") {
            run.gpu = value;
        }
        return true;
    }

    void list_text(const std::string& value) {
        if (arg_ == Arg::types) {
            event_.op.input_types.push_back(value);
        } else if (arg_ == Arg::concrete) {
            event_.op.concrete_inputs.push_back(value);
        }
    }

    // Some versions write numbers as text.
    void arg_text(const std::string& value) {
        if (!value.empty() && value.find_first_not_of("0123456789") == std::string::npos) {
            arg_integer(static_cast<std::int64_t>(std::strtoll(value.c_str(), nullptr, 10)));
        }
    }

    void event_text(const std::string& value) {
        if (key_ == "name") {
            event_.name = value;
        } else if (key_ == "cat") {
            category_ = value;
        } else if (key_ == "ph") {
            phase_ = value;
        } else if (key_ == "pid") {
            pid_ = value;
        } else if (key_ == "tid") {
            tid_ = value;
        }
    }

    void finish_event() {
        event_.kind = kind_of(category_);
        if (phase_ != "X" || event_.kind == TraceKind::other) {
            return;
        }
        event_.thread = pid_ + "/" + tid_;
        event_.op.name = event_.kind == TraceKind::cpu_op ? event_.name : "";
        use_(std::move(event_));
    }

    const EventUse& use_;
    TraceEvent event_;
    std::string key_, category_, phase_, pid_, tid_, error_;
    std::string major_, minor_;
    std::size_t depth_ = 0;
    std::size_t event_depth_ = 3;
    std::size_t list_index_ = 0;
    Arg arg_ = Arg::none;
    bool in_events_ = false, seen_events_ = false, args_open_ = false;
    bool in_device_ = false, device_done_ = false;
};

} // namespace

model::Result<RunInfo> read_trace_events(ByteSource& source, const EventUse& use) {
    Listener listener(use);
    Window window(source);
    const bool parsed = nlohmann::json::sax_parse(ByteIterator(window), ByteIterator(), &listener);
    window.close();
    const model::SourceLocation where = source.here();
    using Read = model::Result<RunInfo>;
    if (!source.failure().empty()) {
        return Read::failure("damaged", source.failure(), "write the trace again", where);
    }
    if (!parsed && window.endless()) {
        return Read::failure("too-long", "a name of the trace is longer than 16 MiB",
                             "is this a trace of PyTorch's profiler?", where);
    }
    if (!parsed && listener.too_deep()) {
        return Read::failure("too-deep", "the JSON is nested deeper than 64",
                             "a trace of PyTorch's is four levels deep; is this one?", where);
    }
    if (!parsed) {
        const bool ended = source.peek() == ByteSource::kEnd;
        return Read::failure(ended ? "cut-off" : "not-json",
                             ended ? "the trace ends in the middle" : "this is not JSON",
                             "the profiler was stopped while it wrote, or the file was edited",
                             where);
    }
    if (!listener.seen_events()) {
        return Read::failure("no-events", "there is no list \"traceEvents\"",
                             "PyTorch's profiler writes it: prof.export_chrome_trace(FILE)", where);
    }
    return listener.run;
}

} // namespace eyeroof::profiles
