// The counters of one launch by name, in the order of their names. A profile holds the same few
// names at every launch: they are shared, and a launch costs one piece of memory.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

// A name that many launches share; cheap to copy.
class CounterName {
  public:
    explicit CounterName(std::string_view text)
        : text_(std::make_shared<const std::string>(text)) {}

    const std::string& text() const { return *text_; }

  private:
    std::shared_ptr<const std::string> text_; // never null
};

class Counters {
    struct Entry {
        CounterName name;
        double value = 0.0;
    };

  public:
    struct Counter {
        const std::string& first;
        const double& second;
    };
    class Iterator {
      public:
        explicit Iterator(const Entry* at) : at_(at) {}
        Counter operator*() const { return {at_->name.text(), at_->value}; }
        struct Arrow {
            Counter counter;
            const Counter* operator->() const { return &counter; }
        };
        Arrow operator->() const { return {**this}; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        bool operator==(const Iterator&) const = default;

      private:
        const Entry* at_;
    };

    Counters() = default;
    // The first of two of one name holds.
    Counters(std::initializer_list<std::pair<std::string_view, double>> counters);

    bool empty() const { return entries_.empty(); }
    std::size_t size() const { return entries_.size(); }
    Iterator begin() const { return Iterator(entries_.data()); }
    Iterator end() const { return Iterator(entries_.data() + entries_.size()); }

    Iterator find(std::string_view name) const;
    bool contains(std::string_view name) const { return find(name) != end(); }
    // Throws std::out_of_range for a name that is not there.
    double at(std::string_view name) const;
    // 0 where the name was not there.
    double& operator[](std::string_view name);

    // Quick where names come in their order; `name` is shared, not copied.
    void set(const CounterName& name, double value);
    // The name is shared with counter `place` of `like` if that has it, as rows of a file do.
    void set(std::string_view name, double value, const Counters& like, std::size_t place);
    // Those of `others` whose names are not there yet.
    void add_missing(const Counters& others);
    void erase(std::string_view name);
    void clear() { entries_.clear(); }
    void reserve(std::size_t counters) { entries_.reserve(counters); }

    bool operator==(const Counters& other) const;

  private:
    // The first entry whose name is not before this one.
    std::size_t place_of(std::string_view name) const;

    std::vector<Entry> entries_; // by rising names, each once
};

} // namespace eyeroof::profiles
