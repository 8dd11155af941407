// Result<T>: a value, or the diagnostics that say why there is none; warnings may stand beside a
// value. Returned by every function that user input can make fail. Not for programmer errors: those
// are assertions.
#pragma once

#include "base/diagnostic.hpp"

#include <cassert>
#include <optional>
#include <utility>

namespace eyeroof {

template <class T> class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : value_(std::move(value)) {} // NOLINT(google-explicit-constructor)
    Result(T value, Diagnostics warnings)
        : value_(std::move(value)), diagnostics_(std::move(warnings)) {
        assert(!diagnostics_.has_errors());
    }
    Result(Diagnostics errors) : diagnostics_(std::move(errors)) { // NOLINT
        assert(diagnostics_.has_errors());
    }

    static Result failure(std::string code, std::string message, std::string hint = {},
                          SourceLocation where = {}, std::string field = {}) {
        Diagnostics d;
        d.error(std::move(code), std::move(message), std::move(hint), std::move(where),
                std::move(field));
        return Result(std::move(d));
    }

    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }

    const T& value() const& {
        assert(ok());
        return *value_;
    }
    T& value() & {
        assert(ok());
        return *value_;
    }
    T&& value() && {
        assert(ok());
        return std::move(*value_);
    }
    const T& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }

    const Diagnostics& diagnostics() const { return diagnostics_; }
    Diagnostics& diagnostics() { return diagnostics_; }

  private:
    std::optional<T> value_;
    Diagnostics diagnostics_;
};

// For operations that either happen or do not, and give nothing back.
struct Done {
    bool operator==(const Done&) const = default;
};

} // namespace eyeroof
