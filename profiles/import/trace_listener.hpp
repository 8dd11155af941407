// What the values of a PyTorch trace mean, delivered one by one by a JSON parser.
#pragma once

#include "profiles/import/kineto_events.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace eyeroof::profiles {

// Depth counts open objects and arrays: the document is 1, traceEvents 2, an event 3, its args 4, a
// list in them 5, a list in that 6. A bare array of events is one less deep. Each function returns
// whether the parser shall go on. No text outlives its call.
class TraceListener {
  public:
    explicit TraceListener(const EventUse& use) : use_(use) {}

    bool null() { return text(""); }
    bool boolean(bool value) { return text(value ? "True" : "False"); }
    bool number(std::string_view text); // as it is written
    bool text(std::string_view value);
    bool key(std::string_view name);
    bool start_object();
    bool end_object();
    bool start_array();
    bool end_array();

    bool seen_events() const { return seen_events_; }
    bool too_deep() const;
    bool in_bare_list() const { return in_events_ && event_depth_ == 2 && depth_ == 1; }
    RunInfo run() const; // with the facts of the device that computes the longest

  private:
    enum class Key { other, name, category, phase, pid, tid, ts, dur, args };
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
        strides,
        sequence,
        modules,
        forward_thread,
        types,
        concrete,
        bytes,
        collective,
        collective_type,
        in_elements,
        out_elements,
        ranks
    };
    struct ArgName {
        std::string_view name;
        Arg arg;
    };
    static const ArgName kArgs[22];

    static Key event_key(std::string_view name);
    bool in_args() const { return in_events_ && args_open_ && depth_ == event_depth_ + 1; }
    bool in_list() const { return in_events_ && args_open_ && depth_ > event_depth_ + 1; }
    static bool is_time(Key key) { return key == Key::ts || key == Key::dur; }
    bool in_event() const { return in_events_ && depth_ == event_depth_; }

    bool event_number(std::string_view text);
    void event_text(std::string_view value);
    void time_text(std::string_view value); // of the time that key_ names
    void arg_integer(std::int64_t value);
    void arg_text(std::string_view value);
    void list_integer(std::int64_t value);
    void list_text(std::string_view value);
    void device_integer(std::int64_t value);
    void begin_event();
    void take_zero_dimensional();
    void take_collective();
    void finish_event();

    const EventUse& use_;
    RunInfo run_;
    RunInfo device_; // the one that is read
    std::int64_t device_id_ = 0;
    std::map<std::int64_t, RunInfo> devices_;
    std::map<std::int64_t, double> busy_us_; // of kernels, by device
    TraceEvent event_;
    std::string category_, phase_, pid_, tid_;
    std::string head_key_; // outside of events
    std::string major_, minor_;
    std::size_t depth_ = 0;
    std::size_t event_depth_ = 3;
    std::size_t list_index_ = 0;
    Key key_ = Key::other; // of an event
    Arg arg_ = Arg::none;
    bool in_events_ = false, seen_events_ = false, args_open_ = false;
    bool in_device_ = false;
};

} // namespace eyeroof::profiles
