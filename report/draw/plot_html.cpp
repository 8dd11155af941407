#include "report/draw/plot_html.hpp"

#include "base/json.hpp"
#include "base/units.hpp"
#include "report/draw/roofline_drawing.hpp"
#include "report/draw/svg.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMostRows = 2000; // of the table; the plot has them all

constexpr const char* kPlotStyle = R"css(
#card{position:fixed;display:none;pointer-events:none;max-width:480px;padding:8px 10px;
  border:1px solid var(--faint);border-radius:6px;background:var(--paper);opacity:.95;
  box-shadow:0 2px 10px #0003}
#card td:first-child{color:var(--faint);white-space:nowrap}
#card td:last-child{overflow-wrap:anywhere}
form{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:center;margin:10px 0}
form input,form select{font:inherit;padding:4px 8px}#filter{width:min(100%,320px)}
.rows tr.on{background:var(--mark)}.rows td.n,.rows th.n{padding-left:.6rem}
)css";

// Cards come as data and enter the page as text nodes, so no name can become markup.
constexpr std::string_view kPlotScript = R"js(
const views=JSON.parse(document.getElementById('points').textContent);
const sections=[...document.querySelectorAll('section')],card=document.getElementById('card');
const filter=document.getElementById('filter'),share=document.getElementById('share');
const level=document.getElementById('level');
const rows=new Map(); // of the tables, with the points of each
let now=0,pinned=null;
views.forEach((points,v)=>{
  const marks=sections[v].querySelectorAll('svg .p');let next=0;
  for(const q of points){q.view=v;q.mark=q.drawn?marks[next++]:null;
    q.line=document.getElementById('r'+v+'-'+q.row);
    if(q.line)(rows.get(q.line)||rows.set(q.line,[]).get(q.line)).push(q);}});
function show(e,point){card.replaceChildren();const t=document.createElement('table');
  for(const [what,value] of point.card){const r=t.insertRow();
    r.insertCell().textContent=what;r.insertCell().textContent=value;}
  card.append(t);card.style.display='block';
  const w=card.offsetWidth,h=card.offsetHeight;
  card.style.left=Math.max(4,Math.min(e.clientX+14,innerWidth-w-8))+'px';
  card.style.top=Math.max(4,Math.min(e.clientY+14,innerHeight-h-8))+'px';}
function hide(){card.style.display='none';}
function nearest(e,svg,v){const m=svg.getScreenCTM().inverse();
  const p=new DOMPoint(e.clientX,e.clientY).matrixTransform(m);let best=null,least=5;
  for(const q of views[v]){if(q.hidden)continue;const d=Math.hypot(q.x-p.x,q.y-p.y)-q.r;
    if(d<=least){least=d;best=q;}}
  return best;}
function draw(){
  const text=filter.value.toLowerCase(),least=share.value/100;
  document.getElementById('least').textContent=share.value+' %';
  sections.forEach((s,v)=>{s.hidden=v!==now;});
  for(const points of views)for(const q of points){
    q.hidden=q.share<least||!q.name.toLowerCase().includes(text);
    if(q.mark){q.mark.style.display=q.hidden?'none':'';
      q.mark.style.opacity=pinned&&pinned!==q&&pinned.view===q.view&&
        !(q.line&&q.line===pinned.line)?0.1:'';}}
  for(const [line,points] of rows){const seen=points.filter(q=>!q.hidden);
    line.hidden=!seen.length;line.classList.toggle('on',points.includes(pinned));
    if(seen.length)line.cells[0].textContent=
      seen.at(-1).label+(seen.length>1?' \u00d7'+seen.length:'');}}
function pin(q){pinned=q;draw();}
sections.forEach((s,v)=>{const svg=s.querySelector('svg');
  svg.addEventListener('mousemove',e=>{if(pinned)return;const q=nearest(e,svg,v);
    if(q)show(e,q);else hide();});
  svg.addEventListener('mouseleave',()=>{if(!pinned)hide();});
  svg.addEventListener('click',e=>{const q=nearest(e,svg,v);pin(q);if(q)show(e,q);else hide();
    if(q&&q.line)q.line.scrollIntoView({block:'nearest'});});});
for(const [line,points] of rows)line.addEventListener('click',()=>{
  hide();pin(pinned&&pinned.line===line?null:points.at(-1));});
filter.addEventListener('input',draw);share.addEventListener('input',draw);
if(level)level.addEventListener('change',()=>{now=level.selectedIndex;hide();pin(null);});
document.querySelector('form').addEventListener('submit',e=>e.preventDefault());
draw();
)js";

const PageScript& plot_script() {
    static const PageScript script{kPlotScript, "Qbw/neM02jTRtnUKvxNyMfUKmDoVQ/W80LPI+y0ohRU="};
    return script;
}

// Cells of a point's row behind its name, as HTML.
std::string cells_of(const ScenePoint& point, const PlotPoint& source) {
    return fmt::format("<td>{}</td><td class=\"n\">{:.4g}</td><td class=\"n\">{}</td>"
                       "<td class=\"n\">{:.1f} %</td><td class=\"n\">{}</td>"
                       "<td class=\"n\">{:.1f} %</td><td>{}</td>",
                       svg_escape(source.machine), point.x, format_si(point.y, "FLOP/s"),
                       100.0 * point.of_bound, format_si(source.time_s, "s"), 100.0 * point.share,
                       svg_escape(source.limiter));
}

// Points with equal cells share a row, under the name of the first.
struct PointRow {
    std::size_t first = 0; // index into the scene's points
    std::string name, cells;
    std::size_t points = 0;
};

struct PointTable {
    std::vector<PointRow> rows;
    std::vector<std::size_t> row_of; // beside the scene's points: index into rows
};

PointTable table_of(const RooflineScene& scene, const PlotInput& input) {
    PointTable table;
    table.row_of.resize(scene.points.size());
    std::map<std::string, std::size_t> known;
    for (std::size_t i = scene.points.size(); i-- > 0;) {
        const PlotPoint& source = input.points.at(scene.points[i].source);
        const char* measured = source.measured ? " (measured)" : "";
        std::string cells = cells_of(scene.points[i], source);
        const auto [at, is_new] = known.emplace(cells + measured, table.rows.size());
        if (is_new) {
            table.rows.push_back({i, svg_escape(source.name) + measured, std::move(cells)});
        }
        ++table.rows[at->second].points;
        table.row_of[i] = at->second;
    }
    return table;
}

nlohmann::ordered_json points_json(const RooflineScene& scene, const PlotInput& input,
                                   const PointTable& table) {
    auto points = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const ScenePoint& point = scene.points[i];
        const PlotPoint& source = input.points.at(point.source);
        const Place at = scene.area.place_of(point.x, point.y);
        auto rows = nlohmann::ordered_json::array();
        for (const CardRow& row : card_of(input, point)) {
            rows.push_back({row.what, row.value});
        }
        points.push_back({{"x", at.x},
                          {"y", at.y},
                          {"r", point.radius},
                          {"row", table.rows[table.row_of[i]].first},
                          {"name", point.name},
                          {"label", source.name + (source.measured ? " (measured)" : "")},
                          {"share", point.share},
                          {"drawn", is_drawn(scene, point)},
                          {"card", std::move(rows)}});
    }
    return points;
}

std::string html_of(const PointTable& table, std::size_t view) {
    std::string html = "<table class=\"rows sort\"><thead><tr><th>name</th><th>machine</th>"
                       "<th class=\"n\">FLOP/byte</th><th class=\"n\">rate</th>"
                       "<th class=\"n\">of the roof</th><th class=\"n\">time</th>"
                       "<th class=\"n\">share</th><th>bound by</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < std::min(table.rows.size(), kMostRows); ++i) {
        const PointRow& row = table.rows[i];
        html += fmt::format("<tr id=\"r{}-{}\"><td>{}{}</td>{}</tr>\n", view, row.first, row.name,
                            row.points > 1 ? fmt::format(" ×{}", row.points) : "", row.cells);
    }
    return framed(html + "</tbody></table>");
}

double largest_share(const std::vector<LevelScene>& views) {
    double largest = 0.0;
    for (const LevelScene& view : views) {
        for (const ScenePoint& point : view.scene.points) {
            largest = std::max(largest, point.share);
        }
    }
    return largest;
}

std::string controls(const std::vector<LevelScene>& views) {
    std::string html = "<form>\n";
    if (views.size() > 1) {
        html += "<label>Bytes of <select id=\"level\">";
        for (const LevelScene& view : views) {
            html += "<option>" + svg_escape(view.level) + "</option>";
        }
        html += "</select></label>\n";
    }
    return html +
           fmt::format("<label>At least <output id=\"least\">0 %</output> of the time <input "
                       "id=\"share\" type=\"range\" min=\"0\" max=\"{}\" step=\"0.1\" "
                       "value=\"0\"></label>\n"
                       "<input id=\"filter\" placeholder=\"Filter by name\" "
                       "aria-label=\"Filter\">\n</form>\n",
                       std::ceil(100.0 * largest_share(views)));
}

// The name that all points' outermost levels share.
std::string outermost_level(const PlotInput& input) {
    std::set<std::string> names;
    for (const PlotPoint& point : input.points) {
        if (!point.bytes.empty()) {
            names.insert(point.bytes.front().level);
        }
    }
    return names.size() == 1 && !names.begin()->empty() ? *names.begin() : "the outermost level";
}

} // namespace

std::vector<LevelScene> level_scenes(const RooflineScene& scene, const PlotInput& input,
                                     const ViewState& view, const Canvas& canvas) {
    std::vector<std::string> levels;
    for (const PlotPoint& point : input.points) {
        for (const LevelBytes& bytes : point.bytes) {
            if (!bytes.level.empty() &&
                std::find(levels.begin(), levels.end(), bytes.level) == levels.end()) {
                levels.push_back(bytes.level);
            }
        }
    }
    if (levels.size() > 1) {
        levels.emplace_back(kAllLevels);
    }
    const std::string shown = view.level.empty() ? outermost_level(input) : view.level;
    std::vector<LevelScene> scenes = {{shown, scene}};
    for (const std::string& level : levels) {
        ViewState other = view;
        other.level = level;
        if (auto drawn = make_scene(input, other, canvas);
            level != shown && drawn && !drawn->points.empty()) {
            scenes.push_back({level, *std::move(drawn)});
        }
    }
    return scenes;
}

std::string to_html(const std::vector<LevelScene>& views, const PlotInput& input,
                    const std::string& lead, const std::string& end) {
    const std::vector<PageScript> scripts = {page_script(), plot_script()};
    const std::string& title = views.front().scene.title;
    std::string html =
        page_head(svg_escape(title.empty() ? "Roofline" : title), kPlotStyle, scripts);
    auto data = nlohmann::ordered_json::array();
    html += lead + "<div id=\"card\"></div>\n" + controls(views);
    for (std::size_t v = 0; v < views.size(); ++v) {
        const RooflineScene& scene = views[v].scene;
        const PointTable table = table_of(scene, input);
        html +=
            fmt::format("<section{}>\n<figure>{}</figure>\n{}</section>\n", v > 0 ? " hidden" : "",
                        to_svg(scene, SvgTheme::automatic), html_of(table, v));
        data.push_back(points_json(scene, input, table));
    }
    const std::string text = json_line(data);
    return html + "<script type=\"application/json\" id=\"points\">" + script_json(text) +
           "</script>\n" + end + page_foot(scripts);
}

} // namespace eyeroof::report
