// What a session asks of each of its machines. Files are read when others are named: a parameter
// that is turned reads none.
#pragma once

#include "analysis/resolve/resolve.hpp"
#include "formats/trace_network.hpp"
#include "report/session/session.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::gui {

class Questions {
  public:
    explicit Questions(analysis::DataFolders folders) : folders_(std::move(folders)) {}

    // A trace that was read already, for scenarios whose network it is; nullptr: it is no network.
    void know(const std::string& path, std::shared_ptr<const formats::TraceNetwork> trace);
    bool knows(const std::string& path) const { return path == trace_path_; }
    // The session's network, where it is that trace.
    std::shared_ptr<const formats::TraceNetwork> trace() const { return own_ ? trace_ : nullptr; }

    // Reads everything that the session names, also what was read before.
    void load(const report::Session& session);
    const model::NetworkGraph* network() const { return network_ ? &*network_ : nullptr; }
    std::vector<model::Machine> machines() const; // as their files have them
    const model::Machine* first() const;          // of the session's first machine; or nullptr
    const Diagnostics& problems() const { return problems_; } // of what was read

    // One for each machine that there is, of an empty network where there is none. `problems`: what
    // is wrong with parameters that were turned.
    std::vector<analysis::Question> of(const report::Session& session, Diagnostics& problems);

  private:
    void resolve_machines(const report::Session& session);

    struct Base {                // with nothing turned
        std::size_t machine = 0; // of the session
        analysis::Question question;
    };

    analysis::DataFolders folders_;
    std::string trace_path_;
    std::shared_ptr<const formats::TraceNetwork> trace_;
    bool own_ = false; // the network is the trace
    std::optional<model::NetworkGraph> network_;
    std::vector<Base> bases_;
    report::Session read_; // names of the files that were read
    Diagnostics network_problems_, problems_;
};

} // namespace eyeroof::gui
