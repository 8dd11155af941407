#include "study/report/plot_html.hpp"

#include "model/base/units.hpp"
#include "study/draw/svg.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::study {

namespace {

constexpr std::size_t kMostRows = 2000; // of the table; the plot has them all

constexpr const char* kPlotStyle = R"css(
:root{color-scheme:light dark}
body{margin:0 auto;max-width:1100px;padding:12px;font:14px/1.45 system-ui,sans-serif;
  background:#fff;color:#1a1c21}
svg{width:100%;height:auto;display:block}
#card{position:fixed;display:none;pointer-events:none;max-width:480px;padding:8px 10px;
  border:1px solid #7d838e;border-radius:6px;background:#fffffff2;box-shadow:0 2px 10px #0003}
#card td:first-child{color:#5f6570;padding-right:10px;white-space:nowrap;vertical-align:top}
#card td:last-child{overflow-wrap:anywhere}
input{font:inherit;padding:4px 8px;margin:10px 0;width:min(100%,360px)}
#rows{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
#rows th,#rows td{text-align:right;padding:3px 8px;border-bottom:1px solid #8884}
#rows th:first-child,#rows td:first-child,#rows td:last-child,#rows th:last-child{text-align:left;
  overflow-wrap:anywhere}
#rows tr.on{background:#56b4e940}
@media (prefers-color-scheme:dark){body{background:#16181d;color:#e8eaee}
  #card{background:#1c1f26f2}#card td:first-child{color:#a0a7b4}}
)css";

// Cards come as data and enter the page as text nodes, so no name can become markup.
constexpr const char* kScript = R"js(
const points=JSON.parse(document.getElementById('points').textContent);
const svg=document.querySelector('svg'),card=document.getElementById('card');
let pinned=false;
function show(e,point){card.replaceChildren();const t=document.createElement('table');
  for(const [what,value] of point.card){const r=t.insertRow();
    r.insertCell().textContent=what;r.insertCell().textContent=value;}
  card.append(t);card.style.display='block';
  const w=card.offsetWidth,h=card.offsetHeight;
  card.style.left=Math.max(4,Math.min(e.clientX+14,innerWidth-w-8))+'px';
  card.style.top=Math.max(4,Math.min(e.clientY+14,innerHeight-h-8))+'px';}
function nearest(e){const m=svg.getScreenCTM().inverse();
  const p=new DOMPoint(e.clientX,e.clientY).matrixTransform(m);let best=null,least=5;
  for(const q of points){const d=Math.hypot(q.x-p.x,q.y-p.y)-q.r;
    if(d<=least){least=d;best=q;}}
  return best;}
svg.addEventListener('mousemove',e=>{if(pinned)return;const q=nearest(e);
  if(q)show(e,q);else card.style.display='none';});
svg.addEventListener('mouseleave',()=>{if(!pinned)card.style.display='none';});
svg.addEventListener('click',e=>{const q=nearest(e);pinned=!!q;
  if(q)show(e,q);else card.style.display='none';
  document.querySelectorAll('#rows tr.on').forEach(r=>r.classList.remove('on'));
  const row=q&&document.getElementById('r'+q.row);
  if(row){row.classList.add('on');row.scrollIntoView({block:'nearest'});}});
document.getElementById('filter').addEventListener('input',e=>{
  const text=e.target.value.toLowerCase();
  for(const r of document.querySelectorAll('#rows tbody tr'))
    r.hidden=!r.cells[0].textContent.toLowerCase().includes(text);});
)js";

// The page may load nothing, and run this one script: browsers compare its SHA-256.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src "
    "'sha256-avdL7US1lZ0nf5mp/H5/y1XIlRWAGLpCjLosrmo0uQI='";

nlohmann::ordered_json points_json(const RooflineScene& scene, const PlotInput& input) {
    auto points = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const ScenePoint& point = scene.points[i];
        const Place at = scene.area.place_of(point.x, point.y);
        auto rows = nlohmann::ordered_json::array();
        for (const CardRow& row : card_of(input, point)) {
            rows.push_back({row.what, row.value});
        }
        points.push_back(
            {{"x", at.x}, {"y", at.y}, {"r", point.radius}, {"row", i}, {"card", std::move(rows)}});
    }
    return points;
}

std::string table(const RooflineScene& scene, const PlotInput& input) {
    std::string html = "<table id=\"rows\"><thead><tr><th>name</th><th>machine</th>"
                       "<th>FLOP/byte</th><th>rate</th><th>of the roof</th><th>time</th>"
                       "<th>share</th><th>limited by</th></tr></thead><tbody>\n";
    std::size_t rows = 0;
    for (std::size_t i = scene.points.size(); i-- > 0 && rows < kMostRows; ++rows) {
        const ScenePoint& point = scene.points[i];
        const PlotPoint& source = input.points.at(point.source);
        html += fmt::format(
            "<tr id=\"r{}\"><td>{}{}</td><td>{}</td><td>{:.4g}</td><td>{}</td><td>{:.1f} %</td>"
            "<td>{}</td><td>{:.1f} %</td><td>{}</td></tr>\n",
            i, svg_escape(source.name), source.measured ? " (measured)" : "",
            svg_escape(source.machine), point.x, model::format_si(point.y, "FLOP/s"),
            100.0 * point.of_bound, model::format_si(source.time_s, "s"), 100.0 * point.share,
            svg_escape(source.limiter));
    }
    return html + "</tbody></table>\n";
}

// "</script>" or "<!--" inside a string would end the data.
std::string script_safe(const std::string& json) {
    std::string safe;
    for (const char c : json) {
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    }
    return safe;
}

} // namespace

std::string to_html(const RooflineScene& scene, const PlotInput& input) {
    const std::string data =
        points_json(scene, input).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<title>{}</title>\n<style>{}</style></head><body>\n{}"
        "<div id=\"card\"></div>\n"
        "<input id=\"filter\" placeholder=\"Filter by name\" aria-label=\"Filter\">\n"
        "{}<script type=\"application/json\" id=\"points\">{}</script>\n<script>{}</script>\n"
        "</body></html>\n",
        kPolicy, svg_escape(scene.title.empty() ? "Roofline" : scene.title), kPlotStyle,
        to_svg(scene, SvgTheme::automatic), table(scene, input), script_safe(data), kScript);
}

} // namespace eyeroof::study
