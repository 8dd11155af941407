// Mappings of the layer in view: edited, searched, restored.
#include "formats/mapping_yaml.hpp"
#include "gui/views/discard.hpp"
#include "gui/window/main_window.hpp"

namespace eyeroof::gui {

void MainWindow::use_report(analysis::Report report, const Shown& where) {
    auto reports = *reports_; // other threads may read those
    reports[where.report] = std::move(report);
    reports_ = freed_in_background(std::move(reports));
    show_plot(report::make_plot(plot_title(), machines_of(asked_), *reports_,
                                measurements_.measured()(own_times_)));
    tell_work();
    analyse_pause_.start();
}

void MainWindow::try_mapping(const model::Mapping& mapping) {
    if (shown_layer_) {
        try_mapping(mapping, *shown_layer_, mapping_->nest());
    }
}

// Also of a layer that is not in view.
void MainWindow::try_mapping(const model::Mapping& mapping, const Shown& where, std::size_t nest) {
    const bool in_view = shown_layer_ == where;
    const analysis::LayerReport before = reports()[where.report].layers[where.layer];
    auto edited = analysis::with_mapping(reports()[where.report], where.layer, asked_[where.report],
                                         mapping, {}, nest);
    if (!edited) {
        if (in_view) {
            mapping_->show_problems(edited.diagnostics());
        }
        return;
    }
    const analysis::LayerReport after = edited->layers[where.layer];
    if (where.report == 0) {
        originals_.try_emplace(where.layer, before);
        keep_edit(where, mapping, nest);
    }
    use_report(std::move(*edited), where);
    if (!in_view) {
        return;
    }
    const auto original = where.report == 0 ? originals_.find(where.layer) : originals_.end();
    mapping_->show_tried(original == originals_.end() ? before : original->second, after);
}

void MainWindow::keep_edit(const Shown& where, const model::Mapping& mapping, std::size_t nest) {
    const auto& accelerator = std::get<model::Accelerator>(asked_.front().machine.kind);
    const analysis::MappingEdit edit{reports().front().layers[where.layer].layer.name, nest,
                                     formats::write_mapping_yaml(mapping, accelerator),
                                     analysis::nth_of(reports().front(), where.layer)};
    for (analysis::MappingEdit& known : session_.mappings) {
        if (known.layer == edit.layer && known.nest == edit.nest && known.nth == edit.nth) {
            known.text = edit.text;
            shown_session_.mappings = session_.mappings;
            return;
        }
    }
    session_.mappings.push_back(edit);
    shown_session_.mappings = session_.mappings;
}

void MainWindow::restore_mapping() {
    if (shown_layer_) {
        if (shown_layer_->report == 0) {
            std::erase_if(session_.mappings, [&](const analysis::MappingEdit& edit) {
                return analysis::row_of(reports().front(), edit) == shown_layer_->layer;
            });
            originals_.erase(shown_layer_->layer);
        }
        mapping_->clear();
        examine();
    }
}

void MainWindow::search_mapping(const mapper::Objective& objective) {
    if (!shown_layer_) {
        return mapping_->end_search(tr("Select a layer first."));
    }
    const Shown where = *shown_layer_;
    const analysis::LayerReport layer = reports()[where.report].layers[where.layer];
    searcher_.run([this, where, layer, question = asked_[where.report], objective,
                   nest = mapping_->nest()](const std::stop_token& stop,
                                            const ProgressCallback& progress) -> Background::Show {
        const auto found =
            analysis::search_mapping(question, layer, objective, stop, progress, nest);
        return [this, found, where, nest] { end_search(found, where, nest); };
    });
}

// Cancelled or not, the best mapping that was found is used.
void MainWindow::end_search(const Result<mapper::SearchResult>& found, const Shown& where,
                            std::size_t nest) {
    if (!found) {
        const Diagnostic& why = found.diagnostics().items().front();
        const bool cancelled = why.code == "cancelled" || why.code == "no-mapping";
        mapping_->end_search(cancelled ? tr("Cancelled before a mapping was found.")
                                       : QString::fromStdString(why.message));
    } else {
        const mapper::Certificate& c = found->certificate;
        const QString objective = QString::fromStdString(c.objective);
        mapping_->end_search(c.proved
                                 ? tr("Found in %1 s: no mapping has a lower %2 (%3 looked at).")
                                       .arg(c.time_s, 0, 'f', 2)
                                       .arg(objective)
                                       .arg(c.nodes)
                                 : tr("The best so far: at most %1 % above the best %2.")
                                       .arg(100.0 * c.gap, 0, 'f', 1)
                                       .arg(objective));
        if (where.report < reports().size() &&
            where.layer < reports()[where.report].layers.size()) {
            try_mapping(found->mapping, where, nest);
        }
    }
    emit searched();
}

// Another network or machine was opened: neither the search nor what it found is of it.
void MainWindow::end_search_of_other() {
    {
        const QSignalBlocker quiet(searcher_); // it would say that the mapping stays
        searcher_.cancel();
    }
    mapping_->forget_search();
}

} // namespace eyeroof::gui
