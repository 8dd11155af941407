// What a session asks of each of its machines. Files are read when others are named: a parameter
// that is turned reads none. Used by the main window.
#pragma once

#include "study/app/resolve.hpp"
#include "study/app/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::gui {

class Questions {
  public:
    explicit Questions(study::DataFolders folders) : folders_(std::move(folders)) {}

    // Reads everything that the session names, also what was read before.
    void load(const study::Session& session);
    const model::WiredNetwork* network() const { return network_ ? &*network_ : nullptr; }
    std::vector<model::Machine> machines() const; // as their files have them
    const model::Machine* first() const;          // of the session's first machine; or nullptr
    const model::Diagnostics& problems() const { return problems_; } // of what was read

    // One for each machine that there is, of an empty network where there is none. `problems`: what
    // is wrong with parameters that were turned.
    std::vector<study::Question> of(const study::Session& session, model::Diagnostics& problems);

  private:
    void resolve_machines(const study::Session& session);

    struct Base {                // with nothing turned
        std::size_t machine = 0; // of the session
        study::Question question;
    };

    study::DataFolders folders_;
    std::optional<model::WiredNetwork> network_;
    std::vector<Base> bases_;
    study::Session read_; // names of the files that were read
    model::Diagnostics network_problems_, problems_;
};

} // namespace eyeroof::gui
