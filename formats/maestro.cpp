#include "formats/maestro.hpp"

#include "base/suggest.hpp"
#include "formats/maestro_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

struct Amount {
    Count value = 1;
    Token token;
};
using Numbers = std::map<std::string, Amount, std::less<>>;

struct MaestroLayer {
    Token name;
    Token type;
    Numbers dims;
    Numbers stride; // of a transposed convolution: by how much it expands its input
    Numbers pool;
};

const std::vector<std::string> kTypes = {"CONV",   "DSCONV", "NGCONV", "FC",
                                         "TRCONV", "POOL",   "GEMM",   "BMM"};

class MaestroParser {
  public:
    MaestroParser(std::string_view text, const std::string& file)
        : file_(file), tokens_(tokens_of(text)) {}

    Result<Network> run(const std::string& id) {
        Network network;
        network.id = id;
        network.name = id;
        network.source = "MAESTRO layers";
        if (tokens_.size() > kMaxTokens) {
            return Result<Network>::failure(
                "too-large", fmt::format("the file has more than {} words and marks", kMaxTokens),
                "a network has thousands of layers at most; larger ones are layer tables",
                where(tokens_.back()));
        }
        while (!peek().text.empty() && !stuck_) {
            const Token word = next();
            if (word.text == "Constant") {
                read_constant();
            } else if (word.text == "Network") {
                read_network(network);
            } else if (word.text == "Accelerator") {
                skip_block();
            } else if (word.text == "Dataflow") {
                found_.error("unsupported", "this file holds a dataflow and no layers",
                             "pass it with --constraints beside a network", where(word));
                stuck_ = true;
            } else {
                wrong(word, "expected Constant, Network or Accelerator");
                stuck_ = true;
            }
        }
        if (network.layers.empty() && !found_.has_errors()) {
            found_.error("no-layers", "the file names no layer",
                         "it has Network NAME { Layer NAME { … } }", {file_, 1, 1});
        }
        return found_.has_errors() ? Result<Network>(std::move(found_))
                                   : Result<Network>(std::move(network), std::move(found_));
    }

  private:
    const Token& peek() const { return tokens_[at_]; }
    Token next() {
        const Token token = tokens_[at_];
        at_ += at_ + 1 < tokens_.size() ? 1 : 0;
        return token;
    }
    SourceLocation where(const Token& token) const { return {file_, token.line, token.column}; }
    void wrong(const Token& token, const std::string& expected) {
        found_.error("syntax",
                     token.text.empty() ? fmt::format("{}, found the end of the file", expected)
                                        : fmt::format("{}, found '{}'", expected, token.text),
                     "is a bracket left open?", where(token));
    }
    bool accept(std::string_view mark) {
        const bool there = peek().text == mark;
        if (there) {
            next();
        }
        return there;
    }
    bool expect(std::string_view mark) {
        const bool there = accept(mark);
        if (!there) {
            wrong(peek(), fmt::format("expected '{}'", mark));
            stuck_ = true;
        }
        return there;
    }
    // From '{' to the '}' that belongs to it.
    void skip_block() {
        if (!expect("{")) {
            return;
        }
        for (int depth = 1; depth > 0;) {
            const Token token = next();
            depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
            if (token.text.empty()) {
                wrong(token, "expected '}'");
                stuck_ = true;
                return;
            }
        }
    }

    // A number, or a constant's name.
    std::optional<Amount> read_number() {
        const Token token = next();
        if (const auto known = constants_.find(token.text); known != constants_.end()) {
            return Amount{known->second, token};
        }
        Count value = 0;
        const char* end = token.text.data() + token.text.size();
        const auto read = std::from_chars(token.text.data(), end, value);
        if (token.text.empty() || read.ec != std::errc{} || read.ptr != end || value < 1 ||
            value > kMaxDimension) {
            std::vector<std::string> names;
            for (const auto& [name, known] : constants_) {
                names.push_back(name);
            }
            found_.error("bad-number",
                         fmt::format("'{}' is no number from 1 to {}, nor a constant", token.text,
                                     kMaxDimension),
                         closest(token.text, names).empty()
                             ? std::string("write a whole number, or declare it: Constant NAME 64;")
                             : suggestion(token.text, names),
                         where(token));
            return std::nullopt;
        }
        return Amount{value, token};
    }

    void read_constant() {
        const Token name = next();
        if (const auto number = read_number()) {
            constants_.insert_or_assign(std::string(name.text), number->value);
        }
        accept(";");
    }

    void read_network(Network& network) {
        network.name = std::string(next().text);
        if (!expect("{")) {
            return;
        }
        while (!accept("}") && !stuck_) {
            const Token word = next();
            if (word.text == "Layer") {
                read_layer(network);
            } else {
                wrong(word, "expected Layer or '}'");
                stuck_ = true;
            }
        }
    }

    void read_layer(Network& network) {
        MaestroLayer layer;
        layer.name = next();
        if (!expect("{")) {
            return;
        }
        while (!accept("}") && !stuck_) {
            const Token word = next();
            if (word.text == "Type") {
                accept(":");
                layer.type = next();
                accept(";");
            } else if (word.text == "Stride" || word.text == "ExpansionSize" ||
                       word.text == "PoolSize") {
                (word.text == "PoolSize" ? layer.pool : layer.stride) = read_numbers();
            } else if (word.text == "Dimensions") {
                layer.dims = read_numbers();
            } else if (word.text == "Dataflow") {
                skip_block();
            } else {
                static const std::vector<std::string> known = {"Type", "Stride", "Dimensions",
                                                               "Dataflow"};
                found_.error("unknown-key",
                             fmt::format("a layer has no '{}'", std::string(word.text)),
                             suggestion(word.text, known), where(word));
                stuck_ = true;
            }
        }
        if (!stuck_) {
            add_layer(layer, network);
        }
    }

    // { K: 64, C 3 }: colons and commas may be left out.
    Numbers read_numbers() {
        Numbers numbers;
        if (!expect("{")) {
            return numbers;
        }
        while (!accept("}") && !stuck_) {
            const Token name = next();
            if (name.text.empty() || !in_name(name.text.front())) {
                wrong(name, "expected a dimension");
                stuck_ = true;
                break;
            }
            accept(":");
            if (const auto number = read_number()) {
                const auto [there, fresh] =
                    numbers.emplace(std::string(name.text), Amount{number->value, name});
                if (!fresh && there->second.value == number->value) {
                    found_.warning("duplicate-key",
                                   fmt::format("'{}' is given twice", std::string(name.text)),
                                   "give it once", where(name));
                } else if (!fresh) {
                    found_.error("duplicate-key",
                                 fmt::format("'{}' is given twice", std::string(name.text)),
                                 "give it once", where(name));
                }
            }
            accept(",");
            accept(";");
        }
        return numbers;
    }

    void add_layer(const MaestroLayer& text, Network& network) {
        Layer layer;
        layer.name = std::string(text.name.text);
        const std::string type(text.type.text);
        if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
            found_.error("unsupported",
                         type.empty() ? fmt::format("layer {} has no Type", layer.name)
                                      : fmt::format("layers of type {} are not read", type),
                         suggestion(type, kTypes), where(type.empty() ? text.name : text.type));
            return;
        }
        const bool product = type == "GEMM" || type == "BMM";
        if (product          ? !fill_product(text, type == "BMM", layer)
            : type == "POOL" ? !fill_pool(text, layer)
                             : !fill_conv(text, type, layer)) {
            return;
        }
        if (type == "TRCONV" && !transpose(text, layer)) {
            return;
        }
        Diagnostics faults = validate(layer);
        faults.place(where(text.name), layer.name);
        found_.append(faults);
        network.layers.push_back(std::move(layer));
    }

    // Every dimension that the type has, and no other; nothing when something is missing.
    std::optional<std::map<std::string, Count>> sizes(const MaestroLayer& text,
                                                      const std::vector<std::string>& needed,
                                                      const std::vector<std::string>& optional) {
        std::map<std::string, Count> values;
        bool complete = true;
        for (const auto& [name, number] : text.dims) {
            const auto known = [&key = name](const std::vector<std::string>& list) {
                return std::find(list.begin(), list.end(), key) != list.end();
            };
            if (known(needed) || known(optional)) {
                values[name] = number.value;
                continue;
            }
            std::vector<std::string> all = needed;
            all.insert(all.end(), optional.begin(), optional.end());
            found_.error("unknown-key",
                         fmt::format("layers of type {} have no dimension {}",
                                     std::string(text.type.text), name),
                         suggestion(name, all), where(number.token));
            complete = false;
        }
        for (const std::string& name : needed) {
            if (!values.contains(name) && complete) {
                found_.error(
                    "missing-key",
                    fmt::format("layer {} has no dimension {}", std::string(text.name.text), name),
                    "add it to Dimensions", where(text.name));
                complete = false;
            }
        }
        return complete ? std::optional(values) : std::nullopt;
    }

    bool fill_product(const MaestroLayer& text, bool batched, Layer& layer) {
        const auto size =
            sizes(text, {"M", "N", "K"},
                  batched ? std::vector<std::string>{"B"} : std::vector<std::string>{});
        if (!size) {
            return false;
        }
        layer.op = batched ? Op::bmm : Op::gemm;
        layer.shape = GemmShape{size->contains("B") ? size->at("B") : 1, size->at("M"),
                                size->at("N"), size->at("K")};
        return true;
    }

    bool fill_conv(const MaestroLayer& text, const std::string& type, Layer& layer) {
        const auto size = sizes(text, {"C", "R", "S", "Y", "X"}, {"N", "K", "G"});
        if (!size) {
            return false;
        }
        const auto of = [&](const char* name) {
            return size->contains(name) ? size->at(name) : Count{1};
        };
        ConvShape s;
        s.groups = type == "DSCONV" ? of("C") : of("G");
        const auto c = type == "DSCONV" ? std::optional(of("C")) : checked_mul(of("C"), s.groups);
        const auto k = checked_mul(of("K"), s.groups);
        if (!c || !k) {
            found_.error("overflow", "the channels do not fit 63 bits", "make the layer smaller",
                         where(text.name));
            return false;
        }
        s.c = *c;
        s.k = *k;
        s.n = of("N");
        s.h = of("Y");
        s.w = of("X");
        s.r = of("R");
        s.s = of("S");
        s.stride = stride_of(text);
        layer.op = Op::conv2d;
        layer.shape = s;
        return true;
    }

    Extent2 stride_of(const MaestroLayer& text) {
        Extent2 stride;
        for (const auto& [name, number] : text.stride) {
            if (name == "X" || name == "Y") {
                (name == "Y" ? stride.h : stride.w) = number.value;
            } else {
                found_.error("unknown-key", fmt::format("a stride has no '{}'", name),
                             "known: X, Y", where(number.token));
            }
        }
        return stride;
    }

    // A transposed convolution of C channels to K is the gradient, in respect of its input, of a
    // convolution of K channels to C: every input value meets all R S taps, and the output has
    // (Y - 1) stride + R rows.
    bool transpose(const MaestroLayer& text, Layer& layer) {
        auto& s = std::get<ConvShape>(layer.shape);
        const auto rows = checked_mul(s.h - 1, s.stride.h);
        const auto columns = checked_mul(s.w - 1, s.stride.w);
        const auto weights = checked_mul(s.c / s.groups, s.k);
        const auto taps = checked_mul(s.r, s.s);
        const auto learned = weights && taps ? checked_mul(*weights, *taps) : std::nullopt;
        if (!rows || !columns || !learned) {
            found_.error("overflow", "the output does not fit 63 bits", "make the layer smaller",
                         where(text.name));
            return false;
        }
        s.h = *rows + s.r;
        s.w = *columns + s.s;
        std::swap(s.c, s.k);
        layer.direction = Direction::bwd_data;
        layer.parameters = *learned;
        return true;
    }

    bool fill_pool(const MaestroLayer& text, Layer& layer) {
        const auto size = sizes(text, {"Y", "X"}, {"N", "K", "C", "R", "S"});
        if (!size) {
            return false;
        }
        const auto of = [&](const char* name) {
            return size->contains(name) ? size->at(name) : Count{1};
        };
        PoolShape pool{of("N"),         std::max(of("C"), of("K")),
                       of("Y"),         of("X"),
                       of("R"),         of("S"),
                       stride_of(text), {0, 0}};
        for (const auto& [name, number] : text.pool) {
            (name == "Y" || name == "R" ? pool.r : pool.s) = number.value;
        }
        layer.op = Op::maxpool;
        layer.shape = pool;
        return true;
    }

    std::string file_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    bool stuck_ = false; // the nesting is lost: what follows would only be noise
    std::map<std::string, Count, std::less<>> constants_;
    Diagnostics found_;
};

} // namespace

bool is_maestro(std::string_view text) {
    const std::vector<Token> tokens = tokens_of(text.substr(0, 20000));
    const bool word = tokens[0].text == "Constant" || tokens[0].text == "Network" ||
                      tokens[0].text == "Accelerator";
    return (word && tokens.size() > 2 && !tokens[1].text.empty() &&
            (in_name(tokens[1].text.front()) || tokens[1].text == "{") && tokens[1].text != ":") ||
           is_maestro_dataflow(text);
}

bool is_maestro_dataflow(std::string_view text) {
    const std::vector<Token> tokens = tokens_of(text.substr(0, 20000));
    return tokens.size() > 2 && tokens[0].text == "Dataflow" && tokens[1].text == "{";
}

Result<Network> parse_maestro(std::string_view text, const std::string& file) {
    const std::size_t slash = file.rfind('/');
    std::string stem = slash == std::string::npos ? file : file.substr(slash + 1);
    stem = stem.substr(0, std::min(stem.rfind('.'), stem.size()));
    return MaestroParser(text, file).run(stem);
}

} // namespace eyeroof::formats
