// The profile file's writer: JSON lines, plain or gzip.
#include "base/file.hpp"
#include "profiles/launch_line.hpp"
#include "profiles/profile_file.hpp"
#include "profiles/run_fields.hpp"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <array>
#include <sstream>

namespace eyeroof::profiles {

namespace {

using Json = nlohmann::json;

Json to_json(const RunInfo& run) {
    Json json = Json::object();
    for (const TextField& field : kTextFields) {
        if (!(run.*field.member).empty()) {
            json[field.key] = run.*field.member;
        }
    }
    for (const NumberField& field : kNumberFields) {
        if (run.*field.member != 0.0) {
            json[field.key] = run.*field.member;
        }
    }
    if (run.sm_count != 0) {
        json["sm_count"] = run.sm_count;
    }
    if (run.ranks != 0) {
        json["ranks"] = run.ranks;
    }
    if (run.rank >= 0) {
        json["rank"] = run.rank;
    }
    return json;
}

Json to_json(const Operator& op) {
    Json json = {{"name", op.name}, {"input_dims", op.input_dims}};
    if (!op.input_types.empty()) {
        json["input_types"] = op.input_types;
    }
    if (!op.concrete_inputs.empty()) {
        json["concrete_inputs"] = op.concrete_inputs;
    }
    if (!op.borrowed_from.empty()) {
        json["borrowed_from"] = op.borrowed_from;
    }
    if (!op.input_strides.empty()) {
        json["input_strides"] = op.input_strides;
    }
    for (const ListedTensor& tensor : op.listed) {
        json["listed"].push_back({{"argument", tensor.argument}, {"dims", tensor.dims}});
    }
    return json;
}

Json to_json(const DeviceCopy& copy) {
    Json json = {{"kind", copy_kind_name(copy.kind)},
                 {"bytes", copy.bytes},
                 {"source", copy.source},
                 {"start_ns", copy.start_ns},
                 {"duration_ns", copy.duration_ns}};
    const auto put = [&json](const char* key, std::int64_t value) {
        if (value != kNone) {
            json[key] = value;
        }
    };
    put("stream", copy.stream);
    put("device", copy.device);
    put("called_ns", copy.called_ns);
    put("step", copy.step);
    if (copy.pageable) {
        json["pageable"] = true;
    }
    return json;
}

Json to_json(const Kernel& kernel) {
    Json json = {{"name", kernel.name}};
    if (!kernel.mangled.empty()) {
        json["mangled"] = kernel.mangled;
    }
    return json;
}

Json to_json(const Ceiling& ceiling) {
    Json json = {{"name", ceiling.name},     {"value", ceiling.value},   {"median", ceiling.median},
                 {"spread", ceiling.spread}, {"trials", ceiling.trials}, {"how", ceiling.how}};
    const auto put = [&json](const char* key, const std::string& text) {
        if (!text.empty()) {
            json[key] = text;
        }
    };
    put("level", ceiling.level);
    put("precision", ceiling.precision);
    put("pipe", ceiling.pipe);
    return json;
}

void put_line(std::ostream& out, const Json& json) {
    out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

// Packs what is put into it, for a file.
class GzipBuffer final : public std::streambuf {
  public:
    explicit GzipBuffer(AtomicFile& file) : file_(file) {
        constexpr int kGzipHeader = 16;
        constexpr int kMemory = 8;
        deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemory,
                     Z_DEFAULT_STRATEGY);
        setp(in_.data(), in_.data() + in_.size());
    }
    GzipBuffer(const GzipBuffer&) = delete;
    GzipBuffer& operator=(const GzipBuffer&) = delete;
    ~GzipBuffer() override { deflateEnd(&stream_); }

    void finish() { pack(Z_FINISH); }

  protected:
    int overflow(int c) override {
        pack(Z_NO_FLUSH);
        if (c != traits_type::eof()) {
            sputc(static_cast<char>(c));
        }
        return 0;
    }

  private:
    void pack(int flush) {
        stream_.next_in = reinterpret_cast<Bytef*>(pbase()); // NOLINT: zlib's type
        stream_.avail_in = static_cast<uInt>(pptr() - pbase());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data()); // NOLINT: zlib's type
            stream_.avail_out = static_cast<uInt>(out_.size());
            deflate(&stream_, flush);
            file_.append({out_.data(), out_.size() - stream_.avail_out});
        } while (stream_.avail_out == 0);
        setp(in_.data(), in_.data() + in_.size());
    }

    AtomicFile& file_;
    z_stream stream_{};
    std::array<char, std::size_t{1} << 16> in_{};
    std::array<char, std::size_t{1} << 16> out_{};
};

// Puts what is put into it into a file.
class FileBuffer final : public std::streambuf {
  public:
    explicit FileBuffer(AtomicFile& file) : file_(file) {}

  protected:
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        file_.append({text, static_cast<std::size_t>(size)});
        return size; // commit() tells what went wrong
    }
    int overflow(int c) override {
        const char byte = static_cast<char>(c);
        file_.append({&byte, 1});
        return 0;
    }

  private:
    AtomicFile& file_;
};

void write_all(const Profile& profile, std::streambuf& buffer) {
    std::ostream out(&buffer);
    ProfileWriter writer(out);
    writer.begin(profile.run);
    writer.append(profile);
    writer.finish();
}

} // namespace

void ProfileWriter::begin(const RunInfo& run) {
    put_line(*out_, {{"eyeroof_profile", kProfileVersion}, {"run", to_json(run)}});
}

void ProfileWriter::note(const std::string& text) {
    put_line(*out_, {{"note", text}});
}

void ProfileWriter::append(const Profile& profile) {
    for (; sources_ < profile.sources.size(); ++sources_) {
        put_line(*out_, {{"source", profile.sources[sources_]}});
    }
    for (; notes_ < profile.notes.size(); ++notes_) {
        note(profile.notes[notes_]);
    }
    for (; kernels_ < profile.kernels.size(); ++kernels_) {
        put_line(*out_, {{"kernel", to_json(profile.kernels[kernels_])}});
    }
    for (; operators_ < profile.operators.size(); ++operators_) {
        put_line(*out_, {{"operator", to_json(profile.operators[operators_])}});
    }
    for (; ranges_ < profile.ranges.size(); ++ranges_) {
        put_line(*out_, {{"range", profile.ranges[ranges_]}});
    }
    for (; ceilings_ < profile.ceilings.size(); ++ceilings_) {
        put_line(*out_, {{"ceiling", to_json(profile.ceilings[ceilings_])}});
    }
    for (; copies_ < profile.copies.size(); ++copies_) {
        put_line(*out_, {{"copy", to_json(profile.copies[copies_])}});
    }
    constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
    std::string lines;
    for (; launches_ < profile.launches.size(); ++launches_) {
        append_launch_line(profile.launches[launches_], lines);
        if (lines.size() >= kBlockBytes) {
            *out_ << lines;
            lines.clear();
        }
    }
    *out_ << lines;
    out_->flush();
}

void ProfileWriter::append_and_forget(Profile& profile) {
    append(profile);
    forgotten_ += launches_;
    launches_ = 0;
    profile.launches.clear();
}

void ProfileWriter::finish() {
    put_line(*out_, {{"end", {{"launches", launches()}}}});
    out_->flush();
}

std::string profile_text(const Profile& profile) {
    std::ostringstream out;
    ProfileWriter writer(out);
    writer.begin(profile.run);
    writer.append(profile);
    writer.finish();
    return std::move(out).str();
}

Result<Done> write_profile(const Profile& profile, const std::string& path) {
    auto file = AtomicFile::create(path);
    if (!file) {
        return Result<Done>(file.diagnostics());
    }
    if (path.ends_with(".gz")) {
        GzipBuffer packed(*file);
        write_all(profile, packed);
        packed.finish();
    } else {
        FileBuffer plain(*file);
        write_all(profile, plain);
    }
    return file->commit();
}

} // namespace eyeroof::profiles
