// The answer to a question as plain values: sentences, warnings, figures, tables with typed
// columns, and a picture. The writers of text, CSV, JSON, Markdown, and HTML (write.hpp), the
// tables of the window, and the JSON schema follow from it: a figure that is added here appears in
// all of them.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace eyeroof::report {

struct Canvas;
struct Drawing;
struct AnswerTable;

// People read an SI prefix and the unit; programs the base unit with all digits. share: 0.41 is
// 41 %. times: a ratio, 1.4x. bar: 0 … 1, drawn. sentence: text that stands below its row.
// line: text that ends its row, cut where the line does; in a first column what is too long for it
// has a line of its own.
enum class Unit {
    none,
    count,
    seconds,
    bytes,
    iec_bytes,
    bytes_per_s,
    joules,
    macs,
    macs_per_s,
    flops_per_s,
    hertz,
    watts,
    usd,
    share,
    times,
    bar,
    sentence,
    line
};

// monostate: not known. A table in a cell: rows of its own, such as the chain of a layer.
using Value =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>,
                 std::vector<double>, std::shared_ptr<const AnswerTable>>;

// number_or_text: such as a stride, 2 or "2x1". number_or_table: one for all, or an object.
enum class Kind {
    boolean,
    integer,
    number,
    text,
    number_or_text,
    number_or_table,
    list,
    numbers,
    table
};

// The formats that show a figure or a column. kPages: Markdown, HTML, and the window.
inline constexpr unsigned kCsv = 1, kText = 2, kPages = 4, kJson = 8, kPrograms = kCsv | kJson,
                          kPeople = kText | kPages, kAll = kPrograms | kPeople;

// The JSON of a table: an array of objects; the same, which some answers have not, and in a cell
// is absent without rows; the same where a row without cells is null; an array of the only cell of
// each row; the object of the only row, absent without it.
enum class Form { list, list_if_any, list_with_gaps, list_of_cells, object };

// The values that a schema allows. Whole numbers, and amounts of seconds, bytes, joules and so on,
// are 0 at least where nothing else is said.
struct Limits {
    std::optional<double> least = {}, above = {}, most = {};
    bool any_sign = false;
    std::vector<std::string> words = {}; // the only texts
    std::size_t length = 0;              // of a list or a table that always has so many
};
inline const Limits kAnySign{.any_sign = true};
inline const Limits kAboveZero{.above = 0.0};
inline const Limits kStepNumber{.least = 1.0, .most = 7.0}; // of the seven

// A figure's or column's description.
struct Head {
    std::string key;   // "together.dram_bytes": JSON path, and CSV column with '_'; "*": any other
    std::string title; // for people; empty: for programs alone
    Unit unit = Unit::none;
    unsigned where = kAll;
    std::string meaning = {};       // the schema's description, the tooltip
    Kind kind = Kind::number;       // known without a value
    bool may_miss = false;          // null in JSON, an empty cell in CSV
    bool absent = false;            // where it is not known, JSON has not even the key
    Form form = Form::list;         // of a table in a cell
    std::vector<Head> columns = {}; // of the same
    Limits limits = {};

    bool seen_by(unsigned who) const {
        return (where & who) != 0 && !((who & kPrograms) != 0 ? key : title).empty();
    }
};

struct AnswerTable {
    std::string key, title; // JSON member; heading
    std::vector<Head> columns;
    std::vector<std::vector<Value>> rows;
    std::size_t most_for_people = 500; // rows
    Form form = Form::list;
    // Of tables for programs alone: rows that are made one at a time, since a hundred thousand
    // layers have hundreds of megabytes; and a last row that CSV alone has.
    std::size_t made_later = 0;
    std::function<std::vector<Value>(std::size_t)> make = {};
    std::vector<Value> sums = {};

    std::size_t size() const { return make ? made_later : rows.size(); }
    std::vector<Value> row(std::size_t i) const { return make ? make(i) : rows[i]; }
};

template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};

template <class T> struct ArrayLength : std::integral_constant<std::size_t, 0> {};
template <std::size_t N>
struct ArrayLength<std::array<double, N>> : std::integral_constant<std::size_t, N> {};

template <class T> constexpr Kind kind_of() {
    if constexpr (IsOptional<T>::value) {
        return kind_of<typename T::value_type>();
    } else if constexpr (std::same_as<T, bool>) {
        return Kind::boolean;
    } else if constexpr (std::integral<T>) {
        return Kind::integer;
    } else if constexpr (std::floating_point<T>) {
        return Kind::number;
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
        return Kind::list;
    } else if constexpr (std::same_as<T, std::vector<double>> || ArrayLength<T>::value > 0) {
        return Kind::numbers;
    } else if constexpr (std::same_as<T, AnswerTable>) {
        return Kind::table;
    } else {
        return Kind::text;
    }
}

template <class T> Value value_of(const T& value) {
    if constexpr (IsOptional<T>::value) {
        return value ? value_of(*value) : Value();
    } else if constexpr (ArrayLength<T>::value > 0) {
        return std::vector<double>(value.begin(), value.end());
    } else if constexpr (kind_of<T>() == Kind::boolean || kind_of<T>() == Kind::list ||
                         kind_of<T>() == Kind::numbers) {
        return value;
    } else if constexpr (kind_of<T>() == Kind::integer) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (kind_of<T>() == Kind::number) {
        return std::isfinite(value) ? Value(static_cast<double>(value)) : Value();
    } else if constexpr (kind_of<T>() == Kind::table) {
        return std::make_shared<const AnswerTable>(value);
    } else {
        return std::string(value);
    }
}

struct Figure { // outside of tables
    Head head;
    Value value;

    Figure(Head head_, Value value_) : head(std::move(head_)), value(std::move(value_)) {}
    template <class T>
    Figure(std::string key, std::string title, const T& value, Unit unit = Unit::none,
           unsigned where = kAll, std::string meaning = {})
        : head{std::move(key), std::move(title),    unit, where, std::move(meaning),
               kind_of<T>(),   IsOptional<T>::value},
          value(value_of(value)) {}
};

template <class Row> struct Column {
    Head head;
    std::function<Value(const Row&)> of;

    // `get`: a member of the row, or a function of it.
    template <class Get>
    Column(std::string key, std::string title, Unit unit, Get get, unsigned where = kAll,
           std::string meaning = {}) {
        using T = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;
        head = {std::move(key), std::move(title),    unit, where, std::move(meaning),
                kind_of<T>(),   IsOptional<T>::value};
        head.limits.length = ArrayLength<T>::value;
        of = [get](const Row& row) { return value_of<T>(std::invoke(get, row)); };
    }
    // For programs alone.
    template <class Get>
    Column(std::string key, Get get, unsigned where = kPrograms, std::string meaning = {})
        : Column(std::move(key), std::string(), Unit::none, std::move(get), where,
                 std::move(meaning)) {}
};

template <class Row>
std::vector<Value> cells_of(const Row& row, const std::vector<Column<Row>>& columns) {
    std::vector<Value> cells;
    for (const Column<Row>& column : columns) {
        cells.push_back(column.of(row));
    }
    return cells;
}

template <class Row>
AnswerTable make_table(std::string key, std::string title, const std::vector<Row>& rows,
                       const std::vector<Column<Row>>& columns, Form form = Form::list) {
    AnswerTable made{std::move(key), std::move(title), {}, {}};
    made.form = form;
    for (const Column<Row>& column : columns) {
        made.columns.push_back(column.head);
    }
    for (const Row& row : rows) {
        made.rows.push_back(cells_of(row, columns));
    }
    return made;
}

// The same with rows that are made when a writer comes to them; `rows` must outlive the table.
template <class Row>
AnswerTable make_table_later(std::string key, const std::vector<Row>& rows,
                             std::vector<Column<Row>> columns) {
    AnswerTable made = make_table<Row>(std::move(key), {}, {}, columns);
    made.made_later = rows.size();
    made.make = [&rows, columns = std::move(columns)](std::size_t i) {
        return cells_of(rows[i], columns);
    };
    return made;
}

// A column whose cells are tables: JSON has an array of objects, text its rows below the row that
// they belong to. `rows`: a member of the row, or a function of it.
template <class Row, class Inner, class Rows>
Column<Row> nested(std::string key, std::string title, Rows rows,
                   const std::vector<Column<Inner>>& columns, unsigned where = kAll,
                   std::string meaning = {}, Form form = Form::list) {
    const auto get = [rows, columns, form](const Row& row) {
        return make_table<Inner>({}, {}, std::invoke(rows, row), columns, form);
    };
    Column<Row> made(std::move(key), std::move(title), Unit::none, get, where, std::move(meaning));
    made.head.columns = make_table<Inner>({}, {}, {}, columns).columns;
    made.head.form = form;
    made.head.absent = form == Form::object || form == Form::list_if_any;
    return made;
}

// None or one row.
template <class Row> std::vector<Row> one_or_none(const std::optional<Row>& row) {
    return row ? std::vector<Row>{*row} : std::vector<Row>();
}

// A column whose cells are objects of JSON: `get`, a member of the row or a function of it, gives
// an optional, and the key is absent where that is empty.
template <class Row, class Inner, class Get>
Column<Row> object(std::string key, Get get, const std::vector<Column<Inner>>& columns,
                   std::string meaning = {}) {
    const auto rows = [get](const Row& row) { return one_or_none<Inner>(std::invoke(get, row)); };
    return nested<Row, Inner>(std::move(key), "", rows, columns, kJson, std::move(meaning),
                              Form::object);
}

// A column or figure whose schema says more than its type.
template <class Described> Described limited(Described described, Limits limits) {
    described.head.limits = std::move(limits);
    return described;
}

// Columns whose keys are absent from JSON where their optional values are empty.
template <class Row> std::vector<Column<Row>> absent_if_unknown(std::vector<Column<Row>> columns) {
    for (Column<Row>& column : columns) {
        column.head.absent = column.head.absent || column.head.may_miss;
    }
    return columns;
}

// Columns of objects whose keys are null where there is none.
template <class Row> Column<Row> null_if_unknown(Column<Row> column) {
    column.head.absent = false;
    column.head.may_miss = true;
    return column;
}

// A text that is not known where it is empty.
inline std::optional<std::string> known_text(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

// Figures of one row, each a column.
template <class Row>
void add_figures(std::vector<Figure>& figures, const Row& row,
                 const std::vector<Column<Row>>& columns) {
    for (const Column<Row>& column : columns) {
        figures.push_back({column.head, column.of(row)});
    }
}

struct Answer {
    std::string schema, title;
    std::string question;               // what was asked, in words
    std::string scenario = {};          // the same as JSON that can be asked again; or empty
    std::vector<std::string> sentences; // the first paragraph: the answer
    std::vector<std::string> warnings;  // what weakens the answer: never left out
    std::vector<Figure> figures;
    std::vector<AnswerTable> tables;
    std::string rows;               // the table that CSV writes; empty: the first
    std::vector<std::string> notes; // below all else
    std::function<Drawing(const Canvas&)> picture;
    std::function<std::string(std::size_t width)> plot_text; // the picture in characters
    std::string svg;                                         // a picture that is drawn already
    std::vector<std::string> commands;                       // that were asked, as they are typed
    std::vector<Answer> parts; // for people: answers below the tables, each with its title
    std::string bars; // a column of the first table that a page draws where there is no picture
};

} // namespace eyeroof::report
