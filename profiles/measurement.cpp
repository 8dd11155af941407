#include "profiles/measurement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

namespace eyeroof::profiles {

namespace {
constexpr const char* kCopyKinds[] = {"h2d", "d2h", "d2d", "peer", "fill"};
}

const char* copy_kind_name(CopyKind kind) {
    return kCopyKinds[static_cast<std::size_t>(kind)];
}

std::optional<CopyKind> copy_kind_from_name(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kCopyKinds); ++i) {
        if (name == kCopyKinds[i]) {
            return static_cast<CopyKind>(i);
        }
    }
    return std::nullopt;
}

const Operator* Profile::operator_of(const Launch& launch) const {
    return launch.op == kNone ? nullptr : &operators[static_cast<std::size_t>(launch.op)];
}

std::string_view Profile::range_of(const Launch& launch) const {
    return launch.range == kNone ? std::string_view{}
                                 : std::string_view{ranges[static_cast<std::size_t>(launch.range)]};
}

namespace {

bool index_ok(std::int32_t index, std::size_t size) {
    return index == kNone || (index >= 0 && static_cast<std::size_t>(index) < size);
}

void validate_launch(const Profile& profile, std::size_t number, Diagnostics& found) {
    const Launch& launch = profile.launches[number];
    const auto field = [number](const char* name) {
        return fmt::format("launches[{}].{}", number, name);
    };
    const auto index = [&](bool fits, const char* what, const char* list, const char* name) {
        if (!fits) {
            found.error("bad-index",
                        fmt::format("the launch names {} that is not in the profile", what),
                        fmt::format("its number counts the {} of this profile from 0", list), {},
                        field(name));
        }
    };
    index(launch.kernel < profile.kernels.size(), "a kernel", "kernels", "kernel");
    index(index_ok(launch.op, profile.operators.size()), "an operator", "operators", "op");
    index(index_ok(launch.leaf, profile.operators.size()), "an operator", "operators", "leaf");
    index(index_ok(launch.range, profile.ranges.size()), "a range", "ranges", "range");
    index(index_ok(launch.module, profile.ranges.size()), "a range", "ranges", "module");
    index(launch.source < profile.sources.size(), "a source", "sources", "source");
    const bool unknown = launch.duration_ns == kUnknown;
    if (!std::isfinite(launch.duration_ns) || (launch.duration_ns < 0.0 && !unknown)) {
        found.error("bad-number", "the duration is not a time", "nanoseconds, from 0 on", {},
                    field("duration_ns"));
    }
    for (const auto& [name, value] : launch.counters) {
        if (!std::isfinite(value)) {
            found.error("bad-number", fmt::format("counter {} is not a number", name),
                        "a counter is a finite number", {}, field("counters"));
        }
    }
}

template <class Map> std::int32_t find_in(const Map& map, std::string_view key) {
    const auto it = map.find(key);
    return it == map.end() ? kNone : it->second;
}

void make_key(const Operator& op, std::string& key) {
    key = op.name;
    for (const auto& dims : op.input_dims) {
        key += '|';
        for (const std::int64_t dim : dims) {
            fmt::format_to(std::back_inserter(key), "{},", dim);
        }
    }
    for (const auto& type : op.input_types) {
        key.append("\x1e").append(type);
    }
    for (const auto& input : op.concrete_inputs) {
        key.append("\x1f").append(input);
    }
    for (const ListedTensor& tensor : op.listed) {
        fmt::format_to(std::back_inserter(key), "\x1d{}:", tensor.argument);
        for (const std::int64_t dim : tensor.dims) {
            fmt::format_to(std::back_inserter(key), "{},", dim);
        }
    }
    for (const auto& strides : op.input_strides) {
        key += '\x1b';
        for (const std::int64_t stride : strides) {
            fmt::format_to(std::back_inserter(key), "{},", stride);
        }
    }
    if (!op.borrowed_from.empty()) {
        key.append("\x1c").append(op.borrowed_from);
    }
}

} // namespace

Diagnostics validate(const Profile& profile) {
    Diagnostics found;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        validate_launch(profile, i, found);
    }
    for (std::size_t i = 0; i < profile.copies.size(); ++i) {
        const DeviceCopy& copy = profile.copies[i];
        const bool fine = std::isfinite(copy.duration_ns) && copy.duration_ns >= 0.0 &&
                          copy.bytes >= 0 && copy.source < profile.sources.size();
        if (!fine) {
            found.error("bad-number", "the copy's bytes, time or source are not possible",
                        "bytes and nanoseconds from 0 on", {}, fmt::format("copies[{}]", i));
        }
    }
    return found;
}

std::int64_t Profile::launch_count() const {
    std::int64_t count = 0;
    for (const Launch& launch : launches) {
        count += launch.calls;
    }
    return count;
}

// An entry's text stands in the table and in the index.
bool ProfileBuilder::has_space(std::size_t bytes) {
    constexpr std::size_t kEntryBytes = 200; // of both, beside the text
    if (table_bytes_ + 2 * bytes + kEntryBytes > kMostTableBytes) {
        if (!crowded_) {
            profile.notes.emplace_back("not every name is kept: there are too many different ones");
        }
        crowded_ = true;
        return false;
    }
    table_bytes_ += 2 * bytes + kEntryBytes;
    return true;
}

std::uint32_t ProfileBuilder::kernel(std::string_view name, std::string_view mangled) {
    key_.assign(name).append(1, '\0').append(mangled);
    const std::int32_t known = find_in(kernels_, key_);
    if (known != kNone) {
        return static_cast<std::uint32_t>(known);
    }
    if (name != kFurther && !has_space(key_.size())) {
        return kernel(kFurther);
    }
    kernels_.emplace(key_, static_cast<std::int32_t>(profile.kernels.size()));
    profile.kernels.push_back({std::string(name), std::string(mangled)});
    return static_cast<std::uint32_t>(profile.kernels.size() - 1);
}

std::int32_t ProfileBuilder::known_op(const Operator& op) {
    make_key(op, key_);
    return find_in(operators_, key_);
}

std::int32_t ProfileBuilder::op(const Operator& op) {
    const std::int32_t known = known_op(op);
    return known != kNone || !has_space(2 * key_.size()) ? known : add_op(Operator(op));
}

std::int32_t ProfileBuilder::op(Operator&& op) {
    const std::int32_t known = known_op(op);
    return known != kNone || !has_space(2 * key_.size()) ? known : add_op(std::move(op));
}

std::int32_t ProfileBuilder::add_op(Operator op) {
    operators_.emplace(key_, static_cast<std::int32_t>(profile.operators.size()));
    profile.operators.push_back(std::move(op));
    return static_cast<std::int32_t>(profile.operators.size() - 1);
}

std::int32_t ProfileBuilder::range(std::string_view text) {
    if (text.empty()) {
        return kNone;
    }
    const std::int32_t known = find_in(ranges_, text);
    if (known != kNone || !has_space(text.size())) {
        return known;
    }
    ranges_.emplace(text, static_cast<std::int32_t>(profile.ranges.size()));
    profile.ranges.emplace_back(text);
    return static_cast<std::int32_t>(profile.ranges.size() - 1);
}

void ProfileBuilder::forget_names() {
    for (Index* const index : {&kernels_, &operators_, &ranges_, &sources_}) {
        Index().swap(*index);
    }
}

std::uint32_t ProfileBuilder::source(std::string_view file) {
    const std::int32_t known = find_in(sources_, file);
    if (known != kNone) {
        return static_cast<std::uint32_t>(known);
    }
    sources_.emplace(file, static_cast<std::int32_t>(profile.sources.size()));
    profile.sources.emplace_back(file);
    return static_cast<std::uint32_t>(profile.sources.size() - 1);
}

} // namespace eyeroof::profiles
