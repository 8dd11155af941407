// Field numbers are those of onnx.proto, https://github.com/onnx/onnx, IR
// version 13.
#include "study/formats/onnx/read_graph.hpp"

#include "study/formats/onnx/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace eyeroof::study::onnx {

namespace {

constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kDouble = 11;

// Goes over a message's fields; remembers whether any message of the file was
// broken.
class Reader {
  public:
    template <class Take> void each(std::string_view message, Take take) {
        Fields fields(message);
        while (const auto field = fields.next()) {
            take(*field);
        }
        broken_ = broken_ || fields.broken();
    }
    void integers(const Field& field, std::vector<std::int64_t>& values) {
        broken_ |= !each_varint(field, [&](std::uint64_t v) {
            if (values.size() < kMostValues) {
                values.push_back(static_cast<std::int64_t>(v));
            }
        });
    }

    OnnxGraph model(std::string_view bytes);
    bool broken() const { return broken_; }
    bool full() const { return full_; }

  private:
    void graph(std::string_view bytes, OnnxGraph& graph);
    OnnxNode node(std::string_view bytes);
    std::pair<std::string, Attribute> attribute(std::string_view bytes);
    std::pair<std::string, Constant> tensor(std::string_view bytes);
    std::pair<std::string, TensorType> value(std::string_view bytes);
    TensorType type(std::string_view bytes);
    std::vector<Dim> dims(std::string_view bytes);
    OnnxFunction function(std::string_view bytes);
    void opset(std::string_view bytes, std::int64_t& version);
    void add(std::vector<OnnxNode>& nodes, std::string_view bytes);

    bool broken_ = false;
    bool full_ = false;
    std::size_t nodes_ = 0;
};

std::string text(const Field& field) {
    std::string copy(field.bytes.substr(0, 1000)); // names of a megabyte are nobody's
    std::replace_if(
        copy.begin(), copy.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
    return copy;
}

// Little-endian elements of `raw_data`.
std::optional<std::vector<double>> raw_values(std::string_view raw, int element) {
    const auto read = [&](auto sample) {
        using T = decltype(sample);
        std::vector<double> values(raw.size() / sizeof(T));
        for (std::size_t i = 0; i < values.size(); ++i) {
            T value;
            std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
            values[i] = static_cast<double>(value);
        }
        return values;
    };
    switch (element) {
    case kInt64:
        return read(std::int64_t{});
    case kInt32:
        return read(std::int32_t{});
    case kFloat:
        return read(float{});
    case kDouble:
        return read(double{});
    case kBool:
    case kUint8:
        return read(std::uint8_t{});
    case kInt8:
        return read(std::int8_t{});
    default:
        return std::nullopt;
    }
}

// Of a repeated field, packed or one by one.
std::vector<double> floats(const Field& field) {
    if (field.wire != Wire::bytes) {
        return {static_cast<double>(field.real())};
    }
    return raw_values(field.bytes.substr(0, kMostValues * 4), kFloat)
        .value_or(std::vector<double>{});
}

std::optional<std::size_t> elements_of(const std::vector<std::int64_t>& dims) {
    model::Count product = 1;
    for (const std::int64_t dim : dims) {
        const auto next = dim < 0 ? std::nullopt : model::checked_mul(product, dim);
        if (!next) {
            return std::nullopt;
        }
        product = *next;
    }
    return static_cast<std::size_t>(product);
}

std::pair<std::string, Constant> Reader::tensor(std::string_view bytes) {
    std::pair<std::string, Constant> named;
    Constant& constant = named.second;
    std::string_view raw;
    std::vector<double> listed;
    const auto number = [&](double value) {
        if (listed.size() < kMostValues) {
            listed.push_back(value);
        }
    };
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            integers(f, constant.dims);
        } else if (f.number == 2) {
            constant.element = static_cast<int>(f.value & 0xFFU);
        } else if (f.number == 5 || f.number == 7) { // int32_data, int64_data
            broken_ |= !each_varint(f, [&](std::uint64_t v) {
                number(static_cast<double>(static_cast<std::int64_t>(v)));
            });
        } else if (f.number == 4 && f.wire == Wire::fixed32) {
            number(f.real());
        } else if (f.number == 4 && f.bytes.size() <= kMostValues * 4) { // packed float_data
            const std::vector<double> values = floats(f);
            std::for_each(values.begin(), values.end(), number);
        } else if (f.number == 8) {
            named.first = text(f);
        } else if (f.number == 9) {
            raw = f.bytes;
        }
    });
    const auto elements = elements_of(constant.dims);
    if (elements && *elements <= kMostValues && raw.size() <= kMostValues * 8) {
        constant.values = raw.empty() ? listed : raw_values(raw, constant.element);
        if (constant.values && constant.values->size() != *elements) {
            constant.values.reset(); // the data lies in another file, or not at all
        }
    }
    return named;
}

std::vector<Dim> Reader::dims(std::string_view bytes) {
    std::vector<Dim> all;
    each(bytes, [&](const Field& f) {
        Dim dim;
        each(f.bytes, [&](const Field& part) {
            if (part.number == 1 && part.integer() >= 0) {
                dim.size = part.integer();
            } else if (part.number == 2) {
                dim.name = text(part);
            }
        });
        if (f.number == 1 && all.size() < 64) {
            all.push_back(std::move(dim));
        }
    });
    return all;
}

TensorType Reader::type(std::string_view bytes) {
    TensorType type;
    each(bytes, [&](const Field& f) { // 1: tensor_type; others (sequences, maps)
                                      // have no shape here
        if (f.number != 1) {
            return;
        }
        each(f.bytes, [&](const Field& part) {
            if (part.number == 1) {
                type.element = static_cast<int>(part.value & 0xFFU);
            } else if (part.number == 2) {
                type.dims = dims(part.bytes);
            }
        });
    });
    return type;
}

std::pair<std::string, TensorType> Reader::value(std::string_view bytes) {
    std::pair<std::string, TensorType> named;
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            named.first = text(f);
        } else if (f.number == 2) {
            named.second = type(f.bytes);
        }
    });
    return named;
}

std::pair<std::string, Attribute> Reader::attribute(std::string_view bytes) {
    std::pair<std::string, Attribute> named;
    Attribute& a = named.second;
    each(bytes, [&](const Field& f) {
        switch (f.number) {
        case 1:
            named.first = text(f);
            break;
        case 2:
            a.f = f.real();
            break;
        case 3:
            a.i = f.integer();
            break;
        case 4:
            a.s = text(f);
            break;
        case 5:
            a.tensor = tensor(f.bytes).second;
            break;
        case 7: {
            const std::vector<double> values = floats(f);
            a.floats.insert(a.floats.end(), values.begin(), values.end());
            break;
        }
        case 8:
            integers(f, a.ints);
            break;
        case 21:
            a.refers = text(f);
            break;
        default:
            break; // graphs: those of Loop and If are told, not walked
        }
    });
    return named;
}

OnnxNode Reader::node(std::string_view bytes) {
    OnnxNode node;
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            node.inputs.push_back(text(f));
        } else if (f.number == 2) {
            node.outputs.push_back(text(f));
        } else if (f.number == 3) {
            node.name = text(f);
        } else if (f.number == 4) {
            node.op = text(f);
        } else if (f.number == 5) {
            node.attributes.insert(attribute(f.bytes));
        } else if (f.number == 7) {
            node.domain = text(f);
        }
    });
    node.domain = node.domain == "ai.onnx" ? "" : node.domain;
    return node;
}

void Reader::add(std::vector<OnnxNode>& nodes, std::string_view bytes) {
    full_ = full_ || ++nodes_ > kMostNodes;
    if (!full_) {
        nodes.push_back(node(bytes));
    }
}

void Reader::graph(std::string_view bytes, OnnxGraph& graph) {
    std::vector<std::pair<std::string, TensorType>> inputs;
    each(bytes, [&](const Field& f) {
        switch (f.number) {
        case 1:
            add(graph.nodes, f.bytes);
            break;
        case 2:
            graph.name = text(f);
            break;
        case 5:
            graph.constants.insert(tensor(f.bytes));
            break;
        case 11:
            inputs.push_back(value(f.bytes));
            break;
        case 12: {
            auto output = value(f.bytes);
            graph.outputs.push_back(output.first);
            graph.told.insert(std::move(output));
            break;
        }
        case 13:
            graph.told.insert(value(f.bytes));
            break;
        case 15: // sparse initializers: their values are a tensor of their own
            each(f.bytes, [&](const Field& part) {
                if (part.number == 1) {
                    graph.constants.insert(tensor(part.bytes));
                }
            });
            break;
        default:
            break;
        }
    });
    for (auto& [name, type] : inputs) { // before IR version 4 initializers are inputs too
        if (!graph.constants.contains(name)) {
            graph.inputs.push_back(name);
            graph.input_types[name] = std::move(type);
        }
    }
}

OnnxFunction Reader::function(std::string_view bytes) {
    OnnxFunction function;
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            function.op = text(f);
        } else if (f.number == 4) {
            function.inputs.push_back(text(f));
        } else if (f.number == 5) {
            function.outputs.push_back(text(f));
        } else if (f.number == 7) {
            add(function.nodes, f.bytes);
        } else if (f.number == 10) {
            function.domain = text(f);
        } else if (f.number == 11) {
            function.defaults.insert(attribute(f.bytes));
        }
    });
    return function;
}

void Reader::opset(std::string_view bytes, std::int64_t& version) {
    std::string domain;
    std::int64_t number = 1;
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            domain = text(f);
        } else if (f.number == 2) {
            number = f.integer();
        }
    });
    version = domain.empty() || domain == "ai.onnx" ? number : version;
}

OnnxGraph Reader::model(std::string_view bytes) {
    OnnxGraph result;
    each(bytes, [&](const Field& f) {
        if (f.number == 7 && f.wire == Wire::bytes) {
            graph(f.bytes, result);
        } else if (f.number == 8 && f.wire == Wire::bytes) {
            opset(f.bytes, result.opset);
        } else if (f.number == 25 && f.wire == Wire::bytes) {
            result.functions.push_back(function(f.bytes));
        }
    });
    return result;
}

} // namespace

model::Result<OnnxGraph> read_graph(std::string_view bytes, const std::string& file) {
    Reader reader;
    OnnxGraph graph = reader.model(bytes);
    using Answer = model::Result<OnnxGraph>;
    if (reader.broken()) {
        return Answer::failure("bad-onnx", "the file is broken off, or is no ONNX model",
                               "write it anew; `net check` reads other formats too", {file, 0, 0});
    }
    if (reader.full()) {
        return Answer::failure("too-many-layers",
                               fmt::format("the graph has more than {} nodes", kMostNodes),
                               "export the model in parts", {file, 0, 0});
    }
    if (graph.nodes.empty()) {
        return Answer::failure("no-layers", "the file holds no graph with nodes",
                               "is it an ONNX model?", {file, 0, 0});
    }
    return graph;
}

bool looks_like_onnx(std::string_view start) {
    Fields fields(start);
    const auto first = fields.next();
    return first && first->number == 1 && first->wire == Wire::varint && first->value < 1000 &&
           start.front() == '\x08';
}

model::DataType data_type_of(int element) {
    using model::DataType;
    switch (element) {
    case 10:
        return DataType::fp16;
    case 16:
        return DataType::bf16;
    case kDouble:
        return DataType::fp64;
    case kUint8:
    case kInt8:
    case kBool:
        return DataType::int8;
    case 4:
    case 5:
        return DataType::int16;
    case kInt32:
    case kInt64:
    case 12:
    case 13:
        return DataType::int32;
    case 17:
    case 18:
    case 19:
    case 20:
    case 24:
        return DataType::fp8;
    case 21:
    case 22:
    case 23:
        return DataType::int4;
    default:
        return DataType::fp32;
    }
}

} // namespace eyeroof::study::onnx
