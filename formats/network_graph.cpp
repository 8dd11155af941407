#include "formats/network_graph.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace eyeroof::formats {

namespace {

using hwdb::Node;

constexpr std::string_view kInput = "input";
constexpr std::string_view kConstantName = "constant";

// What stands in the file, before it is unrolled.
struct Item {
    Node node;
    bool repeats = false;
    Count times = 1;
    std::vector<Item> items; // of a repetition
    GraphStepKind kind = GraphStepKind::run;
    std::vector<std::size_t> layers; // of a run: those that are there
    bool has_reads = false;
    std::vector<std::string> reads;
    std::string as;
    std::optional<Count> elements;
    Count in_training = 1;
    std::optional<std::size_t> weights_of;
    bool expands = false;
    bool output = false;
    bool in_call = false;
    std::uint32_t place = 0;
};

std::optional<Count> whole(const Node& node, const Variables& values, double least) {
    const auto text = node.text();
    if (!text) {
        return std::nullopt;
    }
    const auto value = evaluate(text->starts_with('=') ? text->substr(1) : *text, values);
    for (const Diagnostic& d : value.diagnostics()) {
        node.error(d.code, d.message, d.hint);
    }
    if (!value) {
        return std::nullopt;
    }
    if (*value < least || *value > 1e15 || *value != std::floor(*value)) {
        node.error("not-a-number", fmt::format("{} is {}", *text, *value),
                   fmt::format("use a whole number from {}", least));
        return std::nullopt;
    }
    return static_cast<Count>(*value);
}

// Names of layers that stand in the file, also of those that `when` leaves out.
std::set<std::string> written_names(const Node& root) {
    std::set<std::string> names;
    const auto take = [&](const Node& list) {
        for (const Node& node : list.items()) {
            if (node.is_map() && node.has("name")) {
                names.insert(node["name"].text().value_or(""));
            }
        }
    };
    take(root["layers"]);
    for (const auto& [name, node] : root["blocks"].entries()) {
        take(node);
    }
    return names;
}

// Parses the list once, so that a block of a thousand repetitions is looked at once.
class GraphParser {
  public:
    GraphParser(const Node& root, const std::vector<model::Layer>& layers, const Variables& values)
        : values_(values), written_(written_names(root)) {
        for (std::size_t i = 0; i < layers.size(); ++i) {
            at_.emplace(layers[i].name, i);
            names_.push_back(layers[i].name);
        }
    }

    std::vector<Item> parse(const std::vector<Node>& nodes) {
        std::vector<Item> items;
        for (const Node& node : nodes) {
            items.push_back(node.has("repeat") ? repetition(node) : step(node));
        }
        return items;
    }

    std::vector<SourceLocation> places;
    std::vector<std::string> place_names;

  private:
    Item repetition(const Node& node) {
        Item item;
        item.node = node;
        item.repeats = true;
        item.times = whole(node["repeat"], values_, 0.0).value_or(0);
        item.items = parse(node.need("steps").items(1));
        return item;
    }

    Item step(const Node& node) {
        Item item;
        item.node = node;
        item.place = static_cast<std::uint32_t>(places.size());
        places.push_back(node.where());
        kind(node, item);
        const Node reads = node["reads"];
        item.has_reads = reads.present();
        for (const Node& name : reads.is_list() ? reads.items() : reads.one_or_more()) {
            item.reads.push_back(name.text().value_or(""));
        }
        if (const Node as = node["as"]; as.present()) {
            item.as = as.text().value_or("");
        }
        if (item.as == kInput || item.as == kConstantName) {
            node.error("bad-name",
                       fmt::format("'{}' is what is there before the first step", item.as),
                       "choose another name");
        }
        item.output = node["output"].boolean().value_or(false);
        item.in_call = node.has("run") && node["in_call"].boolean().value_or(false);
        place_names.push_back(item.as);
        return item;
    }

    void kind(const Node& node, Item& item) {
        if (node.has("view") || node.has("state")) {
            item.kind = node.has("view") ? GraphStepKind::view : GraphStepKind::state;
            const Node name = node[item.kind == GraphStepKind::view ? "view" : "state"];
            item.as = name.text().value_or("");
            const bool needed = item.kind == GraphStepKind::state;
            const Node elements = needed ? node.need("elements") : node["elements"];
            item.elements = elements.present() ? whole(elements, values_, 0.0) : std::nullopt;
            item.expands = !needed && node["expand"].boolean().value_or(false);
            if (const Node more = node["in_training"]; more.present()) {
                item.in_training = whole(more, values_, 1.0).value_or(1);
            }
            return;
        }
        for (const Node& name : node.need("run").one_or_more()) {
            const auto text = name.text();
            if (!text) {
                continue;
            }
            item.as = *text;
            if (const auto layer = find(name, *text)) {
                item.layers.push_back(*layer);
            }
        }
        if (const Node shared = node["weights_of"]; shared.present()) {
            item.weights_of = find(shared, shared.text().value_or(""));
        }
    }

    std::optional<std::size_t> find(const Node& node, const std::string& name) {
        if (const auto at = at_.find(name); at != at_.end()) {
            return at->second;
        }
        const bool left_out = std::any_of(written_.begin(), written_.end(), [&](const auto& w) {
            return name == w || name.ends_with("_" + w);
        });
        if (!left_out) {
            node.error("unknown-layer", fmt::format("the network has no layer '{}'", name),
                       suggestion(name, names_));
        }
        return std::nullopt;
    }

    const Variables& values_;
    std::set<std::string> written_;
    std::map<std::string, std::size_t> at_;
    std::vector<std::string> names_;
};

class Unroller {
  public:
    Unroller(std::vector<std::size_t>& runs, GraphEdges& edges) : runs_(runs), edges_(edges) {
        bound_[std::string(kInput)] = kNetworkInput;
        bound_[std::string(kConstantName)] = kConstant;
    }

    void unroll(const std::vector<Item>& items) {
        for (const Item& item : items) {
            if (full_) {
                return;
            }
            item.repeats ? repeat(item) : step(item);
        }
    }

    bool full() const { return full_; }

    // Names that nothing had made when they were read: never, or only later.
    void report_unbound() {
        std::set<std::pair<int, int>> told;
        for (const Unbound& u : unbound_) {
            const auto where = u.item->node.where();
            if (!told.insert({where.line, where.column}).second) {
                continue;
            }
            const auto made = first_made_.find(u.name);
            if (made == first_made_.end()) {
                std::vector<std::string> names;
                for (const auto& [name, step] : first_made_) {
                    names.push_back(name);
                }
                u.item->node.error("unknown-tensor",
                                   fmt::format("nothing makes '{}', which is read here", u.name),
                                   suggestion(u.name, names));
            } else if (comes_from(made->second, u.step)) {
                u.item->node.error(
                    "graph-cycle",
                    fmt::format("'{}' is read here and made from what is made here", u.name),
                    "a step may read only what stands above it");
            } else {
                u.item->node.error("read-before-made",
                                   fmt::format("'{}' is made only further down", u.name),
                                   "write the step that makes it above this one");
            }
        }
    }

  private:
    struct Unbound {
        const Item* item;
        std::string name;
        std::size_t step; // that reads it
    };

    // Names that are made first inside of a repetition belong to one round of it.
    void repeat(const Item& item) {
        const auto before = bound_;
        for (Count i = 0; i < item.times && !full_; ++i) {
            if (++rounds_ > kMostGraphSteps) {
                full_ = true;
                item.node.error("too-many-steps",
                                fmt::format("more than {} rounds", kMostGraphSteps),
                                "repeat fewer times");
            }
            if (i > 0) {
                std::erase_if(bound_, [&](const auto& b) { return !before.contains(b.first); });
            }
            unroll(item.items);
        }
    }

    std::vector<std::size_t> sources(const Item& item) {
        if (!item.has_reads) {
            const bool none = item.kind == GraphStepKind::state;
            return none ? std::vector<std::size_t>{} : std::vector<std::size_t>{last_};
        }
        std::vector<std::size_t> reads;
        for (const std::string& name : item.reads) {
            const auto at = bound_.find(name);
            if (at != bound_.end()) {
                reads.push_back(at->second);
            } else {
                unbound_.push_back({&item, name, edges_.steps.size()});
            }
        }
        return reads;
    }

    void step(const Item& item) {
        std::vector<std::size_t> reads = sources(item);
        if (item.kind == GraphStepKind::run && item.layers.empty()) {
            if (!bound_.contains(item.as) && !reads.empty()) {
                bind(item.as, reads.front());
            }
            return;
        }
        const std::size_t count = item.kind == GraphStepKind::run ? item.layers.size() : 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (edges_.steps.size() >= kMostGraphSteps) {
                full_ = true;
                item.node.error("too-many-steps",
                                fmt::format("more than {} steps", kMostGraphSteps),
                                "repeat fewer times");
                return;
            }
            GraphStep s;
            s.kind = item.kind;
            s.layer = item.kind == GraphStepKind::run ? item.layers[i] : 0;
            s.reads = i == 0 ? std::move(reads) : std::vector<std::size_t>{last_};
            s.elements = item.elements;
            s.in_training = item.in_training;
            s.expands = item.expands;
            s.weights_of = item.weights_of;
            s.output = item.output && i + 1 == count;
            s.in_call = item.in_call;
            s.place = item.place;
            if (item.kind == GraphStepKind::run) {
                ++runs_[s.layer];
            }
            edges_.steps.push_back(std::move(s));
            last_ = item.kind == GraphStepKind::state ? last_ : edges_.steps.size() - 1;
        }
        bind(item.as, edges_.steps.size() - 1);
    }

    void bind(const std::string& name, std::size_t step) {
        bound_[name] = step;
        first_made_.emplace(name, step);
    }

    bool comes_from(std::size_t step, std::size_t source) const {
        std::set<std::size_t> seen;
        std::vector<std::size_t> open{step};
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            if (at == source) {
                return true;
            }
            if (at >= edges_.steps.size() || !seen.insert(at).second) {
                continue;
            }
            const auto& reads = edges_.steps[at].reads;
            open.insert(open.end(), reads.begin(), reads.end());
        }
        return false;
    }

    std::vector<std::size_t>& runs_; // of each layer
    GraphEdges& edges_;
    std::map<std::string, std::size_t> bound_, first_made_;
    std::vector<Unbound> unbound_;
    std::size_t last_ = kNetworkInput;
    std::size_t rounds_ = 0; // of repetitions, also of those in which nothing runs
    bool full_ = false;
};

void check_counts(const Node& graph, const std::vector<model::Layer>& layers,
                  const std::vector<std::size_t>& runs) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (runs[i] != static_cast<std::size_t>(layers[i].count)) {
            graph.error("run-count",
                        fmt::format("{} runs {} times here and has a count of {}", layers[i].name,
                                    runs[i], layers[i].count),
                        "the graph runs every layer as often as its count says");
        }
    }
}

} // namespace

std::optional<GraphEdges> read_edges(const hwdb::Node& root,
                                     const std::vector<model::Layer>& layers,
                                     const Variables& values) {
    const Node graph = root["graph"];
    if (!graph.present()) {
        return std::nullopt;
    }
    Variables all = values;
    for (const auto& [name, node] : root["let"].entries()) {
        const auto text = node.text();
        const auto value = text ? evaluate(text->starts_with('=') ? text->substr(1) : *text, all)
                                : Result<double>(1.0);
        all[name] = value ? *value : 1.0; // the layers' reader reports what is wrong with it
    }
    GraphParser parser(root, layers, all);
    const std::vector<Item> items = parser.parse(graph.items(1));
    GraphEdges edges;
    std::vector<std::size_t> runs(layers.size(), 0);
    Unroller unroller(runs, edges);
    unroller.unroll(items);
    unroller.report_unbound();
    if (!unroller.full()) {
        check_counts(graph, layers, runs);
    }
    edges.places = std::move(parser.places);
    edges.names = std::move(parser.place_names);
    return edges;
}

} // namespace eyeroof::formats
