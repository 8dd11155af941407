#include "profiles/counters.hpp"

#include <algorithm>
#include <stdexcept>

namespace eyeroof::profiles {

Counters::Counters(std::initializer_list<std::pair<std::string_view, double>> counters) {
    reserve(counters.size());
    for (const auto& [name, value] : counters) {
        if (!contains(name)) {
            (*this)[name] = value;
        }
    }
}

std::size_t Counters::place_of(std::string_view name) const {
    if (entries_.empty() || entries_.back().name.text() < name) {
        return entries_.size();
    }
    const auto it =
        std::ranges::lower_bound(entries_, name, std::ranges::less{},
                                 [](const Entry& e) -> std::string_view { return e.name.text(); });
    return static_cast<std::size_t>(it - entries_.begin());
}

Counters::Iterator Counters::find(std::string_view name) const {
    const std::size_t place = place_of(name);
    const bool there = place < entries_.size() && entries_[place].name.text() == name;
    return there ? Iterator(entries_.data() + place) : end();
}

double Counters::at(std::string_view name) const {
    const Iterator it = find(name);
    if (it == end()) {
        throw std::out_of_range("no counter is called " + std::string(name));
    }
    return it->second;
}

double& Counters::operator[](std::string_view name) {
    const std::size_t place = place_of(name);
    if (place == entries_.size() || entries_[place].name.text() != name) {
        entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place),
                        {CounterName(name), 0.0});
    }
    return entries_[place].value;
}

void Counters::set(const CounterName& name, double value) {
    const std::size_t place = place_of(name.text());
    if (place < entries_.size() && entries_[place].name.text() == name.text()) {
        entries_[place].value = value;
        return;
    }
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), {name, value});
}

void Counters::set(std::string_view name, double value, const Counters& like, std::size_t place) {
    if (place < like.size() && like.entries_[place].name.text() == name) {
        set(like.entries_[place].name, value);
    } else {
        (*this)[name] = value;
    }
}

void Counters::add_missing(const Counters& others) {
    for (const Entry& other : others.entries_) {
        if (!contains(other.name.text())) {
            set(other.name, other.value);
        }
    }
}

void Counters::erase(std::string_view name) {
    std::erase_if(entries_, [name](const Entry& entry) { return entry.name.text() == name; });
}

bool Counters::operator==(const Counters& other) const {
    return std::ranges::equal(entries_, other.entries_, [](const Entry& a, const Entry& b) {
        return a.name.text() == b.name.text() && a.value == b.value;
    });
}

} // namespace eyeroof::profiles
