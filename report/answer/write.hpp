// Writers of every answer. They compute nothing and escape what comes from files. All show the same
// sentences, warnings, figures, and notes; CSV has the rows of one table, and a command reports its
// warnings on the error stream.
#pragma once

#include "base/sink.hpp"
#include "report/answer/answer.hpp"
#include "report/page/page.hpp"

#include <string>
#include <string_view>

namespace eyeroof::report {

// A value as people read it: "1.2 ms", "41 %", "yes"; "-" where it is not known.
std::string value_text(const Value& value, Unit unit);
// A value as programs read it: all digits in base units, "true"; empty where it is not known. Lists
// are joined by ';'.
std::string value_digits(const Value& value);
// "13 ms … 33.9 ms"; empty where one of both is not known.
std::string range_text(const std::optional<double>& low, const std::optional<double>& high,
                       Unit unit);

// Four digits, and no power of ten: 843.7, 15270.
std::string rate_text(double per_s);

// "and 12 more rows: --format json has all"; empty where people see every row.
std::string rest_text(const AnswerTable& table);

// The sentences in one line, each with its point.
std::string paragraph(const Answer& answer);

std::string to_text(const Answer& answer, std::size_t width);
// The tables alone, each behind an empty line.
std::string tables_text(const std::vector<AnswerTable>& tables, std::size_t width);
std::string to_csv(const Answer& answer);
std::string to_json(const Answer& answer);
std::string to_markdown(const Answer& answer);
// A part of a page of its own, behind the picture and before the tables.
struct PagePart {
    std::string html;
    std::string_view style = {};
    std::vector<PageScript> scripts = {page_script()};
};
std::string to_html(const Answer& answer, const PagePart& part = {});
std::string to_svg_picture(const Answer& answer); // empty without a picture
// JSON Schema of to_json(); of an answer to nothing as well, since columns know their kind.
std::string to_schema(const Answer& answer);

// JSON and CSV piece by piece: rows that are made later are never in memory together. The first
// piece of JSON has the schema's name. False where the sink takes no more.
bool write_json(const Answer& answer, const TextSink& sink);
bool write_csv(const Answer& answer, const TextSink& sink);
// The text that a writer gives to a sink.
std::string text_of(const std::function<void(const TextSink&)>& write);

// By the name of its format; text where it has no other name.
std::string written(const Answer& answer, std::string_view format, std::size_t width);

// Sentences, warnings, picture, tables, and notes as HTML, without a page around them.
std::string html_body(const Answer& answer);
// Above the tables: sentences, warnings, and figures. Below them: notes.
std::string html_lead(const Answer& answer);
std::string html_notes(const Answer& answer);

} // namespace eyeroof::report
