// Reads numbers together with where they come from: `source`, `confidence` and `note` keys at any
// mapping, inherited downwards and overridden by any number written as {value: …, source: …}.
//
//   sources: {jssc: "Chen et al., IEEE JSSC 52(1), 2017"}
//   source: jssc                  # a name from the table, or a text of its own
//   confidence: paper
//   clock: 200 MHz
//   dram: {bandwidth: {value: 480 MB/s, confidence: derived, note: 64 bit at 60 MHz}}
//
// A number whose source or confidence is given nowhere above it is an error.
#pragma once

#include "base/provenance.hpp"
#include "hwdb/yaml.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::hwdb {

// What a document says of its numbers, filled while it is read.
struct SourceBook {
    std::map<std::string, std::string> sources; // short name -> full text
    ProvenanceMap provenance;                   // only where a mapping or a number says something
    std::vector<std::string> numbers;           // field paths of all numbers, in reading order
    std::vector<std::string> unsourced;         // those that have no source or no confidence
};

// A Node that knows the source in force at its place.
class Sourced {
  public:
    Sourced() = default;
    // The root of a document: reads `sources`, and the root's own `source` and `confidence`.
    Sourced(const Node& root, SourceBook& book);

    const Node& node() const { return node_; }
    explicit operator bool() const { return node_.present(); }

    Sourced operator[](std::string_view key) const { return enter(node_[key]); }
    Sourced need(std::string_view key) const { return enter(node_.need(key)); }
    std::vector<Sourced> items(std::size_t at_least = 0) const;
    // Members with free names; `source`, `confidence` and `note` are not among them.
    std::vector<std::pair<std::string, Sourced>> entries() const;

    // The node of a number, bare or within {value: …}; notes down that it has a source or not.
    Node value() const;
    std::optional<std::int64_t> integer(IntegerRange range = {}) const {
        return value().integer(range);
    }
    std::optional<double> number(double min, double max) const { return value().number(min, max); }
    template <class Q> std::optional<Q> quantity(Zero zero = Zero::refused) const {
        return value().template quantity<Q>(zero);
    }

  private:
    Sourced(Node node, const Sourced& parent);
    Sourced enter(Node child) const;
    void read_own_keys();

    Node node_;
    SourceBook* book_ = nullptr;
    std::string source_; // in force here, as full text
    std::optional<Confidence> confidence_;
};

// Adds findings of the model's validation, but for those at a number, or beside one, that could not
// be read: what stands in for it is no one's mistake.
void adopt_apart(Document& document, const Diagnostics& findings);

// One error at the root for all numbers without a source; call it when reading is done.
void report_unsourced(const Node& root, const SourceBook& book);

} // namespace eyeroof::hwdb
