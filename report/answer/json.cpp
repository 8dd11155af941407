// Answers as JSON, and the schema of it. A key with points is a path: "totals.apart.dram_bytes".
#include "base/json.hpp"

#include "report/answer/write.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

// The members of an object on the way to the last name of a path, made where they are not there.
template <class Enter> std::string last_name(const std::string& path, const Enter& enter) {
    std::size_t from = 0;
    for (std::size_t to = path.find('.'); to != std::string::npos; to = path.find('.', from)) {
        enter(path.substr(from, to - from));
        from = to + 1;
    }
    return path.substr(from);
}

void put(Json& object, const std::string& path, Json value) {
    Json* at = &object;
    const std::string name = last_name(path, [&](const std::string& step) { at = &(*at)[step]; });
    (*at)[name] = std::move(value);
}

Json table_json(const AnswerTable& table);

Json value_json(const Value& value) {
    return std::visit(
        [](const auto& one) -> Json {
            using T = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const AnswerTable>>) {
                return one ? table_json(*one) : Json::array();
            } else {
                return one;
            }
        },
        value);
}

bool is_known(const Value& value) {
    const auto* table = std::get_if<std::shared_ptr<const AnswerTable>>(&value);
    return !std::holds_alternative<std::monostate>(value) &&
           (table == nullptr || (*table && (*table)->size() > 0));
}

Json row_json(const AnswerTable& table, const std::vector<Value>& row) {
    if (row.empty()) {
        return nullptr;
    }
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
        const Head& head = table.columns[c];
        if (head.seen_by(kJson) && (!head.absent || is_known(row[c]))) {
            put(object, head.key, value_json(row[c]));
        }
    }
    return object;
}

// Not of rows that are made later.
Json table_json(const AnswerTable& table) {
    if (table.form == Form::object) {
        return table.rows.empty() ? Json() : row_json(table, table.rows.front());
    }
    Json rows = Json::array();
    for (const auto& row : table.rows) {
        rows.push_back(table.form == Form::list_of_cells ? value_json(row.front())
                                                         : row_json(table, row));
    }
    return rows;
}

bool is_in_json(const AnswerTable& table) {
    return !table.key.empty() &&
           std::ranges::any_of(table.columns, [](const Head& head) { return head.seen_by(kJson); });
}

bool may_be_absent(Form form) {
    return form == Form::object || form == Form::list_if_any;
}

Json object_schema() {
    return {{"type", "object"},
            {"additionalProperties", false},
            {"required", Json::array()},
            {"properties", Json::object()}};
}

void put_schema(Json& object, const std::string& path, Json schema, bool required = true) {
    Json* at = &object;
    const auto require = [&](const std::string& name) {
        if (!required) {
            return;
        }
        for (const Json& there : (*at)["required"]) {
            if (there == name) {
                return;
            }
        }
        (*at)["required"].push_back(name);
    };
    const std::string name = last_name(path, [&](const std::string& step) {
        require(step);
        Json& inner = (*at)["properties"][step];
        inner = inner.is_null() ? object_schema() : std::move(inner);
        at = &inner;
    });
    if (name == "*") {
        (*at)["additionalProperties"] = std::move(schema);
        return;
    }
    require(name);
    (*at)["properties"][name] = std::move(schema);
}

Json table_schema(const std::vector<Head>& columns, Form form);

Json list_schema(Json items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

// A number that cannot be below 0: a whole one, or one whose unit or key says what it measures.
bool is_amount(const Head& head) {
    constexpr std::array kUnits = {Unit::count,       Unit::seconds, Unit::bytes, Unit::iec_bytes,
                                   Unit::bytes_per_s, Unit::joules,  Unit::macs,  Unit::macs_per_s,
                                   Unit::flops_per_s, Unit::hertz,   Unit::watts, Unit::usd};
    constexpr std::array kEndings = {"_s", "_bytes", "_j",    "_pj",   "_hz",
                                     "_w", "macs",   "flops", "cycles"};
    return head.kind == Kind::integer || std::ranges::find(kUnits, head.unit) != kUnits.end() ||
           std::ranges::any_of(kEndings,
                               [&](const char* ending) { return head.key.ends_with(ending); });
}

// Ranges, words, and lengths of the values.
void put_limits(Json& schema, const Head& head) {
    const Limits& limits = head.limits;
    const bool number = head.kind == Kind::integer || head.kind == Kind::number;
    if (limits.above) {
        schema["exclusiveMinimum"] = *limits.above;
    } else if (limits.least || (number && !limits.any_sign && is_amount(head))) {
        schema["minimum"] = limits.least.value_or(0.0);
    }
    if (limits.most) {
        schema["maximum"] = *limits.most;
    }
    if (!limits.words.empty()) {
        schema["enum"] = limits.words;
        if (head.may_miss) {
            schema["enum"].push_back(nullptr);
        }
    }
    if (limits.length > 0) {
        schema["minItems"] = schema["maxItems"] = limits.length;
    }
}

Json head_schema(const Head& head) {
    const auto described = [&head](Json schema) {
        put_limits(schema, head);
        if (!head.meaning.empty()) {
            schema["description"] = head.meaning;
        }
        return schema;
    };
    if (head.kind == Kind::table || head.kind == Kind::number_or_table) {
        Json schema = table_schema(head.columns, head.form);
        if (head.kind == Kind::number_or_table || head.may_miss) {
            schema["type"] = {schema["type"],
                              head.kind == Kind::number_or_table ? "number" : "null"};
        }
        return described(std::move(schema));
    }
    if (head.kind == Kind::list) {
        return described(list_schema({{"type", "string"}}));
    }
    if (head.kind == Kind::numbers) {
        return described(list_schema({{"type", {"number", "null"}}}));
    }
    if (head.kind == Kind::number_or_text) {
        return described({{"type", {"integer", "string"}}});
    }
    const Json type = head.kind == Kind::boolean   ? "boolean"
                      : head.kind == Kind::integer ? "integer"
                      : head.kind == Kind::text    ? "string"
                                                   : "number";
    const bool may_miss = head.may_miss || head.kind == Kind::number; // which may not be finite
    return described({{"type", may_miss ? Json::array({type, "null"}) : type}});
}

Json table_schema(const std::vector<Head>& columns, Form form) {
    if (form == Form::list_of_cells) {
        return list_schema(head_schema(columns.front()));
    }
    Json object = object_schema();
    for (const Head& head : columns) {
        if (head.seen_by(kJson)) {
            put_schema(object, head.key, head_schema(head), !head.absent);
        }
    }
    if (form == Form::list_with_gaps) {
        object["type"] = {"object", "null"};
    }
    return form == Form::object ? object : list_schema(std::move(object));
}

std::string indented(const Json& json) {
    std::string text = json_document(json);
    text.pop_back();
    std::string lines;
    lines.reserve(text.size() + text.size() / 4);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.append("    ").append(text, at, end - at).append(end < text.size() ? "\n" : "");
        at = end + 1;
    }
    return lines;
}

bool write_rows(const AnswerTable& table, const TextSink& sink) {
    bool taken = sink("[");
    for (std::size_t i = 0; taken && i < table.size(); ++i) {
        taken = sink(i == 0 ? "\n" : ",\n") && sink(indented(row_json(table, table.row(i))));
    }
    return taken && sink(table.size() == 0 ? "]" : "\n  ]");
}

// All but the rows that are made later, in the place of which stands null.
Json document_of(const Answer& answer) {
    Json document = {{"schema", answer.schema}};
    if (!answer.scenario.empty()) {
        document["scenario"] = parse_json(answer.scenario);
    }
    document["words"] = answer.question;
    document["sentences"] = answer.sentences;
    document["warnings"] = answer.warnings;
    for (const Figure& figure : answer.figures) {
        const bool there = !figure.head.absent || is_known(figure.value);
        if (figure.head.seen_by(kJson) && there) {
            put(document, figure.head.key, value_json(figure.value));
        }
    }
    for (const AnswerTable& table : answer.tables) {
        if (is_in_json(table) && !(table.form == Form::object && table.rows.empty())) {
            put(document, table.key, table.make ? Json() : table_json(table));
        }
    }
    document["notes"] = answer.notes;
    return document;
}

} // namespace

bool write_json(const Answer& answer, const TextSink& sink) {
    const std::string text = json_document(document_of(answer));
    std::size_t from = 0;
    for (const AnswerTable& table : answer.tables) {
        if (table.make && is_in_json(table)) {
            const std::string place = "\n  \"" + table.key + "\": "; // none inside a string
            const std::size_t at = text.find(place + "null") + place.size();
            if (!sink(std::string_view(text).substr(from, at - from)) || !write_rows(table, sink)) {
                return false;
            }
            from = at + std::string_view("null").size();
        }
    }
    return sink(std::string_view(text).substr(from));
}

std::string to_json(const Answer& answer) {
    return text_of([&](const TextSink& sink) { write_json(answer, sink); });
}

std::string to_schema(const Answer& answer) {
    Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"$id", answer.schema},
                   {"title", answer.title}};
    schema.update(object_schema());
    const auto sentences = [](const char* meaning) {
        Json list = list_schema({{"type", "string"}});
        list["description"] = meaning;
        return list;
    };
    put_schema(schema, "schema", {{"const", answer.schema}});
    put_schema(
        schema, "words",
        {{"description", "what was asked, with the defaults that it takes"}, {"type", "string"}});
    put_schema(schema, "sentences", sentences("the answer in sentences"));
    put_schema(schema, "warnings", sentences("what weakens the answer"));
    for (const Figure& figure : answer.figures) {
        if (figure.head.seen_by(kJson)) {
            put_schema(schema, figure.head.key, head_schema(figure.head), !figure.head.absent);
        }
    }
    for (const AnswerTable& table : answer.tables) {
        if (is_in_json(table)) {
            put_schema(schema, table.key, table_schema(table.columns, table.form),
                       !may_be_absent(table.form));
        }
    }
    put_schema(schema, "notes", sentences("how it was computed, and what is not in it"));
    schema["properties"]["asked"] = {
        {"description", "the command, and its options beside the scenario's"}, {"type", "object"}};
    schema["properties"]["scenario"] = {
        {"description", "what was asked, with every field; --scenario FILE asks it again"},
        {"type", "object"}};
    return json_document(schema);
}

} // namespace eyeroof::report
