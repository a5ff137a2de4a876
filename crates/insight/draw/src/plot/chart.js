"use strict";
const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
const prefix = value => value === 0 ? [1, ""] : PREFIXES.find(p => Math.abs(value) >= p[0] * 0.99995) || [1e-9, "n"];
const si = (value, unit) => { const [f, p] = prefix(value); return (value / f).toPrecision(4) + " " + p + unit; };
const seconds = value => Math.abs(value) >= 1 || value === 0 ? value.toFixed(Math.max(0, 4 - Math.ceil(Math.log10(Math.abs(value) + 1)))) + " s" : si(value, "s");
const make = (tag, parent, text) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (parent) parent.append(e); return e; };
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough * 0.999) || 10 * power, out = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++) out.push(i * step);
  return [out, step];
}

// The last index whose x is not above the value, or -1.
function before(x, value) {
  let low = -1, high = x.length;
  while (high - low > 1) { const middle = (low + high) >> 1; if (x[middle] <= value) low = middle; else high = middle; }
  return low;
}
const at = (curve, x) => { const i = before(curve.x, x); return i < 0 ? 0 : curve.y[i]; };
const most = (curve, low, high) => {
  let m = 0;
  for (let i = Math.max(0, before(curve.x, low)); i < curve.x.length && curve.x[i] <= high; i++) m = Math.max(m, curve.y[i]);
  return m;
};

// What is seen of an axis; charts with the same axis share one and move together.
class View {
  constructor(least, most, low = least, high = most) { Object.assign(this, { least, most, low, high, charts: [] }); }
  set(low, high) {
    const span = Math.min(high - low, this.most - this.least);
    if (!(span > (this.most - this.least) * 1e-7)) return;
    this.low = Math.min(Math.max(low, this.least), this.most - span);
    this.high = this.low + span;
    this.draw();
  }
  zoom(at, factor) { this.set(at - (at - this.low) * factor, at + (this.high - at) * factor); }
  move(share) { const by = share * (this.high - this.low); this.set(this.low + by, this.high + by); }
  draw() { this.charts.forEach(chart => chart.draw()); }
}

// Options: view, height, title, names, units, legend [key, name, look], range(low, high) -> [y low, y high], curves(), describe(x, y).
class Chart {
  constructor(parent, options) {
    Object.assign(this, options);
    this.hidden = new Set();
    this.view.charts.push(this);
    const figure = make("figure", parent), caption = make("figcaption", figure);
    make("h2", caption, this.title);
    for (const [key, name, look] of this.legend) {
      const label = make("label", caption), box = make("input", label), mark = make("i", label);
      box.type = "checkbox"; box.checked = true; mark.className = look || ""; mark.style.background = `var(--${key})`;
      box.onchange = () => { label.classList.toggle("off", !box.checked); this.hidden[box.checked ? "delete" : "add"](key); this.draw(); };
      label.append(name);
    }
    this.canvas = make("canvas", figure); this.tip = make("div", figure); this.tip.className = "tip";
    this.canvas.tabIndex = 0; this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${this.title}: ${this.names[1]} over ${this.names[0]}`);
    const on = (event, act, options) => this.canvas.addEventListener(event, act, options);
    on("wheel", e => { e.preventDefault(); this.view.zoom(this.value(e), Math.exp(e.deltaY * 0.0015)); }, { passive: false });
    on("pointerdown", e => { this.canvas.setPointerCapture(e.pointerId); this.grip = { x: e.offsetX, low: this.view.low, high: this.view.high, move: e.shiftKey }; });
    on("pointermove", e => this.hover(e));
    on("pointerup", e => this.release(e));
    on("pointerleave", () => { this.tip.style.display = "none"; this.pointer = null; this.draw(); });
    on("dblclick", () => this.view.set(this.view.least, this.view.most));
    on("keydown", e => this.key(e));
    new ResizeObserver(() => this.draw()).observe(figure);
  }
  value(e) { return this.view.low + (e.offsetX - this.left) / this.across * (this.view.high - this.view.low); }
  key(e) {
    const middle = (this.view.low + this.view.high) / 2;
    const act = { "+": () => this.view.zoom(middle, 0.7), "=": () => this.view.zoom(middle, 0.7), "-": () => this.view.zoom(middle, 1.43),
      ArrowLeft: () => this.view.move(-0.2), ArrowRight: () => this.view.move(0.2), 0: () => this.view.set(this.view.least, this.view.most) }[e.key];
    if (act) { e.preventDefault(); act(); }
  }
  release(e) {
    const grip = this.grip; this.grip = null;
    if (grip && !grip.move && Math.abs(e.offsetX - grip.x) > 5) {
      const a = this.value({ offsetX: grip.x }), b = this.value(e);
      this.view.set(Math.min(a, b), Math.max(a, b));
    } else this.draw();
  }
  hover(e) {
    this.pointer = e.offsetX;
    if (this.grip && this.grip.move) {
      const shift = (this.grip.x - e.offsetX) / this.across * (this.grip.high - this.grip.low);
      this.view.set(this.grip.low + shift, this.grip.high + shift);
    } else this.draw();
    const value = this.value(e), inside = value >= this.view.low && value <= this.view.high;
    const text = inside ? this.describe(value, (this.bottom - e.offsetY) / (this.bottom - this.top)) : "";
    this.tip.style.display = text ? "block" : "none";
    this.tip.textContent = text;
    const right = e.offsetX + 16 + this.tip.offsetWidth > this.canvas.clientWidth;
    this.tip.style.left = (right ? e.offsetX - 16 - this.tip.offsetWidth : e.offsetX + 16) + "px";
    this.tip.style.top = this.canvas.offsetTop + e.offsetY + 12 + "px";
  }
  draw() {
    const ratio = Math.max(window.devicePixelRatio || 1, document.body.dataset.print ? 3 : 1), width = this.canvas.parentElement.clientWidth, height = this.height;
    if (!width) return;
    this.canvas.style.height = height + "px"; this.canvas.width = width * ratio; this.canvas.height = height * ratio;
    const c = this.c = this.canvas.getContext("2d"), { low, high } = this.view;
    this.canvas.dataset.low = low; this.canvas.dataset.high = high;
    c.scale(ratio, ratio); c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    this.left = 74; this.across = width - 74 - 16; this.top = 12; this.bottom = height - 44;
    [this.y0, this.y1] = this.range(low, high);
    if (!(this.y1 > this.y0)) this.y1 = this.y0 + 1;
    this.x = v => this.left + (v - low) / (high - low) * this.across;
    this.y = v => this.bottom - (v - this.y0) / (this.y1 - this.y0) * (this.bottom - this.top);
    this.axes();
    c.save(); c.beginPath(); c.rect(this.left, this.top, this.across, this.bottom - this.top); c.clip(); this.curves(); c.restore();
    if (this.pointer !== null && this.pointer !== undefined && this.pointer >= this.left) {
      c.strokeStyle = colour("soft"); c.lineWidth = 0.7; c.beginPath(); c.moveTo(this.pointer, this.top); c.lineTo(this.pointer, this.bottom); c.stroke();
      if (this.grip && !this.grip.move) this.band(this.grip.x, this.pointer, "sampled", 0.15);
    }
  }
  axes() {
    const c = this.c, places = s => Math.min(9, Math.max(0, -Math.floor(Math.log10(s * 1.0001))));
    const [xs, step] = ticks(this.view.low, this.view.high, Math.max(3, this.across / 110)), [fx, px] = this.units[0] === "s" ? [1, ""] : prefix(this.view.high);
    let py = "";
    c.fillStyle = colour("text"); c.lineWidth = 1; c.textBaseline = "middle"; c.textAlign = "right";
    if (this.rows) {
      const row = (this.bottom - this.top) / this.rows.count;
      c.fillText("0", this.left - 8, this.top + Math.min(10, row / 2));
      if (this.rows.last > 0) c.fillText(this.rows.last, this.left - 8, this.bottom - Math.min(10, row / 2));
    } else {
      const [ys, rise] = ticks(this.y0, this.y1, Math.max(2, this.height / 60)), [f, p] = this.units[1] === "%" ? [0.01, ""] : this.units[1] ? prefix(ys[ys.length - 1] || 0) : [1, ""];
      py = p; c.strokeStyle = colour("grid");
      for (const v of ys) {
        const y = Math.round(this.y(v)) + 0.5;
        c.beginPath(); c.moveTo(this.left, y); c.lineTo(this.left + this.across, y); c.stroke();
        c.fillText((v / f).toFixed(places(rise / f)), this.left - 8, y);
      }
    }
    c.strokeStyle = colour("axis"); c.textAlign = "center"; c.textBaseline = "top";
    c.beginPath(); c.moveTo(this.left, this.bottom + 0.5); c.lineTo(this.left + this.across, this.bottom + 0.5); c.stroke();
    for (const v of xs) {
      const x = this.x(v);
      c.beginPath(); c.moveTo(x, this.bottom); c.lineTo(x, this.bottom + 5); c.stroke();
      c.fillText((v / fx).toFixed(places(step / fx)), x, this.bottom + 9);
    }
    c.fillStyle = colour("soft"); c.textAlign = "right"; c.fillText(this.names[0] + (px + this.units[0] ? ` (${px}${this.units[0]})` : ""), this.left + this.across, this.bottom + 27);
    c.save(); c.translate(13, (this.top + this.bottom) / 2); c.rotate(-Math.PI / 2); c.textAlign = "center";
    c.fillText(this.names[1] + (this.units[1] ? ` (${py}${this.units[1]})` : ""), 0, -6); c.restore();
  }
  shows(key) { return !this.hidden.has(key); }
  band(from, to, key, opacity, top = this.top) {
    this.c.fillStyle = colour(key); this.c.globalAlpha = opacity;
    this.c.fillRect(from, top, Math.max(1, to - from), this.bottom - top);
    this.c.globalAlpha = 1;
  }
  // A curve, with a step at each point or straight lines between them.
  line(curve, key, width, { filled = false, stepped = true } = {}) {
    const c = this.c, from = Math.max(0, before(curve.x, this.view.low)), to = Math.min(curve.x.length - 1, before(curve.x, this.view.high) + 1);
    c.strokeStyle = c.fillStyle = colour(key); c.lineWidth = width; c.lineJoin = "bevel"; c.beginPath();
    for (let i = from; i <= to; i++) {
      const x = this.x(curve.x[i]), y = this.y(curve.y[i]);
      if (i === from) { if (filled) c.moveTo(x, this.bottom); c.lineTo(x, y); }
      else { if (stepped) c.lineTo(x, this.y(curve.y[i - 1])); c.lineTo(x, y); }
    }
    if (filled && to >= from) { c.lineTo(this.x(curve.x[to]), this.bottom); c.globalAlpha = 0.3; c.fill(); c.globalAlpha = 1; }
    c.stroke();
  }
}
