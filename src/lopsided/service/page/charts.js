// Charts by uPlot, in the colours of the page; drawn anew when the width or the scheme changes.
const charts = new Map();
const HEIGHT = 190;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// The custom properties hold light-dark(); an element resolves them for the canvas.
function resolved(name) {
  const probe = document.createElement("i");
  probe.style.color = colour(name) || name;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const axis = (values, size) => ({
  stroke: resolved("quiet"), grid: { stroke: resolved("line"), width: 1 }, ticks: { stroke: resolved("line"), width: 1 },
  font: "12px system-ui, sans-serif", values, size,
});

function draw(place, options, data) {
  const known = charts.get(place);
  const key = JSON.stringify([options.series.map((s) => [s.label, s.points?.show]), options.key, place.clientWidth, matchMedia("(prefers-color-scheme: dark)").matches]);
  if (known?.key === key) return known.plot.setData(data);
  known?.plot.destroy();
  const plot = new uPlot({ width: place.clientWidth, height: HEIGHT, cursor: { y: false }, ...options }, data, place);
  charts.set(place, { key, plot });
}

// A time on an axis: the hour within a day or two, else the day.
const clock = (at, times) => new Date(1000 * at).toLocaleString(undefined,
  times.at(-1) - times[0] < 2 * 86400 ? { hour: "2-digit", minute: "2-digit", hour12: false } : { day: "numeric", month: "short" });

// Lines over time: `lines` are { label, values, colour, dash, width }; `say` formats a value.
export function timeChart(place, times, lines, say, summary) {
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", summary);
  place.dir = "ltr";
  const series = lines.map(({ label, values, colour: name, dash, width }) => ({
    label, stroke: resolved(name), width: width ?? 2, dash, spanGaps: true,
    points: { show: values.filter((value) => value != null).length < 3 }, value: (_, value) => (value == null ? "–" : say(value)),
  }));
  draw(place, {
    series: [{ value: (_, at) => (at == null ? "–" : new Date(1000 * at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })) }, ...series],
    axes: [axis((_, values) => values.map((at) => clock(at, times)), 32), axis((_, values) => values.map(say), 64)],
    scales: { y: { range: (_, low, high) => (low === high ? [low - 1, high + 1] : uPlot.rangeNum(low, high, 0.1, true)) } },
  }, [times, ...lines.map((line) => line.values)]);
}

// How often it happened against how often it was expected, both on scales of powers of ten.
export function calibrationChart(place, points, names, say, summary) {
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", summary);
  place.dir = "ltr";
  const floor = (value) => Math.min(1, Math.max(0.001, value));
  const scale = { distr: 3, range: () => [0.001, 1], time: false };
  const text = (_, value) => (value == null ? "–" : say(value));
  const shade = resolved("down-ground");
  draw(place, {
    series: [
      { label: names.predicted, value: text },
      { label: names.high, stroke: shade, points: { show: false }, value: text },
      { label: names.low, stroke: shade, points: { show: false }, value: text },
      { label: names.observed, stroke: resolved("up"), width: 2, points: { show: true, size: 7, fill: resolved("up") }, value: text },
      { label: names.perfect, stroke: resolved("quiet"), dash: [4, 4], points: { show: false }, value: text },
    ],
    bands: [{ series: [1, 2], fill: shade }],
    scales: { x: scale, y: scale },
    axes: [axis((_, values) => values.map((v) => (v == null || !/^1(e|$)|^0\.0*1$/.test(String(v)) ? "" : say(v))), 40),
      axis((_, values) => values.map((v) => (v == null || !/^0\.0*1$|^1$/.test(String(v)) ? "" : say(v))), 64)],
  }, [
    points.map((p) => floor(p.predicted)),
    points.map((p) => floor(p.observed + 2 * p.error)),
    points.map((p) => floor(p.observed - 2 * p.error)),
    points.map((p) => floor(p.observed)),
    points.map((p) => floor(p.predicted)),
  ]);
}

// Calls `again` when the width or the scheme changes.
export function onResize(again) {
  let later;
  const soon = () => {
    clearTimeout(later);
    later = setTimeout(again, 100);
  };
  addEventListener("resize", soon);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon);
}
