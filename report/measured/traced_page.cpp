#include "report/measured/traced_page.hpp"

#include "base/json.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLaunches = 60'000; // on the page; of more the longest
constexpr std::size_t kMostRows = 1000;       // of the table

constexpr std::string_view kStyle = R"css(
.trace{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1.2fr);gap:12px}
.trace>.wide{grid-column:1/-1}@media(max-width:60rem){.trace{grid-template-columns:minmax(0,1fr)}}
#line{width:100%;display:block;border:1px solid var(--line);touch-action:none;cursor:crosshair}
#roofs{width:100%;height:auto;border:1px solid var(--line)}
#roofs text{font-size:11px;fill:var(--faint)}#roofs line,#roofs path{stroke:var(--faint);fill:none}
#roofs circle{fill-opacity:.55;cursor:pointer}#roofs circle.on{stroke:var(--ink);stroke-width:2.5}
.dim{opacity:.12}.ops{max-height:34rem;overflow:auto;font-size:.85em}
.ops tr.on{background:var(--mark)}.ops tr.off{display:none}.ops tr[data-row]{cursor:pointer}
.ops td:first-child{overflow-wrap:anywhere}#said{min-height:3.4em;white-space:pre-line}
.bar-of-tools{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center;margin:6px 0}
.bar-of-tools input{font:inherit;padding:4px 8px;width:min(100%,20rem)}
.key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .8em;border-radius:2px}
)css";

// Names come as data and enter the page as text, so none can become markup.
constexpr std::string_view kScript = R"js(
const T=JSON.parse(document.getElementById('trace').textContent);
const box=document.getElementById('line'),pen=box.getContext('2d');
const find=document.getElementById('find'),said=document.getElementById('said');
const roofs=document.getElementById('roofs');
const lines=new Map([...document.querySelectorAll('.ops tr[data-row]')].map(r=>[+r.dataset.row,r]));
const lane=18,top0=18;
let from=0,to=T.total_us,picked=-1,hits=null,dots=new Map();
const hue=i=>'hsl('+((i*47+210)%360)+' 60% 50%)';
const name=r=>r<0?'(no layer)':T.rows[r].name;
const time=us=>us>=1e6?(us/1e6).toPrecision(3)+' s':us>=1e3?(us/1e3).toPrecision(3)+' ms':
  us>=1?us.toPrecision(3)+' us':(us*1e3).toPrecision(3)+' ns';
const lit=r=>(hits===null||hits.has(r))&&(picked<0||picked===r);
function draw(){
  const d=devicePixelRatio||1,w=box.clientWidth,h=top0+lane*T.streams.length+4;
  box.style.height=h+'px';box.width=w*d;box.height=h*d;pen.setTransform(d,0,0,d,0,0);
  const ink=getComputedStyle(document.body).color,scale=w/(to-from);
  pen.font='10px system-ui';pen.fillStyle=ink;
  for(let i=0;i<6;i++){const t=from+(to-from)*i/6;pen.fillText(time(t),w*i/6+2,11);
    pen.fillRect(w*i/6,0,1,4);}
  const last=T.streams.map(()=>-1);
  for(const l of T.launches){
    const x=(l[1]-from)*scale,wide=l[2]*scale;
    if(x>w||x+wide<0)continue;
    const on=lit(l[0]);
    if(wide<.6&&Math.floor(x)===last[l[3]]&&!(on&&picked>=0))continue;
    last[l[3]]=Math.floor(x);
    pen.globalAlpha=on?1:.12;pen.fillStyle=l[0]<0?'#888':hue(T.rows[l[0]].category);
    const y=top0+lane*l[3];pen.fillRect(x,y,Math.max(wide-.3,.6),lane-3);
    if(wide>50){pen.save();pen.beginPath();pen.rect(x,y,wide-2,lane-3);pen.clip();
      pen.fillStyle='#fff';pen.fillText(name(l[0]),Math.max(x,0)+3,y+11);pen.restore();}
  }
  pen.globalAlpha=1;}
function describe(r,launch){
  if(r<0){said.textContent=launch?T.kernels[launch[4]]+', '+time(launch[2]):'';return;}
  const o=T.rows[r];
  said.textContent=o.name+' ×'+o.runs+', '+o.operator+' '+o.dims+'\n'+
    'measured '+o.measured+(o.predicted?', predicted '+o.predicted:'')+
    (o.bound?', bound '+o.bound+' by '+o.by:'')+(o.cause?'; '+o.cause:'')+
    (launch?'\n'+T.kernels[launch[4]]+', '+time(launch[2])+' at '+time(launch[1]):'');}
function mark(){
  for(const [r,line] of lines){line.classList.toggle('on',r===picked);
    line.classList.toggle('off',hits!==null&&!hits.has(r));}
  for(const [r,dot] of dots){dot.classList.toggle('on',r===picked);
    dot.classList.toggle('dim',!lit(r));}
  draw();}
function pick(r,launch){
  picked=r===picked&&!launch?-1:r;describe(picked,launch);mark();
  if(picked>=0&&lines.get(picked))lines.get(picked).scrollIntoView({block:'nearest'});}
function zoom(by,at){
  const wide=Math.min(T.total_us,Math.max(.5,(to-from)*by)),share=(at-from)/(to-from);
  from=Math.max(0,Math.min(T.total_us-wide,at-share*wide));to=from+wide;draw();}
function move(by){const wide=to-from;
  from=Math.max(0,Math.min(T.total_us-wide,from+by));to=from+wide;draw();}
const at=e=>from+(to-from)*e.offsetX/box.clientWidth;
box.addEventListener('wheel',e=>{e.preventDefault();zoom(e.deltaY>0?1.25:.8,at(e));},{passive:false});
let held=null;
box.addEventListener('pointerdown',e=>{held=[e.offsetX,false];box.setPointerCapture(e.pointerId);});
box.addEventListener('pointermove',e=>{if(!held||!e.buttons)return;
  const by=held[0]-e.offsetX;if(Math.abs(by)>3||held[1]){held=[e.offsetX,true];
    move(by*(to-from)/box.clientWidth);}});
box.addEventListener('pointerup',e=>{if(held&&!held[1]){
  const t=at(e),l=Math.floor((e.offsetY-top0)/lane);
  const near=(to-from)/box.clientWidth*2;let best=null,least=near;
  for(const x of T.launches){if(x[3]!==l)continue;
    const away=t<x[1]?x[1]-t:Math.max(0,t-x[1]-x[2]);if(away<=least){least=away;best=x;}}
  if(best)pick(best[0],best);else pick(-1);}held=null;});
box.addEventListener('dblclick',()=>{from=0;to=T.total_us;draw();});
box.addEventListener('keydown',e=>{const wide=to-from,mid=(from+to)/2;
  if(e.key==='+'||e.key==='=')zoom(.8,mid);else if(e.key==='-')zoom(1.25,mid);
  else if(e.key==='ArrowLeft')move(-wide/5);else if(e.key==='ArrowRight')move(wide/5);
  else if(e.key==='Home'){from=0;to=T.total_us;draw();}else return;e.preventDefault();});
let found=-1;
find.addEventListener('input',()=>{const text=find.value.toLowerCase();found=-1;hits=null;
  if(text){hits=new Set();T.rows.forEach((o,r)=>{
      if((o.name+' '+o.operator).toLowerCase().includes(text))hits.add(r);});
    const names=T.kernels.map(k=>k.toLowerCase().includes(text));
    for(const l of T.launches)if(names[l[4]])hits.add(l[0]);}
  mark();});
find.addEventListener('keydown',e=>{if(e.key!=='Enter'||hits===null)return;
  for(let i=1;i<=T.launches.length;i++){const n=(found+i)%T.launches.length,l=T.launches[n];
    if(hits.has(l[0])){found=n;const wide=Math.max(l[2]*20,20);
      from=Math.max(0,l[1]+l[2]/2-wide/2);to=Math.min(T.total_us,from+wide);
      picked=-1;describe(l[0],l);mark();return;}}});
for(const [r,line] of lines){line.tabIndex=0;line.addEventListener('click',()=>pick(r));
  line.addEventListener('keydown',e=>{if(e.key==='Enter')pick(r);});}
function part(kind,attributes,text){
  const made=document.createElementNS('http://www.w3.org/2000/svg',kind);
  for(const k in attributes)made.setAttribute(k,attributes[k]);
  if(text)made.textContent=text;roofs.append(made);return made;}
(function(){
  const points=T.rows.map((o,r)=>({r,x:o.flops/o.bytes,y:o.flops/o.seconds,o}))
    .filter(p=>p.x>0&&p.y>0&&isFinite(p.x)&&isFinite(p.y));
  if(!points.length)return;
  const best=Math.max(...T.peaks.map(p=>p[1]),...points.map(p=>p.y));
  const x0=Math.min(.05,...points.map(p=>p.x)),x1=Math.max(2000,...points.map(p=>p.x));
  const y0=Math.min(...points.map(p=>p.y)),y1=2*best;
  const X=v=>50+540*Math.log(v/x0)/Math.log(x1/x0),Y=v=>330-310*Math.log(v/y0)/Math.log(y1/y0);
  const unit=v=>{const s=['','k','M','G','T','P'];let i=0;while(v>=1000&&i<5){v/=1000;i++;}
    return v.toPrecision(3)+' '+s[i];};
  for(let e=Math.ceil(Math.log10(x0));e<=Math.log10(x1);e++)
    part('text',{x:X(10**e),y:345,'text-anchor':'middle'},String(+(10**e).toPrecision(1)));
  for(let e=Math.ceil(Math.log10(y0));e<=Math.log10(y1);e++)
    part('text',{x:46,y:Y(10**e)+4,'text-anchor':'end'},unit(10**e));
  part('text',{x:320,y:359,'text-anchor':'middle'},'FLOP/B, each tensor once');
  for(const [what,rate] of T.peaks){part('line',{x1:50,x2:590,y1:Y(rate),y2:Y(rate)});
    part('text',{x:588,y:Y(rate)-3,'text-anchor':'end'},what+' '+unit(rate)+'FLOP/s');}
  for(const [what,rate] of T.bandwidths){const end=Math.min(x1,best/rate);
    const begin=Math.max(x0,y0/rate);if(end<=begin)continue;
    part('line',{x1:X(begin),y1:Y(begin*rate),x2:X(end),y2:Y(end*rate)});
    part('text',{x:X(begin)+4,y:Y(begin*rate)-6},what+' '+unit(rate)+'B/s');}
  points.sort((a,b)=>b.o.share-a.o.share);
  for(const p of points){const dot=part('circle',{cx:X(p.x),cy:Y(p.y),
      r:3+14*Math.sqrt(p.o.share),fill:hue(p.o.category)});
    dot.addEventListener('click',()=>pick(p.r));dots.set(p.r,dot);
    const t=document.createElementNS('http://www.w3.org/2000/svg','title');
    t.textContent=p.o.name+', '+p.o.measured;dot.append(t);}
})();
addEventListener('resize',draw);draw();
)js";

std::string s(double seconds) {
    return format_si(seconds, "s");
}

std::map<std::string, int> category_numbers(const analysis::Traced& traced) {
    std::map<std::string, int> numbers;
    for (std::size_t i = 0; i < traced.categories.size(); ++i) {
        numbers[traced.categories[i].name] = static_cast<int>(i);
    }
    return numbers;
}

Json page_rows(const analysis::Traced& traced) {
    auto categories = category_numbers(traced);
    Json rows = Json::array();
    for (const analysis::TracedRow& row : traced.rows) {
        Json json = {{"name", row.layer},  {"operator", row.op},
                     {"dims", row.dims},   {"category", categories[row.category]},
                     {"runs", row.count},  {"seconds", row.measured_s},
                     {"share", row.share}, {"flops", row.flops},
                     {"bytes", row.bytes}, {"measured", s(row.measured_s)},
                     {"cause", row.cause}};
        if (row.predicted_s) {
            json["predicted"] = s(*row.predicted_s);
        }
        if (row.bound_s) {
            json["bound"] = s(*row.bound_s);
            json["by"] = row.bound_by;
        }
        rows.push_back(std::move(json));
    }
    return rows;
}

// [row, start in us, time in us, lane, kernel], in order of start.
Json launches_json(const analysis::Traced& traced, const std::map<std::int64_t, int>& lanes) {
    double least_s = 0.0; // of those that are shown
    if (traced.launches.size() > kMostLaunches) {
        std::vector<double> times;
        for (const analysis::TracedLaunch& launch : traced.launches) {
            times.push_back(launch.duration_s);
        }
        const auto nth = times.begin() + static_cast<std::ptrdiff_t>(kMostLaunches);
        std::nth_element(times.begin(), nth, times.end(), std::greater<>());
        least_s = *nth;
    }
    Json launches = Json::array();
    for (const analysis::TracedLaunch& launch : traced.launches) {
        if (launch.duration_s < least_s || launches.size() == kMostLaunches) {
            continue;
        }
        constexpr double kNs = 1e3;
        const auto us = [](double seconds) { return std::round(seconds * 1e6 * kNs) / kNs; };
        launches.push_back({launch.row, us(launch.start_s), us(launch.duration_s),
                            lanes.at(launch.stream), launch.kernel});
    }
    return launches;
}

std::string data_text(const analysis::Traced& traced) {
    std::map<std::int64_t, int> lanes;
    double end_s = 1e-9;
    for (const analysis::TracedLaunch& launch : traced.launches) {
        lanes.try_emplace(launch.stream, 0);
        end_s = std::max(end_s, launch.start_s + launch.duration_s);
    }
    Json streams = Json::array();
    for (auto& [stream, lane] : lanes) {
        lane = static_cast<int>(streams.size());
        streams.push_back(stream);
    }
    Json peaks = Json::array(), bandwidths = Json::array();
    for (const analysis::TracedRoof& roof : traced.roofs) {
        (roof.is_bandwidth ? bandwidths : peaks).push_back({roof.name, roof.rate});
    }
    Json kernels = Json::array();
    for (const std::string& kernel : traced.kernels) {
        constexpr std::size_t kLongest = 120;
        kernels.push_back(kernel.substr(0, kLongest));
    }
    const Json data = {{"total_us", end_s * 1e6},   {"streams", streams},
                       {"rows", page_rows(traced)}, {"launches", launches_json(traced, lanes)},
                       {"kernels", kernels},        {"peaks", peaks},
                       {"bandwidths", bandwidths}};
    return script_json(json_line(data));
}

std::string table_html(const analysis::Traced& traced) {
    std::string text = "<table class=\"sort\"><tr><th>operator and shape</th><th>category</th>"
                       "<th class=\"n\">runs</th><th class=\"n\">measured</th>"
                       "<th class=\"n\">predicted</th><th class=\"n\">bound</th>"
                       "<th>bound by; what keeps it from there</th></tr>\n";
    for (std::size_t i = 0; i < std::min(kMostRows, traced.rows.size()); ++i) {
        const analysis::TracedRow& row = traced.rows[i];
        text += fmt::format("<tr data-row=\"{}\"><td>{}</td><td>{}</td><td class=\"n\">{}</td>"
                            "<td class=\"n\">{}</td><td class=\"n\">{}</td>"
                            "<td class=\"n\">{}</td><td>{}; {}</td></tr>\n",
                            i, html_escaped(row.layer), html_escaped(row.category), row.count,
                            s(row.measured_s), row.predicted_s ? s(*row.predicted_s) : "",
                            row.bound_s ? s(*row.bound_s) : "", html_escaped(row.bound_by),
                            html_escaped(row.cause));
    }
    return text + "</table>\n";
}

} // namespace

const PageScript& traced_script() {
    static const PageScript script{kScript, "hefSyXCGoGnGlYvClKoYWifHsrt5J6NFjLAyOX5jvb8="};
    return script;
}

std::string_view traced_style() {
    return kStyle;
}

std::string traced_html(const analysis::Traced& traced) {
    std::string keys;
    for (std::size_t i = 0; i < traced.categories.size(); ++i) {
        keys += fmt::format("<span><i class=\"key\" style=\"background:hsl({} 60% 50%)\"></i>{} {}"
                            "</span>",
                            (i * 47 + 210) % 360, html_escaped(traced.categories[i].name),
                            s(traced.categories[i].measured_s));
    }
    const bool cut = traced.launches.size() > kMostLaunches;
    std::string text = fmt::format(
        "<h2>Timeline</h2>\n<p>{}; {:.1f} % of {} of kernels belong to {} operators of known work"
        "{}</p>\n<div class=\"trace\"><div class=\"wide\"><div class=\"bar-of-tools\">"
        "<label>Search <input id=\"find\" type=\"search\" placeholder=\"operator or kernel\">"
        "</label><span>wheel or + and − zoom, drag or arrows move, Enter in the search goes to "
        "the next</span></div>\n<canvas id=\"line\" tabindex=\"0\" aria-label=\"timeline of the "
        "step\"></canvas>\n<div>{}</div><p id=\"said\" aria-live=\"polite\"></p></div>\n"
        "<div><h2>Roofline</h2><svg id=\"roofs\" viewBox=\"0 0 600 364\" role=\"img\" "
        "aria-label=\"operators below the roofs\"></svg></div>\n"
        "<div><h2>Operators</h2><div class=\"ops\">{}</div></div></div>\n",
        html_escaped(traced.step), 100.0 * traced.layered_share(), s(traced.kernel_s),
        traced.rows.size(),
        cut ? fmt::format("; the longest {} of {} kernels are shown", kMostLaunches,
                          traced.launches.size())
            : "",
        keys, table_html(traced));
    return text + "<script type=\"application/json\" id=\"trace\">" + data_text(traced) +
           "</script>\n";
}

} // namespace eyeroof::report
