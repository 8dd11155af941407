// Lists of tensors: made, read and joined; only splitting and joining move elements.
#include "formats/onnx/fold.hpp"
#include "formats/onnx/operators.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

namespace {

using Items = std::vector<Value>;

void give_list(Step& step, Items items) {
    Value& out = step.outputs.front();
    out.dims.reset();
    out.items = std::make_shared<const Items>(std::move(items));
    step.outcome = Outcome::view;
}

// A place in a list of n, negative ones from the end; nothing where it is not known.
std::optional<std::size_t> list_place(const Step& step, std::size_t operand, std::size_t n) {
    const auto index = scalar_of(step, operand);
    if (!index || step.in(operand).bounds) {
        return std::nullopt;
    }
    const double at = *index < 0 ? *index + static_cast<double>(n) : *index;
    return at >= 0 && at <= static_cast<double>(n) ? std::optional(static_cast<std::size_t>(at))
                                                   : std::nullopt;
}

void list_of(Step& step) {
    Items items;
    for (std::size_t i = 0; i < step.inputs(); ++i) {
        if (step.in(i).items) {
            return step.fail("it holds lists, not tensors");
        }
        items.push_back(step.in(i));
    }
    give_list(step, std::move(items));
}

void list_insert(Step& step) {
    if (!step.in(0).items || step.in(1).items) {
        return step.fail("its list is not known, or it holds lists");
    }
    Items items = *step.in(0).items;
    const auto at = step.has(2) ? list_place(step, 2, items.size()) : std::optional(items.size());
    if (!at) {
        return step.fail("its position is not known");
    }
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(*at), step.in(1));
    give_list(step, std::move(items));
}

void list_erase(Step& step) {
    if (!step.in(0).items || step.in(0).items->empty()) {
        return step.fail("its list is not known");
    }
    Items items = *step.in(0).items;
    const auto at =
        step.has(1) ? list_place(step, 1, items.size()) : std::optional(items.size() - 1);
    if (!at || *at >= items.size()) {
        return step.fail("its position is not known");
    }
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(*at));
    give_list(step, std::move(items));
}

// Of tensors of one size it does not matter which.
void list_at(Step& step) {
    const auto& items = step.in(0).items;
    if (!items || items->empty()) {
        return step.fail("its list is not known");
    }
    const auto where = list_place(step, 1, items->size());
    const bool alike = std::all_of(items->begin(), items->end(),
                                   [&](const Value& v) { return v.dims == items->front().dims; });
    if (where && *where < items->size()) {
        step.outputs.front() = (*items)[*where];
    } else if (alike) {
        step.outputs.front() = items->front();
        step.outputs.front().values.reset();
        step.outputs.front().origin = Origin::data;
    } else {
        return step.fail("its position is not known");
    }
    step.outcome = Outcome::view;
}

void list_length(Step& step) {
    if (!step.in(0).items) {
        return step.fail("its list is not known");
    }
    Value& out = step.outputs.front();
    out.dims = Dims{};
    out.element = kInt64;
    out.values = std::vector<double>{static_cast<double>(step.in(0).items->size())};
    out.origin = Origin::constant;
    step.outcome = Outcome::folded;
}

// Sizes of the pieces along an axis of n elements: one each where none are given, or as many as a
// scalar says.
std::optional<Dims> pieces_of(const Step& step, std::int64_t n) {
    if (!step.has(1)) {
        return Dims(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)), 1);
    }
    const auto given = step.integers("", 1);
    if (!given || given->empty() || step.in(1).rank() > 0) {
        return given;
    }
    const std::int64_t each = given->front();
    if (each < 1) {
        return std::nullopt;
    }
    Dims pieces(static_cast<std::size_t>(n / each), each);
    if (n % each != 0) {
        pieces.push_back(n % each);
    }
    return pieces;
}

void list_split(Step& step) {
    constexpr std::int64_t most = 100'000; // pieces
    const Value& x = step.in(0);
    const auto along = axis_of(x, step.integer("axis", 0));
    const auto pieces =
        along && (*x.dims)[*along] <= most ? pieces_of(step, (*x.dims)[*along]) : std::nullopt;
    if (!pieces) {
        return step.fail("its sizes are not known");
    }
    Items items;
    for (const std::int64_t size : *pieces) {
        Value piece = x;
        piece.values.reset();
        if (!step.has(1) && step.integer("keepdims", 1) == 0) {
            piece.dims->erase(piece.dims->begin() + static_cast<std::ptrdiff_t>(*along));
        } else {
            (*piece.dims)[*along] = size;
        }
        items.push_back(std::move(piece));
    }
    const auto all = x.elements();
    if (all && *all > 0) {
        step.add(model::Op::elementwise,
                 model::ElementwiseShape{*all / x.dims->back(), x.dims->back(), "copy"});
    }
    const Outcome outcome = step.outcome;
    give_list(step, std::move(items));
    step.outcome = outcome == Outcome::costed ? Outcome::costed : Outcome::view;
}

void list_join(Step& step) {
    const auto& items = step.in(0).items;
    if (!items || items->empty() || !items->front().known()) {
        return step.fail("its list is not known");
    }
    const bool fresh = step.integer("new_axis", 0) != 0;
    Dims result = *items->front().dims;
    std::int64_t axis = step.integer("axis", 0);
    axis += axis < 0 ? static_cast<std::int64_t>(result.size()) + (fresh ? 1 : 0) : 0;
    if (axis < 0 || axis > static_cast<std::int64_t>(result.size()) - (fresh ? 0 : 1)) {
        return step.fail("its axis makes no sense");
    }
    const auto at = static_cast<std::size_t>(axis);
    if (fresh) {
        result.insert(result.begin() + axis, static_cast<std::int64_t>(items->size()));
    } else {
        result[at] = 0;
        for (const Value& item : *items) {
            if (!item.known() || item.dims->size() != result.size()) {
                return step.fail("the sizes of its list are not known");
            }
            result[at] += (*item.dims)[at];
        }
    }
    for (const Value& item : *items) {
        step.outputs.front().at_most = step.outputs.front().at_most || item.at_most;
    }
    step.outputs.front().element = items->front().element;
    step.give(std::move(result));
    step.add_elementwise("copy");
}

void has_element(Step& step) {
    Value& out = step.outputs.front();
    out.dims = Dims{};
    out.element = kBool;
    out.values = std::vector<double>{step.has(0) ? 1.0 : 0.0};
    out.origin = Origin::constant;
    step.outcome = Outcome::folded;
}

} // namespace

void add_sequences(Handlers& handlers) {
    handlers["SequenceEmpty"] = handlers["SequenceConstruct"] = list_of;
    handlers["SequenceInsert"] = list_insert;
    handlers["SequenceErase"] = list_erase;
    handlers["SequenceAt"] = list_at;
    handlers["SequenceLength"] = list_length;
    handlers["SplitToSequence"] = list_split;
    handlers["ConcatFromSequence"] = list_join;
    handlers["OptionalHasElement"] = has_element;
}

} // namespace eyeroof::formats::onnx
