#include "gui/panes/parameter_map/parameter_map_pane.hpp"

#include "base/units.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/svg.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

constexpr double kMargin = 10.0;
constexpr double kPx = 11.0;

double fastest(const analysis::ParameterMap& map) {
    double most = 1.0;
    for (const auto& row : map.time_s) {
        for (const auto& time : row) {
            most = time && *time > 0.0 ? std::max(most, map.now_s / *time) : most;
        }
    }
    return most;
}

// Beside the cells three digits do; the tip has them all.
std::string short_value(const analysis::Parameter& parameter, double value) {
    if (parameter.unit.empty()) {
        return analysis::value_text(parameter, value);
    }
    return parameter.unit == "B" && parameter.whole ? format_iec(value, "B", 3)
                                                    : format_si(value, parameter.unit, 3);
}

// Room for the widest value beside the map.
double left_of(const analysis::ParameterMap& map) {
    double widest = 0.0;
    for (const double value : map.y_values) {
        widest = std::max(widest, report::text_width(short_value(map.y, value), kPx));
    }
    return kMargin + widest + 6.0;
}

void add_cell(const analysis::ParameterMap& map, const report::Box& box, std::size_t x,
              std::size_t y, double most, report::Drawing& drawing) {
    const auto& time = map.time_s[y][x];
    const std::string where = map.x.name + " " + analysis::value_text(map.x, map.x_values[x]) +
                              ", " + map.y.name + " " +
                              analysis::value_text(map.y, map.y_values[y]) + ": ";
    const double speedup = time ? map.now_s / *time : 0.0;
    const double share = most > 1.0 ? std::clamp((speedup - 1.0) / (most - 1.0), 0.0, 1.0) : 0.0;
    const bool slower = speedup < 1.0 - 1e-9;
    drawing.boxes.push_back(
        {box, slower ? report::ColourRole::warning : report::ColourRole::series1,
         time ? (slower ? 0.5 * (1.0 - speedup) : 0.06 + 0.6 * share) : 0.0, false,
         where + (time ? format_si(*time, "s", 4) : std::string("not possible"))});
    const std::string number =
        time ? QString::number(speedup, 'f', 2).toStdString() : std::string("—");
    if (report::text_width(number, kPx) + 4.0 <= box.width && box.height >= kPx + 2.0) {
        drawing.texts.push_back({{box.left + box.width / 2.0, box.top + box.height / 2.0 + 4.0},
                                 number,
                                 report::ColourRole::text,
                                 kPx,
                                 0.5});
    }
    drawing.figures.rows.push_back({map.x_values[x], map.y_values[y], time.value_or(0.0), speedup});
}

// Values beside the rows; where those are low every second or third, and always that of now.
void add_row_values(const analysis::ParameterMap& map, const report::Box& area,
                    report::Drawing& drawing) {
    const double height = area.height / static_cast<double>(map.y_values.size());
    const auto every = static_cast<std::size_t>(std::ceil((kPx + 2.0) / height));
    const auto now = static_cast<std::size_t>(
        std::find(map.y_values.begin(), map.y_values.end(), map.y.value) - map.y_values.begin());
    for (std::size_t y = now % every; y < map.y_values.size(); y += every) {
        const double middle = area.bottom() - height * (static_cast<double>(y) + 0.5);
        drawing.texts.push_back({{area.left - 5.0, middle + 4.0},
                                 short_value(map.y, map.y_values[y]),
                                 report::ColourRole::faint,
                                 kPx,
                                 1.0});
    }
}

// Values below the columns, as many as there is room for.
void add_column_values(const analysis::ParameterMap& map, const report::Box& area,
                       report::Drawing& drawing) {
    const double width = area.width / static_cast<double>(map.x_values.size());
    double taken = 0.0; // right edge of the last one
    for (std::size_t x = 0; x < map.x_values.size(); ++x) {
        const std::string value = short_value(map.x, map.x_values[x]);
        const double middle = area.left + width * (static_cast<double>(x) + 0.5);
        const double half = report::text_width(value, kPx) / 2.0;
        if (middle - half >= taken && middle + half <= drawing.canvas.width) {
            drawing.texts.push_back(
                {{middle, area.bottom() + 13.0}, value, report::ColourRole::faint, kPx, 0.5});
            taken = middle + half + 4.0;
        }
    }
}

} // namespace

report::Drawing draw_parameter_map(const analysis::ParameterMap& map,
                                   const report::Canvas& canvas) {
    report::Drawing drawing;
    drawing.canvas = {std::max(canvas.width, 240.0), std::max(canvas.height, 100.0)};
    drawing.title = "Times as fast over " + map.x.name + " and " + map.y.name;
    drawing.figures.columns = {map.x.key, map.y.key, "time_s", "times_as_fast"};
    const double left = left_of(map);
    drawing.texts.push_back({{kMargin, 15.0},
                             "Times as fast as now over " + map.y.name,
                             report::ColourRole::faint,
                             kPx});
    const report::Box area{left, 20.0, drawing.canvas.width - left - kMargin,
                           drawing.canvas.height - 20.0 - 36.0};
    const auto columns = static_cast<double>(map.x_values.size());
    const auto rows = static_cast<double>(map.y_values.size());
    const double most = fastest(map);
    add_row_values(map, area, drawing);
    add_column_values(map, area, drawing);
    for (std::size_t y = 0; y < map.y_values.size(); ++y) {
        const double top = area.bottom() - area.height / rows * static_cast<double>(y + 1);
        for (std::size_t x = 0; x < map.x_values.size(); ++x) {
            const report::Box box{area.left + area.width / columns * static_cast<double>(x), top,
                                  area.width / columns - 1.0, area.height / rows - 1.0};
            add_cell(map, box, x, y, most, drawing);
            if (map.x_values[x] == map.x.value && map.y_values[y] == map.y.value) {
                drawing.boxes.push_back({box, report::ColourRole::text, 1.0, true}); // now
            }
        }
    }
    drawing.texts.push_back({{area.left + area.width / 2.0, area.bottom() + 28.0},
                             map.x.name,
                             report::ColourRole::faint,
                             kPx,
                             0.5});
    return drawing;
}

ParameterMapPane::ParameterMapPane(const PaneActions& actions, QWidget* parent)
    : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    auto* row = new QHBoxLayout;
    const auto chooser = [&](const QString& label, const char* name) {
        auto* box = new QComboBox(this);
        box->setObjectName(name);
        box->setAccessibleName(label);
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(8);
        row->addWidget(box, 1);
        connect(box, &QComboBox::activated, this, [this] { ask(actions_.look()); });
        return box;
    };
    x_ = chooser(tr("Parameter across"), "parameter across");
    y_ = chooser(tr("Parameter upwards"), "parameter upwards");
    column->addLayout(row);
    head_ = new QLabel(this);
    head_->setWordWrap(true);
    column->addWidget(head_);
    picture_ = new DrawingView(this);
    picture_->setAccessibleName(tr("Map of two parameters"));
    picture_->setMinimumSize(240, 100);
    column->addWidget(picture_, 1);
    picture_->clear(tr("Choose a network and a machine."));
    connect(&worker_, &Background::progressed, this, [this](const Progress& progress) {
        head_->setText(tr("%1 %").arg(100.0 * progress.fraction, 0, 'f', 0));
    });
}

void ParameterMapPane::show_answer(const PaneInput& input) {
    due_ = !isVisible();
    if (!due_) {
        fill_choices(input);
        ask(input);
    }
}

// The two that stand first in the machine's order, unless chosen.
void ParameterMapPane::fill_choices(const PaneInput& input) {
    const auto parameters = input.questions->empty()
                                ? std::vector<analysis::Parameter>{}
                                : analysis::tried_parameters(input.questions->front().machine);
    int other = 0;
    for (QComboBox* box : {x_, y_}) {
        const QString chosen = box->currentData().toString();
        box->clear();
        for (const analysis::Parameter& parameter : parameters) {
            box->addItem(text(parameter.name), text(parameter.key));
        }
        const int known = box->findData(chosen);
        box->setCurrentIndex(known >= 0 ? known : std::min(other, box->count() - 1));
        ++other;
    }
}

void ParameterMapPane::showEvent(QShowEvent* event) {
    Pane::showEvent(event);
    if (due_) {
        due_ = false;
        const PaneInput input = actions_.look();
        fill_choices(input);
        ask(input);
    }
}

void ParameterMapPane::ask(const PaneInput& input) {
    map_.reset();
    const std::string x = x_->currentData().toString().toStdString();
    const std::string y = y_->currentData().toString().toStdString();
    if (input.question() == nullptr || x.empty() || x == y) {
        worker_.cancel();
        head_->clear();
        return picture_->clear(x == y && !x.empty() ? tr("Choose two different parameters.")
                                                    : tr("Choose a network and a machine."));
    }
    if (picture_->drawing().texts.empty()) { // nothing that could stay until the answer
        picture_->clear(tr("Being worked out…"));
    }
    const bool searched =
        std::holds_alternative<model::Accelerator>(input.question()->machine.kind) &&
        input.scenario->policy != analysis::MappingPolicy::dataflow;
    const QString how =
        searched ? tr(" Cells are mapped by the dataflow's rules, without a search.") : QString();
    worker_.run(
        [this, question = *input.question(), x, y,
         how](const std::stop_token& stop, const ProgressCallback& progress) -> Background::Show {
            auto map = std::make_shared<Result<analysis::ParameterMap>>(
                analysis::parameter_map(question, x, y, 9, stop, progress));
            return [this, map, how] {
                if (*map) {
                    map_ = **map;
                    head_->setText(tr("Each cell is an examination; the framed one is now.") + how);
                    picture_->show_drawing(
                        [shown = *map_](const report::Canvas& c) {
                            return draw_parameter_map(shown, c);
                        },
                        false);
                } else {
                    head_->setText(text(map->diagnostics().items().front().message));
                }
                emit mapped();
            };
        });
}

QString ParameterMapPane::html() const {
    return map_ ? text(report::to_svg(picture_->drawing(), report::SvgTheme::automatic))
                : QString();
}

} // namespace eyeroof::gui
