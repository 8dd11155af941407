#include "profiles/import/trace_listener.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMostListed = 20'000; // tensors of one operator's lists

TraceKind kind_of(std::string_view category) {
    if (category == "kernel" || category == "Kernel") {
        return TraceKind::kernel;
    }
    if (category.ends_with("_runtime") || category.ends_with("_driver") || category == "Runtime") {
        return TraceKind::launch_call; // "cuda_runtime", "xpu_runtime", "privateuse1_runtime", …
    }
    if (category == "cpu_op" || category == "Operator") {
        return TraceKind::cpu_op;
    }
    if (category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" ||
        category == "Memset") {
        return TraceKind::copy;
    }
    return category == "user_annotation"   ? TraceKind::annotation
           : category == "python_function" ? TraceKind::python
                                           : TraceKind::other;
}

// Of a table's words few have this length and first letter: the others cost no comparison.
bool is_word(std::string_view word, std::string_view text) {
    return word.size() == text.size() && word.front() == text.front() && word == text;
}

// A whole number; beyond 63 bits the largest. Nothing for fractions.
std::optional<std::int64_t> whole(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range && stop == end && !text.starts_with('-')) {
        return std::numeric_limits<std::int64_t>::max();
    }
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

// Nothing for what no double holds.
std::optional<double> real(const std::string& text) {
    const double value = std::strtod(text.c_str(), nullptr); // what underflows is 0
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> real(std::string_view text) {
    double value = 0.0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : real(std::string(text));
}

// Also of numbers that no one reads: a file with 1e999 was not written by a profiler.
bool fits_a_double(std::string_view text) {
    constexpr std::size_t kAlwaysFits = 300; // digits
    const bool exponent =
        text.find('e') != std::string_view::npos || text.find('E') != std::string_view::npos;
    return (!exponent && text.size() < kAlwaysFits) || real(text).has_value();
}

} // namespace

const TraceListener::ArgName TraceListener::kArgs[] = {{"External id", Arg::external_id},
                                                       {"external id", Arg::external_id},
                                                       {"external Id", Arg::external_id},
                                                       {"correlation", Arg::correlation},
                                                       {"stream", Arg::stream},
                                                       {"device", Arg::device},
                                                       {"grid", Arg::grid},
                                                       {"block", Arg::block},
                                                       {"Input Dims", Arg::dims},
                                                       {"Input dims", Arg::dims},
                                                       {"Input Strides", Arg::strides},
                                                       {"Sequence number", Arg::sequence},
                                                       {"Module Hierarchy", Arg::modules},
                                                       {"Fwd thread id", Arg::forward_thread},
                                                       {"Input type", Arg::types},
                                                       {"Concrete Inputs", Arg::concrete},
                                                       {"bytes", Arg::bytes},
                                                       {"Collective name", Arg::collective},
                                                       {"dtype", Arg::collective_type},
                                                       {"In msg nelems", Arg::in_elements},
                                                       {"Out msg nelems", Arg::out_elements},
                                                       {"Group size", Arg::ranks}};

bool TraceListener::too_deep() const {
    return depth_ > kMaxDepth;
}

// By length first: every event has eight of them.
TraceListener::Key TraceListener::event_key(std::string_view name) {
    switch (name.size()) {
    case 2:
        return name == "ts" ? Key::ts : name == "ph" ? Key::phase : Key::other;
    case 3:
        return name == "dur"   ? Key::dur
               : name == "pid" ? Key::pid
               : name == "tid" ? Key::tid
               : name == "cat" ? Key::category
                               : Key::other;
    case 4:
        return name == "name" ? Key::name : name == "args" ? Key::args : Key::other;
    default:
        return Key::other;
    }
}

bool TraceListener::key(std::string_view name) {
    if (in_event()) {
        key_ = event_key(name);
    } else if (in_args()) {
        const auto* const found = std::ranges::find_if(
            kArgs, [name](const ArgName& arg) { return is_word(arg.name, name); });
        arg_ = found == std::end(kArgs) ? Arg::none : found->arg;
    } else {
        head_key_.assign(name);
    }
    return true;
}

bool TraceListener::start_object() {
    event_.bad_time = event_.bad_time || (in_event() && is_time(key_)); // a map is no time
    ++depth_;
    if (in_event()) {
        begin_event();
    } else if (depth_ == event_depth_ + 1 && in_events_) {
        args_open_ = key_ == Key::args;
    }
    arg_ = Arg::none;
    return !too_deep();
}

bool TraceListener::end_object() {
    if (in_event()) {
        finish_event();
    }
    if (depth_ == event_depth_ + 1) {
        args_open_ = false;
    }
    constexpr std::size_t kMostDevices = 1024;
    if (in_device_ && depth_ == 3 && devices_.size() < kMostDevices) {
        devices_.try_emplace(device_id_, std::exchange(device_, RunInfo{}));
        device_id_ = static_cast<std::int64_t>(devices_.size()); // where none is given
        major_.clear();
        minor_.clear();
    }
    --depth_;
    return true;
}

bool TraceListener::start_array() {
    event_.bad_time = event_.bad_time || (in_event() && is_time(key_));
    ++depth_;
    const bool bare = depth_ == 1;
    const bool listed = depth_ == 2 && head_key_ == "traceEvents";
    if (bare || listed) {
        in_events_ = true;
        seen_events_ = true;
        event_depth_ = depth_ + 1;
    }
    if (depth_ == 2 && head_key_ == "deviceProperties") {
        in_device_ = true;
    }
    if (in_list() && arg_ == Arg::dims && depth_ == event_depth_ + 3) {
        event_.op.input_dims.emplace_back();
    }
    if (in_list() && arg_ == Arg::strides && depth_ == event_depth_ + 3) {
        event_.op.input_strides.emplace_back();
    }
    if (in_list() && arg_ == Arg::dims && depth_ == event_depth_ + 4 &&
        !event_.op.input_dims.empty() && event_.op.listed.size() < kMostListed) {
        const auto argument = static_cast<std::uint32_t>(event_.op.input_dims.size() - 1);
        event_.op.listed.push_back({argument, {}});
    }
    list_index_ = 0;
    return !too_deep();
}

bool TraceListener::end_array() {
    if (depth_ == event_depth_ - 1) {
        in_events_ = false;
    }
    if (depth_ == 2) {
        in_device_ = false;
    }
    --depth_;
    return true;
}

bool TraceListener::number(std::string_view text) {
    if (in_event()) {
        return event_number(text);
    }
    const bool list = in_list() && (arg_ == Arg::dims || arg_ == Arg::strides ||
                                    arg_ == Arg::grid || arg_ == Arg::block);
    const bool arg = in_args() && arg_ != Arg::none;
    const bool device = in_device_;
    const bool ranks =
        !in_events_ && (head_key_ == "world_size" || (head_key_ == "rank" && depth_ == 2));
    const auto value = list || arg || device || ranks ? whole(text) : std::nullopt;
    if (!value) {
        return fits_a_double(text);
    }
    if (list) {
        list_integer(*value);
    } else if (arg) {
        arg_integer(*value);
    } else if (ranks) {
        (head_key_ == "rank" ? run_.rank : run_.ranks) = *value;
    } else {
        device_integer(*value);
    }
    return true;
}

bool TraceListener::event_number(std::string_view text) {
    if (key_ == Key::pid || key_ == Key::tid) {
        (key_ == Key::pid ? pid_ : tid_).assign(text);
    } else if (key_ == Key::ts || key_ == Key::dur) {
        const auto value = real(text);
        (key_ == Key::ts ? event_.ts_us : event_.dur_us) = value.value_or(0.0);
        return value.has_value();
    }
    return fits_a_double(text);
}

void TraceListener::arg_integer(std::int64_t value) {
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
    case Arg::bytes:
        event_.bytes = value;
        break;
    case Arg::sequence:
        event_.sequence = value;
        break;
    case Arg::forward_thread:
        event_.forward_thread = value;
        break;
    case Arg::in_elements:
        event_.collective.in_elements = value;
        break;
    case Arg::out_elements:
        event_.collective.out_elements = value;
        break;
    case Arg::ranks:
        event_.collective.ranks = value;
        break;
    default:
        break;
    }
}

void TraceListener::list_integer(std::int64_t value) {
    if (arg_ == Arg::dims && depth_ == event_depth_ + 3) {
        event_.op.input_dims.back().push_back(value);
    }
    if (arg_ == Arg::strides && depth_ == event_depth_ + 3) {
        event_.op.input_strides.back().push_back(value);
    }
    if (arg_ == Arg::dims && depth_ == event_depth_ + 4 && !event_.op.listed.empty()) {
        event_.op.listed.back().dims.push_back(value);
    }
    if ((arg_ == Arg::grid || arg_ == Arg::block) && list_index_ < 3) {
        Dim3& dim = arg_ == Arg::grid ? event_.grid : event_.block;
        std::int64_t* const parts[] = {&dim.x, &dim.y, &dim.z};
        *parts[list_index_] = value;
    }
    ++list_index_;
}

void TraceListener::device_integer(std::int64_t value) {
    if (head_key_ == "computeMajor") {
        major_ = std::to_string(value);
    } else if (head_key_ == "computeMinor") {
        minor_ = std::to_string(value);
    } else if (head_key_ == "totalGlobalMem") {
        device_.memory_bytes = static_cast<double>(value);
    } else if (head_key_ == "numSms") {
        device_.sm_count = value;
    } else if (head_key_ == "id") {
        device_id_ = value;
    }
    if (!major_.empty() || !minor_.empty()) {
        device_.compute_capability = major_ + "." + minor_;
    }
}

// Of several kinds of devices, none of which computes in what was read, no one is chosen.
RunInfo TraceListener::run() const {
    const auto of_busiest = [&] {
        const auto busiest =
            std::ranges::max_element(busy_us_, {}, [](const auto& entry) { return entry.second; });
        return busiest == busy_us_.end() ? devices_.end() : devices_.find(busiest->first);
    };
    const auto alike = [&](const auto& entry) {
        return entry.second.gpu == devices_.begin()->second.gpu;
    };
    auto chosen = of_busiest();
    if (chosen == devices_.end() && std::ranges::all_of(devices_, alike)) {
        chosen = devices_.begin();
    }
    RunInfo run = chosen == devices_.end() ? RunInfo{} : chosen->second;
    run.ranks = run_.ranks;
    run.rank = run_.rank;
    return run;
}

bool TraceListener::text(std::string_view value) {
    constexpr std::size_t kLongestNumber = 19;
    if (in_event()) {
        event_text(value);
    } else if (in_list()) {
        list_text(value);
    } else if (in_args()) {
        if (arg_ == Arg::collective || arg_ == Arg::collective_type) {
            Collective& c = event_.collective;
            (arg_ == Arg::collective ? c.name : c.type) = value;
        } else if (arg_ == Arg::modules) {
            event_.modules = value;
        } else if (arg_ != Arg::none && value.size() <= kLongestNumber) {
            arg_text(value);
        }
    } else if (in_device_ && head_key_ == "name") {
        device_.gpu = value;
    }
    return true;
}

void TraceListener::list_text(std::string_view value) {
    if (arg_ == Arg::types) {
        event_.op.input_types.emplace_back(value);
    } else if (arg_ == Arg::concrete) {
        event_.op.concrete_inputs.emplace_back(value);
    }
}

// Some versions write numbers as text.
void TraceListener::arg_text(std::string_view value) {
    const bool digits = value.find_first_not_of("0123456789") == std::string_view::npos;
    if (const auto number = digits ? whole(value) : std::nullopt) {
        arg_integer(*number);
    }
}

void TraceListener::event_text(std::string_view value) {
    switch (key_) {
    case Key::name:
        event_.name = value;
        break;
    case Key::category:
        category_ = value;
        break;
    case Key::phase:
        phase_ = value;
        break;
    case Key::pid:
        pid_ = value;
        break;
    case Key::tid:
        tid_ = value;
        break;
    case Key::ts:
    case Key::dur:
        time_text(value);
        break;
    default:
        break;
    }
}

// Some converters write numbers as text.
void TraceListener::time_text(std::string_view value) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool fine = error == std::errc{} && end == value.data() + value.size() &&
                      !value.empty() && std::isfinite(number);
    event_.bad_time = event_.bad_time || !fine;
    (key_ == Key::ts ? event_.ts_us : event_.dur_us) = fine ? number : 0.0;
}

// The texts keep their memory: a trace has millions of events.
void TraceListener::begin_event() {
    TraceEvent fresh;
    for (std::string* text :
         {&event_.name, &event_.thread, &event_.op.name, &category_, &phase_, &pid_, &tid_}) {
        text->clear();
    }
    fresh.name.swap(event_.name);
    fresh.thread.swap(event_.thread);
    fresh.op.name.swap(event_.op.name);
    event_ = std::move(fresh);
    args_open_ = false;
}

// A collective's operator has no dimensions of the usual kind: its message takes their place.
void TraceListener::take_collective() {
    const Collective& c = event_.collective;
    if (c.name.empty() || c.in_elements < 0 || c.out_elements < 0) {
        return;
    }
    event_.op.input_dims = {{c.in_elements}, {c.out_elements}};
    event_.op.input_types = {c.type, c.type};
    event_.op.concrete_inputs = {std::to_string(c.ranks), c.name};
    event_.op.listed.clear();
}

// A tensor without dimensions ("[]" of a type of elements, such as the counter of a batch norm's
// batches) has one element. A number of the program is a "Scalar", and has none.
void TraceListener::take_zero_dimensional() {
    constexpr std::array<std::string_view, 10> kElements = {
        "float",     "double", "int",  "long",          "long int",
        "short int", "short",  "bool", "unsigned char", "signed char"};
    Operator& op = event_.op;
    for (std::size_t i = 0; i < std::min(op.input_dims.size(), op.input_types.size()); ++i) {
        const std::string& type = op.input_types[i];
        const bool element =
            type.starts_with("c10::") || std::ranges::find(kElements, type) != kElements.end();
        if (op.input_dims[i].empty() && element) {
            op.input_dims[i] = {1};
        }
    }
}

void TraceListener::finish_event() {
    event_.kind = kind_of(category_);
    if (phase_ != "X" || event_.kind == TraceKind::other ||
        (event_.kind == TraceKind::python && !event_.name.starts_with(kModule))) {
        return;
    }
    if (event_.kind == TraceKind::kernel) {
        busy_us_[event_.device] += event_.dur_us;
    }
    if (event_.kind != TraceKind::kernel && event_.kind != TraceKind::copy) {
        event_.thread.append(pid_).append("/").append(tid_);
    }
    if (event_.kind == TraceKind::cpu_op) {
        event_.op.name = event_.name;
        take_zero_dimensional();
        take_collective();
    }
    use_(event_);
}

} // namespace eyeroof::profiles
