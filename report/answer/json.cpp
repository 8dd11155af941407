// Answers as JSON, and the schema of it. A key with points is a path: "totals.apart.dram_bytes".
#include "base/json.hpp"

#include "report/answer/write.hpp"

#include <nlohmann/json.hpp>

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

Json rows_json(const AnswerTable& table);

Json value_json(const Value& value) {
    return std::visit(
        [](const auto& one) -> Json {
            using T = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const AnswerTable>>) {
                return one ? rows_json(*one) : Json::array();
            } else {
                return one;
            }
        },
        value);
}

Json rows_json(const AnswerTable& table) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
        Json object = Json::object();
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (table.columns[c].seen_by(kPrograms)) {
                put(object, table.columns[c].key, value_json(row[c]));
            }
        }
        rows.push_back(std::move(object));
    }
    return rows;
}

Json object_schema() {
    return {{"type", "object"},
            {"additionalProperties", false},
            {"required", Json::array()},
            {"properties", Json::object()}};
}

void put_schema(Json& object, const std::string& path, Json schema) {
    Json* at = &object;
    const auto require = [&](const std::string& name) {
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
    require(name);
    (*at)["properties"][name] = std::move(schema);
}

Json rows_schema(const std::vector<Head>& columns);

Json list_schema(Json items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

Json head_schema(const Head& head) {
    const auto described = [&head](Json schema) {
        if (!head.meaning.empty()) {
            schema["description"] = head.meaning;
        }
        return schema;
    };
    if (head.kind == Kind::table) {
        return described(rows_schema(head.columns));
    }
    if (head.kind == Kind::list) {
        return described(list_schema({{"type", "string"}}));
    }
    if (head.kind == Kind::numbers) {
        return described(list_schema({{"type", {"number", "null"}}}));
    }
    const Json type = head.kind == Kind::boolean   ? "boolean"
                      : head.kind == Kind::integer ? "integer"
                      : head.kind == Kind::text    ? "string"
                                                   : "number";
    const bool may_miss = head.may_miss || head.kind == Kind::number; // which may not be finite
    return described({{"type", may_miss ? Json::array({type, "null"}) : type}});
}

Json rows_schema(const std::vector<Head>& columns) {
    Json object = object_schema();
    for (const Head& head : columns) {
        if (head.seen_by(kPrograms)) {
            put_schema(object, head.key, head_schema(head));
        }
    }
    return list_schema(std::move(object));
}

} // namespace

std::string to_json(const Answer& answer) {
    Json document = {{"schema", answer.schema},
                     {"words", answer.question},
                     {"sentences", answer.sentences},
                     {"warnings", answer.warnings}};
    for (const Figure& figure : answer.figures) {
        if (figure.head.seen_by(kPrograms)) {
            put(document, figure.head.key, value_json(figure.value));
        }
    }
    for (const AnswerTable& table : answer.tables) {
        if (!table.key.empty()) {
            put(document, table.key, rows_json(table));
        }
    }
    document["notes"] = answer.notes;
    return json_document(document);
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
        if (figure.head.seen_by(kPrograms)) {
            put_schema(schema, figure.head.key, head_schema(figure.head));
        }
    }
    for (const AnswerTable& table : answer.tables) {
        if (!table.key.empty()) {
            put_schema(schema, table.key, rows_schema(table.columns));
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
