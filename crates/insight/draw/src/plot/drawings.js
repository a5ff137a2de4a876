const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const charts = [];
let same = false;

// With "same scales", the highest value of that kind in all pictures.
const shared = (kind, own) => same ? Math.max(...charts.filter(chart => chart.kind === kind).map(chart => chart.own())) : own;

function bandwidth(parent, data, view) {
  const wave = t => data.wave.mean + data.wave.amplitude * Math.cos(2 * Math.PI * data.wave.frequency * t + data.wave.phase);
  const crest = (low, high) => data.rebuilt ? most(data.rebuilt, low, high) : data.wave ? data.wave.mean + data.wave.amplitude : 0;
  return new Chart(parent, {
    kind: "bandwidth", view, height: 330, title: data.unit ? "Bandwidth" : "Value", names: ["time", data.unit ? "bandwidth" : "value"], units: ["s", data.unit],
    legend: [...(data.phases.length ? [["phase", "phases", "area"]] : []), ...(data.exact ? [["exact", "exact", "area"]] : []), ["sampled", "sampled"],
      ...(data.rebuilt ? [["wave", "mean and strongest waves"]] : data.wave ? [["wave", "mean and dominant wave"]] : []), ...(data.next_phase ? [["next", "next phase expected", "area"]] : []), ...((data.marks || []).length ? [["mark", "marks"]] : [])],
    own(low = view.low, high = view.high) {
      const sampled = Math.max(most(data.sampled, low, high), this.shows("wave") ? crest(low, high) : 0);
      return data.exact && this.shows("exact") ? Math.max(sampled, Math.min(most(data.exact, low, high), 2.5 * sampled)) : sampled;
    },
    range(low, high) { return [0, 1.08 * shared("bandwidth", this.own(low, high))]; },
    curves() {
      const c = this.c;
      if (this.shows("phase")) for (const [a, b] of data.phases) {
        if (b < view.low || a > view.high) continue;
        this.band(this.x(a), this.x(b), "phase", 0.1); this.band(this.x(a), this.x(b), "phase", 0.9, this.bottom - 4);
      }
      let free = this.left;
      if (this.shows("mark")) for (const mark of data.marks || []) {
        if (mark.time < view.low || mark.time > view.high) continue;
        const x = this.x(mark.time);
        c.strokeStyle = colour("mark"); c.lineWidth = 1; c.setLineDash([3, 3]); c.beginPath(); c.moveTo(x, this.top); c.lineTo(x, this.bottom); c.stroke(); c.setLineDash([]);
        c.fillStyle = colour("mark"); c.textAlign = "left"; c.textBaseline = "top"; const end = x + 6 + c.measureText(mark.text).width;
        if (x >= free && end <= this.left + this.across) { c.fillText(mark.text, x + 3, this.top + 2); free = end; }
      }
      if (data.next_phase && this.shows("next")) this.band(this.x(data.next_phase[0]), this.x(data.next_phase[1]), "next", 0.25);
      if (data.exact && this.shows("exact")) this.line(data.exact, "exact", 0.6, { filled: true });
      if (this.shows("sampled")) this.line(data.sampled, "sampled", 1.2);
      if (data.rebuilt && this.shows("wave")) {
        const { x, y } = data.rebuilt, from = Math.max(0, before(x, view.low)), to = Math.min(x.length - 1, before(x, view.high) + 1);
        c.strokeStyle = colour("wave"); c.lineWidth = 2; c.beginPath();
        for (let i = from; i <= to; i++) c.lineTo(this.x(x[i]), this.y(y[i]));
        c.stroke();
      } else if (data.wave && this.shows("wave")) {
        c.strokeStyle = colour("wave"); c.lineWidth = 2; c.beginPath();
        for (let p = 0; p <= this.across; p += 0.5) c.lineTo(this.left + p, this.y(Math.max(0, wave(view.low + p / this.across * (view.high - view.low)))));
        c.stroke();
      }
      const highest = data.exact && this.shows("exact") ? most(data.exact, view.low, view.high) : 0;
      if (highest > this.y1) {
        c.fillStyle = colour("soft"); c.textAlign = "right"; c.textBaseline = "top";
        c.fillText(`exact goes up to ${si(highest, data.unit)}`, this.left + this.across - 4, this.top + 2);
      }
    },
    describe(t) {
      const lines = [`time      ${seconds(t)}`];
      if (t <= data.window[1]) {
        if (data.exact) lines.push(`exact     ${si(at(data.exact, t), data.unit)}`);
        lines.push(`sampled   ${si(at(data.sampled, t), data.unit)}`);
      }
      if (data.rebuilt) { if (t <= data.window[1]) lines.push(`waves     ${si(at(data.rebuilt, t), data.unit)}`); } else if (data.wave) lines.push(`wave      ${si(Math.max(0, wave(t)), data.unit)}`);
      const phase = data.phases.findIndex(([a, b]) => t >= a && t <= b);
      if (phase >= 0) lines.push(`phase     ${phase + 1} of ${data.phases.length}, ${seconds(data.phases[phase][1] - data.phases[phase][0])} long`);
      if (data.next_phase && t >= data.next_phase[0] && t <= data.next_phase[1]) lines.push("next phase expected");
      return lines.join("\n");
    },
  });
}

function spectrum(parent, data) {
  const s = data.spectrum, view = new View(0, s.x.length ? s.x[s.x.length - 1] : 1, 0, data.frequency_range || 1);
  const kinds = [...new Set(data.candidates.map(mark => mark.kind))].reverse();
  return new Chart(parent, {
    kind: "spectrum", view, height: 250, title: "Spectrum", names: ["frequency", "share of power"], units: ["Hz", "%"],
    legend: [["sampled", "power"], ...kinds.map(kind => [kind, kind, "dot"])],
    own(low = view.low, high = view.high) { return most(s, low, high); },
    range(low, high) { return [0, 1.12 * shared("spectrum", this.own(low, high))]; },
    curves() {
      const c = this.c, from = Math.max(0, before(s.x, view.low)), to = Math.min(s.x.length - 1, before(s.x, view.high) + 1);
      if (this.shows("sampled")) {
        c.strokeStyle = colour("sampled"); c.lineWidth = Math.min(7, Math.max(0.8, this.across / Math.max(1, to - from) * 0.7)); c.beginPath();
        for (let i = from; i <= to; i++) { const x = this.x(s.x[i]); c.moveTo(x, this.bottom); c.lineTo(x, this.y(s.y[i])); }
        c.stroke();
      }
      for (const mark of data.candidates.filter(mark => this.shows(mark.kind))) {
        const x = this.x(mark.frequency), y = this.y(mark.power), label = c.measureText(mark.label).width;
        c.fillStyle = colour(mark.kind); c.beginPath(); c.arc(x, y, 4.5, 0, 7); c.fill();
        if (mark.kind === "harmonic") continue;
        // Beside the mark, where there is room; on a narrow screen above it.
        const right = this.left + this.across, fits = x + 9 + label <= right ? x + 9 : x - 9 - label;
        c.fillStyle = colour("text"); c.textAlign = "left"; c.textBaseline = fits < this.left ? "bottom" : "middle";
        c.fillText(mark.label, fits < this.left ? Math.max(this.left, right - label) : fits, fits < this.left ? y - 6 : y);
      }
    },
    describe(f) {
      let i = before(s.x, f);
      if (i + 1 < s.x.length && (i < 0 || s.x[i + 1] - f < f - s.x[i])) i++;
      if (i < 0) return "";
      const mark = data.candidates.find(m => Math.abs(m.frequency - s.x[i]) < 1e-6 * s.x[i]);
      return `frequency  ${si(s.x[i], "Hz")}\nperiod     ${seconds(1 / s.x[i])}\nshare      ${(100 * s.y[i]).toPrecision(3)} %` + (mark ? `\n${mark.kind}` : "");
    },
  });
}

function correlation(parent, data) {
  const acf = data.acf, end = acf.x[acf.x.length - 1], lowest = Math.min(0, ...acf.y.filter((_, i) => i % Math.ceil(acf.y.length / 1e4) === 0));
  const view = new View(0, end);
  return new Chart(parent, {
    kind: "acf", view, height: 190, title: "Autocorrelation", names: ["lag", "correlation"], units: ["s", ""],
    legend: [["sampled", "autocorrelation"], ...(data.period ? [["wave", "multiples of the period"]] : [])],
    range: () => [1.05 * lowest, 1.05],
    curves() {
      const c = this.c;
      c.strokeStyle = colour("axis"); c.lineWidth = 0.8; c.beginPath(); c.moveTo(this.left, this.y(0)); c.lineTo(this.left + this.across, this.y(0)); c.stroke();
      if (data.period && this.shows("wave") && (view.high - view.low) / data.period < 400) {
        c.strokeStyle = colour("wave"); c.lineWidth = 1; c.setLineDash([4, 3]); c.beginPath();
        for (let k = Math.max(1, Math.ceil(view.low / data.period)); k * data.period <= view.high; k++) { const x = this.x(k * data.period); c.moveTo(x, this.top); c.lineTo(x, this.bottom); }
        c.stroke(); c.setLineDash([]);
      }
      if (this.shows("sampled")) this.line(acf, "sampled", 1.2, { stepped: false });
    },
    describe: lag => `lag          ${seconds(lag)}\ncorrelation  ${at(acf, lag).toFixed(3)}` + (data.period ? `\nperiods      ${(lag / data.period).toFixed(2)}` : ""),
  });
}

function ranks(parent, data, view) {
  const map = data.ranks, [from, to] = data.window;
  const level = (row, column) => { const i = 2 * (row * map.columns + column); return (LETTERS.indexOf(map.cells[i]) * 64 + LETTERS.indexOf(map.cells[i + 1])) / 4095; };
  const names = row => { const a = row * map.ranks_per_row, b = Math.min(map.ranks, a + map.ranks_per_row) - 1; return a === b ? `rank      ${a}` : `ranks     ${a} to ${b}`; };
  return new Chart(parent, {
    kind: "ranks", view, height: Math.min(300, Math.max(130, 56 + 14 * map.rows)), title: "Ranks", names: ["time", "rank"], units: ["s", ""],
    rows: { count: map.rows, last: map.ranks - 1 }, legend: [["sampled", `up to ${si(map.highest, "B/s")}`, "area"]],
    range: () => [0, map.rows],
    curves() {
      const c = this.c, step = (to - from) / map.columns, row = (this.bottom - this.top) / map.rows;
      const first = Math.max(0, Math.floor((view.low - from) / step)), last = Math.min(map.columns - 1, Math.floor((view.high - from) / step));
      c.fillStyle = colour("sampled");
      if (this.shows("sampled")) for (let r = 0; r < map.rows; r++) for (let k = first; k <= last; k++) {
        const value = level(r, k);
        if (!value) continue;
        const x = Math.round(this.x(from + k * step)), y = Math.round(this.top + r * row);
        c.globalAlpha = Math.max(0.06, Math.sqrt(value));
        c.fillRect(x, y, Math.max(1, Math.round(this.x(from + (k + 1) * step)) - x), Math.max(1, Math.round(this.top + (r + 1) * row) - y - (row > 6 ? 1 : 0)));
      }
      c.globalAlpha = 1;
    },
    describe(t, up) {
      const column = Math.floor((t - from) / (to - from) * map.columns), row = Math.floor((1 - up) * map.rows);
      if (column < 0 || column >= map.columns || row < 0 || row >= map.rows) return "";
      return `time      ${seconds(t)}\n${names(row)}\nbandwidth ${si(level(row, column) * map.highest, "B/s")}`;
    },
  });
}

function overlap(parent, data, view) {
  const { required, actual } = data.overlap;
  return new Chart(parent, {
    kind: "overlap", view, height: 210, title: "Nonblocking operations", names: ["time", "bandwidth"], units: ["s", "B/s"],
    legend: [["actual", "actual", "area"], ["required", "required to hide it all"]],
    own(low = view.low, high = view.high) { return Math.max(this.shows("required") ? most(required, low, high) : 0, this.shows("actual") ? most(actual, low, high) : 0); },
    range(low, high) { return [0, 1.08 * shared("overlap", this.own(low, high))]; },
    curves() {
      if (this.shows("actual")) this.line(actual, "actual", 1, { filled: true });
      if (this.shows("required")) this.line(required, "required", 1.6);
    },
    describe: t => t > data.window[1] ? "" : `time      ${seconds(t)}\nrequired  ${si(at(required, t), "B/s")}\nactual    ${si(at(actual, t), "B/s")}`,
  });
}

const redraw = () => charts.forEach(chart => chart.draw());
