// Examinations in the background: the newest request wins, an old one is told to stop.
// Used by the main window, which hears of results in its own thread.
// Knows no widget.
#pragma once

#include "model/base/result.hpp"
#include "model/machine.hpp"
#include "model/network.hpp"
#include "study/report.hpp"
#include "study/run.hpp"

#include <QObject>
#include <memory>
#include <thread>
#include <vector>

namespace eyeroof::gui {

struct Request {
    model::Network network;
    std::vector<model::Machine> machines;
    study::StudyOptions options;
};

struct Answer {
    std::vector<model::Machine> machines;
    std::vector<study::Report> reports; // one a machine
    model::Diagnostics diagnostics;
};

class Examiner : public QObject {
    Q_OBJECT

  public:
    explicit Examiner(QObject* parent = nullptr);
    ~Examiner() override;

    void examine(Request request);
    void cancel();
    bool busy() const { return busy_; }

  signals:
    void progressed(double fraction, const QString& activity);
    void answered(std::shared_ptr<const eyeroof::gui::Answer> answer);
    void cancelled();

  private:
    void start(Request request);
    void finish(std::uint64_t number, std::shared_ptr<const Answer> answer);

    std::jthread worker_;
    std::unique_ptr<Request> next_; // waits for the worker to stop
    std::uint64_t number_ = 0;      // of the request whose answer is wanted
    bool busy_ = false;
};

} // namespace eyeroof::gui
