// The values of a config.json as Hugging Face libraries write it: by name, with the type that a
// reader wants, and a record of which were read, so that none is dropped in silence.
#pragma once

#include "base/checked.hpp"
#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::hf {

// One object of the file; missing keys, and those that are null, are not given. Wrong types and
// missing keys are errors at the key's line. `json` and `text` outlive it.
class Config {
  public:
    using Json = nlohmann::ordered_json;
    using Names = std::initializer_list<const char*>;

    Config(const Json& json, std::string_view text, const std::string& file, Diagnostics& found);

    bool has(const char* name) const;
    // The first of the names that is given. need(): an error where none is.
    std::optional<Count> count(Names names);
    Count need(Names names);
    Count count_or(Names names, Count otherwise) { return count(names).value_or(otherwise); }
    bool flag(const char* name, bool otherwise = false);
    std::string word(const char* name, std::string otherwise = {});
    double number(const char* name, double otherwise);
    // A list; one word that is not among `known`, where any are, is an error.
    std::vector<std::string> words(const char* name, std::span<const std::string_view> known = {});
    // A list, or none of one number for every layer.
    std::vector<Count> counts(const char* name);
    bool is_list(const char* name);
    std::size_t length(const char* name); // of a list, 0 of anything else
    bool is_object(const char* name) const;
    const Json* object(const char* name);
    const Json& entries(const char* name); // of an object, or of an empty one
    Config inner(const char* name);        // an object, or an empty one
    Config with(const Json& json) const { return {json, text_, file_, *found_}; } // of this file

    void refuse(const char* name, const std::string& why, const std::string& hint);
    // A warning with the keys that nothing read, without those that change no size.
    void tell_unread();
    void read(const char* name) { read_.insert(name); }

  private:
    const Json* find(const char* name);
    int line_of(std::string_view name) const;
    void refuse_type(const char* name, const Json& value, std::string_view wanted);

    const Json* json_;
    std::string_view text_;
    std::string file_;
    Diagnostics* found_;
    std::set<std::string, std::less<>> read_;
};

} // namespace eyeroof::formats::hf
