#include "profiles/launch_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace eyeroof::profiles {

namespace {

bool is_line_digit(char c) {
    return c >= '0' && c <= '9';
}

// Letters that JSON writes as they are, of one byte each.
bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// Takes JSON from the front of a text. After the first thing that is otherwise all fails.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool good() const { return good_; }
    void fail() { good_ = false; }
    bool at_end() {
        skip_space();
        return good_ && at_ == end_;
    }
    bool accept(char c) {
        skip_space();
        const bool here = at_ != end_ && *at_ == c;
        at_ += here ? 1 : 0;
        return here;
    }
    void expect(char c) { good_ = accept(c) && good_; }
    void expect(std::string_view word) {
        skip_space();
        good_ = good_ && std::string_view(at_, end_).starts_with(word);
        at_ += good_ ? word.size() : 0;
    }
    std::string_view key() {
        expect('"');
        const char* const begin = at_;
        at_ = std::find_if_not(at_, end_, is_plain);
        const std::string_view name(begin, at_);
        good_ = good_ && at_ != end_ && *at_ == '"';
        at_ += good_ ? 1 : 0;
        expect(':');
        return name;
    }
    // Beyond 2^62 the general reader refuses.
    template <class Int> Int integer() {
        constexpr std::int64_t kLargest = std::int64_t{1} << 62U;
        Int value{};
        const std::string_view digits = number();
        const auto [stop, error] = std::from_chars(digits.data(), at_, value);
        good_ = good_ && error == std::errc{} && stop == at_ && std::int64_t{value} <= kLargest;
        return value;
    }
    double real() {
        double value = 0.0;
        const std::string_view digits = number();
        const auto [stop, error] = std::from_chars(digits.data(), at_, value);
        good_ = good_ && error == std::errc{} && stop == at_;
        return value;
    }
    Dim3 dim() {
        Dim3 dim;
        expect('[');
        dim.x = integer<std::int64_t>();
        expect(',');
        dim.y = integer<std::int64_t>();
        expect(',');
        dim.z = integer<std::int64_t>();
        expect(']');
        return dim;
    }

  private:
    void skip_space() {
        while (at_ != end_ && *at_ == ' ') {
            ++at_;
        }
    }
    // What JSON takes for a number: no sign but minus, no zero in front, digits around the point.
    std::string_view number() {
        skip_space();
        const char* const begin = at_;
        at_ += at_ != end_ && *at_ == '-' ? 1 : 0;
        const char* const whole = at_;
        take_digits();
        good_ = good_ && (*whole != '0' || at_ == whole + 1);
        if (at_ != end_ && *at_ == '.') {
            ++at_;
            take_digits();
        }
        if (good_ && at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
            ++at_;
            at_ += at_ != end_ && (*at_ == '-' || *at_ == '+') ? 1 : 0;
            take_digits();
        }
        return {begin, at_};
    }
    void take_digits() {
        const char* const begin = at_;
        at_ = std::find_if_not(at_, end_, is_line_digit);
        good_ = good_ && at_ != begin;
    }

    const char* at_;
    const char* end_;
    bool good_ = true;
};

// Calls `use` with the key of each member; it takes the value.
template <class Use> void each_member(Cursor& cursor, const Use& use) {
    cursor.expect('{');
    if (cursor.accept('}')) {
        return;
    }
    do {
        use(cursor.key());
    } while (cursor.good() && cursor.accept(','));
    cursor.expect('}');
}

struct IntegerField {
    std::string_view key;
    std::int64_t Launch::*member;
};
constexpr IntegerField kIntegers[] = {
    {"op_call", &Launch::op_call},     {"range_call", &Launch::range_call},
    {"stream", &Launch::stream},       {"device", &Launch::device},
    {"start_ns", &Launch::start_ns},   {"calls", &Launch::calls},
    {"called_ns", &Launch::called_ns}, {"leaf_call", &Launch::leaf_call}};

void take_counters(Cursor& cursor, const Counters& like, Counters& counters) {
    counters.reserve(like.size());
    std::size_t place = 0;
    each_member(cursor,
                [&](std::string_view name) { counters.set(name, cursor.real(), like, place++); });
}

// false for a key that is not known.
bool take_field(Cursor& cursor, std::string_view key, const Counters& like, Launch& launch) {
    if (const auto* field = std::ranges::find(kIntegers, key, &IntegerField::key);
        field != std::end(kIntegers)) {
        launch.*field->member = cursor.integer<std::int64_t>();
    } else if (key == "kernel") {
        launch.kernel = cursor.integer<std::uint32_t>();
    } else if (key == "source") {
        launch.source = cursor.integer<std::uint32_t>();
    } else if (key == "op") {
        launch.op = cursor.integer<std::int32_t>();
    } else if (key == "range") {
        launch.range = cursor.integer<std::int32_t>();
    } else if (key == "leaf") {
        launch.leaf = cursor.integer<std::int32_t>();
    } else if (key == "module") {
        launch.module = cursor.integer<std::int32_t>();
    } else if (key == "backward") {
        cursor.expect("true");
        launch.backward = true;
    } else if (key == "step") {
        launch.step = cursor.integer<std::int32_t>();
    } else if (key == "grid") {
        launch.grid = cursor.dim();
    } else if (key == "block") {
        launch.block = cursor.dim();
    } else if (key == "duration_ns") {
        launch.duration_ns = cursor.real();
    } else if (key == "under_replay") {
        cursor.expect("true");
        launch.under_replay = true;
    } else if (key == "counters") {
        take_counters(cursor, like, launch.counters);
    } else {
        return false;
    }
    return true;
}

void append_name(std::string_view name, std::string& text) {
    if (std::ranges::all_of(name, is_plain)) {
        text.append(1, '"').append(name).append(1, '"');
        return;
    }
    using Json = nlohmann::json;
    text += Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Number> void append_number(Number value, std::string& text) {
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    text.append(digits.data(), end);
}

void append_real(double value, std::string& text) {
    if (!std::isfinite(value)) {
        text += "null";
        return;
    }
    const std::size_t begin = text.size();
    append_number(value, text);
    if (text.find_first_not_of("-0123456789", begin) == std::string::npos) {
        text += ".0";
    }
}

void append_dim(std::string_view key, const Dim3& dim, std::string& text) {
    text.append(key);
    append_number(dim.x, text);
    text += ',';
    append_number(dim.y, text);
    text += ',';
    append_number(dim.z, text);
    text += ']';
}

void append_counters(const Counters& counters, std::string& text) {
    const char* between = ",\"counters\":{";
    for (const auto& [name, value] : counters) {
        text += between;
        append_name(name, text);
        text += ':';
        append_real(value, text);
        between = ",";
    }
    text += counters.empty() ? "" : "}";
}

} // namespace

std::optional<Launch> launch_of_line(std::string_view line, const Counters& like) {
    constexpr std::uint32_t kNoKernel = std::numeric_limits<std::uint32_t>::max();
    Cursor cursor(line);
    Launch launch;
    launch.kernel = kNoKernel;
    bool known = false;
    each_member(cursor, [&](std::string_view kind) {
        known = kind == "launch";
        if (!known || launch.kernel != kNoKernel) {
            cursor.fail();
            return;
        }
        each_member(cursor, [&](std::string_view key) {
            const bool twice = key == "counters" && !launch.counters.empty();
            if (twice || !take_field(cursor, key, like, launch)) {
                cursor.fail();
            }
        });
    });
    const bool whole = cursor.at_end() && known && launch.kernel != kNoKernel;
    return whole ? std::optional(std::move(launch)) : std::nullopt;
}

void append_launch_line(const Launch& launch, std::string& text) {
    append_dim(launch.backward ? "{\"launch\":{\"backward\":true,\"block\":["
                               : "{\"launch\":{\"block\":[",
               launch.block, text);
    const auto put = [&text](std::string_view key, std::int64_t value, std::int64_t absent) {
        if (value != absent) {
            text.append(key);
            append_number(value, text);
        }
    };
    put(",\"called_ns\":", launch.called_ns, kNone);
    put(",\"calls\":", launch.calls, 1);
    append_counters(launch.counters, text);
    put(",\"device\":", launch.device, kNone);
    if (launch.duration_ns != kUnknown) {
        text += ",\"duration_ns\":";
        append_real(launch.duration_ns, text);
    }
    append_dim(",\"grid\":[", launch.grid, text);
    text += ",\"kernel\":";
    append_number(launch.kernel, text);
    put(",\"leaf\":", launch.leaf, kNone);
    put(",\"leaf_call\":", launch.leaf_call, kNone);
    put(",\"module\":", launch.module, kNone);
    put(",\"op\":", launch.op, kNone);
    put(",\"op_call\":", launch.op_call, kNone);
    put(",\"range\":", launch.range, kNone);
    put(",\"range_call\":", launch.range_call, kNone);
    put(",\"source\":", launch.source, 0);
    put(",\"start_ns\":", launch.start_ns, kNone);
    put(",\"step\":", launch.step, kNone);
    put(",\"stream\":", launch.stream, kNone);
    text += launch.under_replay ? ",\"under_replay\":true}}\n" : "}}\n";
}

} // namespace eyeroof::profiles
