#include "hwdb/sourced.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

namespace eyeroof::hwdb {

namespace {

constexpr std::array kConfidences = {
    Confidence::datasheet, Confidence::paper,  Confidence::measured, Confidence::derived,
    Confidence::secondary, Confidence::fitted, Confidence::recalled, Confidence::user};

std::optional<Confidence> read_confidence(const Node& node) {
    std::vector<std::pair<std::string, Confidence>> names;
    for (const Confidence c : kConfidences) {
        names.emplace_back(confidence_name(c), c);
    }
    return node.choice(names, "confidence");
}

// A name from the table or a text of its own, which a blank tells apart from a misspelt name.
std::string read_source(const Node& node, const SourceBook& book) {
    const std::string written = node.text().value_or("");
    if (const auto found = book.sources.find(written); found != book.sources.end()) {
        return found->second;
    }
    if (written.find(' ') == std::string::npos && !written.empty()) {
        std::vector<std::string> names;
        for (const auto& [name, text] : book.sources) {
            names.push_back(name);
        }
        const std::string hint = suggestion(written, names);
        node.error("unknown-source",
                   fmt::format("no source \"{}\" in the table of sources", written),
                   hint.empty() ? "add it under `sources:` at the top" : hint);
    }
    return written;
}

} // namespace

Sourced::Sourced(const Node& root, SourceBook& book) : node_(root), book_(&book) {
    for (const auto& [name, text] : root["sources"].entries()) {
        book.sources[name] = text.text().value_or("");
    }
    read_own_keys();
}

Sourced::Sourced(Node node, const Sourced& parent)
    : node_(std::move(node)), book_(parent.book_), source_(parent.source_),
      confidence_(parent.confidence_) {
    if (node_.is_map()) {
        read_own_keys();
    }
}

Sourced Sourced::enter(Node child) const {
    return Sourced(std::move(child), *this);
}

void Sourced::read_own_keys() {
    const Node source = node_["source"];
    const Node confidence = node_["confidence"];
    const Node note = node_["note"];
    if (source) {
        source_ = read_source(source, *book_);
    }
    if (confidence) {
        confidence_ = read_confidence(confidence).value_or(Confidence::user);
    }
    if ((source || confidence || note) && !source_.empty() && confidence_) {
        const std::string text =
            note ? fmt::format("{} ({})", source_, note.text().value_or("")) : source_;
        book_->provenance[node_.field()] = {text, *confidence_};
    }
}

std::vector<Sourced> Sourced::items(std::size_t at_least) const {
    std::vector<Sourced> elements;
    for (const Node& element : node_.items(at_least)) {
        elements.push_back(enter(element));
    }
    return elements;
}

std::vector<std::pair<std::string, Sourced>> Sourced::entries() const {
    std::vector<std::pair<std::string, Sourced>> members;
    for (const auto& [key, member] : node_.entries()) {
        if (key != "source" && key != "confidence" && key != "note") {
            members.emplace_back(key, enter(member));
        }
    }
    return members;
}

Node Sourced::value() const {
    if (!node_) {
        return {};
    }
    book_->numbers.push_back(node_.field());
    if (source_.empty() || !confidence_) {
        book_->unsourced.push_back(node_.field());
    }
    return node_.is_map() ? node_.need("value") : node_;
}

namespace {

// "levels[1].stores[0].bank" -> "levels[1]", "clocks.base" -> "clocks".
std::string part_of(const std::string& field) {
    return field.substr(0, field.find('.'));
}

} // namespace

void adopt_apart(Document& document, const Diagnostics& findings) {
    std::set<std::string> unread;
    for (const Diagnostic& d : document.finish()) {
        if (d.severity == Severity::error) {
            unread.insert(part_of(d.field));
        }
    }
    Diagnostics apart;
    for (const Diagnostic& d : findings) {
        if (!unread.contains(part_of(d.field))) {
            apart.add(d);
        }
    }
    document.adopt(apart);
}

void report_unsourced(const Node& root, const SourceBook& book) {
    if (book.unsourced.empty()) {
        return;
    }
    std::string some = book.unsourced.front();
    for (std::size_t i = 1; i < book.unsourced.size() && i < 3; ++i) {
        some += ", " + book.unsourced[i];
    }
    root.error("missing-source",
               fmt::format("{} of {} numbers have no source or no confidence, among them {}",
                           book.unsourced.size(), book.numbers.size(), some),
               "add `source: …` and `confidence: …` at the top, or beside the numbers");
}

} // namespace eyeroof::hwdb
