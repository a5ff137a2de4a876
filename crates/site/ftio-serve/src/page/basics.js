// What all pages use: questions to the server, tables, small pictures, the stream of events.
const view = document.getElementById("view");
let charts = [], listeners = [], visit = 0;
const redraw = () => { charts.forEach(chart => chart.draw()); listeners.forEach(one => one.paint && one.paint()); };

const bytesText = value => value === null || value === undefined ? "–" : si(value, "B");
const rateText = value => value === null || value === undefined ? "–" : si(value, "B/s");
const periodText = value => value ? seconds(value) : "–";
const percent = value => value === null || value === undefined ? "–" : (100 * value).toFixed(value > 0.995 ? 1 : 0) + " %";
const clockText = time => time ? new Date(1000 * time).toLocaleString() : "–";
const dayText = day => new Date(1000 * day).toISOString().slice(0, 10);
function spanText(value) {
  const v = Math.max(0, Math.round(value));
  if (v < 120) return v + " s";
  if (v < 7200) return Math.floor(v / 60) + " min";
  if (v < 172800) return Math.floor(v / 3600) + " h";
  return Math.floor(v / 86400) + " d";
}

async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error || answer.statusText);
  return data;
}
const query = values => Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null)
  .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");

function status(text, bad) {
  const place = document.getElementById("status");
  place.textContent = text; place.classList.toggle("bad", !!bad);
}

const link = (text, href) => { const a = make("a", null, text); a.href = href; return a; };
const empty = (parent, text) => { make("p", parent, text).className = "empty"; };
// Categories of MOSAIC, as words.
const categoryText = name => name.replaceAll("_", " ");
const categoryPill = name => { const a = link(categoryText(name), "#/jobs?" + query({ category: name })); a.className = "pill"; return a; };
const pills = list => { const p = make("span"); list.forEach(one => p.append(one, " ")); return p; };
const telling = list => list.filter(name => !name.endsWith("_insignificant"));
const pill = (text, kind) => { const p = make("span", null, text); p.className = "pill " + (kind || text); return p; };

// Columns: [title, kind, cell(row) -> text or element, name to sort by].
function table(parent, columns, rows, sort) {
  const box = make("div", parent), t = make("table", box), head = make("tr", make("thead", t)), body = make("tbody", t);
  box.className = "scroll";
  for (const [title, kind, , key] of columns) {
    const cell = make("th", head, title);
    cell.className = kind || ""; cell.scope = "col";
    if (key && sort) {
      cell.classList.add("sorts"); cell.tabIndex = 0;
      if (sort.by === key) cell.textContent += sort.ascending ? " ▲" : " ▼";
      cell.onclick = () => sort.choose(key);
      cell.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); sort.choose(key); } };
    }
  }
  const fill = list => {
    body.replaceChildren();
    for (const row of list) {
      const line = make("tr", body);
      if (row.id !== undefined) line.dataset.id = row.id;
      for (const [, kind, content] of columns) {
        const cell = make("td", line), value = content(row);
        cell.className = kind || "";
        if (value instanceof Node) cell.append(value); else cell.textContent = value === undefined || value === null ? "–" : value;
      }
    }
  };
  fill(rows);
  return { body, fill };
}

function facts(parent, list) {
  const dl = make("dl", parent);
  for (const [name, value] of list) { const box = make("div", dl); make("dt", box, name); make("dd", box, value); }
  return dl;
}

function spark(values, what) {
  const canvas = make("canvas");
  canvas.className = "spark"; canvas.setAttribute("role", "img"); canvas.setAttribute("aria-label", what || "bandwidth of the last minute");
  paintSpark(canvas, values);
  return canvas;
}
function paintSpark(canvas, values) {
  const ratio = window.devicePixelRatio || 1, width = 140, height = 28, c = canvas.getContext("2d");
  canvas.width = width * ratio; canvas.height = height * ratio; c.scale(ratio, ratio);
  const top = Math.max(1, ...values), step = width / Math.max(values.length, 2);
  c.fillStyle = colour("sampled");
  values.forEach((value, i) => { const h = value / top * (height - 3); c.fillRect(i * step, height - h, Math.max(step - 0.5, 0.7), h); });
  c.fillStyle = colour("grid"); c.fillRect(0, height - 1, width, 1);
}

// A chart with one or more curves over time; `bands` are phases.
function timeChart(parent, title, curves, range, unit, bands, more) {
  const { shared, height } = { shared: new View(range[0], range[1]), height: 240, ...more };
  const legend = curves.map(curve => [curve.key, curve.name, ""]).concat(bands && bands.length ? [["phase", "phases", "area"]] : []);
  const chart = new Chart(parent, {
    view: shared, height, title, names: ["time", unit === "B/s" ? "bandwidth" : unit === "s" ? "period" : "value"], units: ["s", unit], legend,
    range: (low, high) => [0, 1.05 * Math.max(1e-9, ...curves.map(curve => most(curve, low, high)))],
    curves() {
      if (bands && this.shows("phase")) for (const b of bands) this.band(this.x(b.start), this.x(b.end), "phase", 0.18);
      for (const curve of curves) if (this.shows(curve.key)) this.line(curve, curve.key, 1.3, { filled: true });
    },
    describe: x => [`t ${x.toPrecision(6)} s`].concat(curves.map(curve => `${curve.name} ${si(at(curve, x), unit)}`)).join("\n"),
  });
  charts.push(chart); chart.draw();
  return { chart, shared };
}

// The stream of events; where it does not come, the page asks every five seconds.
let stream = null;
function listen() {
  if (stream || document.hidden || !window.EventSource) return;
  stream = new EventSource("api/v1/events");
  stream.onopen = () => status("live");
  stream.onerror = () => status("not live: asking every 5 s", true);
  for (const name of ["jobs", "began", "ended", "alarm"]) {
    stream.addEventListener(name, event => { const data = JSON.parse(event.data); listeners.forEach(one => one[name] && one[name](data)); });
  }
}
function silence() { if (stream) { stream.close(); stream = null; } }
document.addEventListener("visibilitychange", () => document.hidden ? silence() : listen());
setInterval(() => {
  if (document.hidden || (stream && stream.readyState === 1)) return;
  listeners.forEach(one => one.poll && one.poll());
}, 5000);
