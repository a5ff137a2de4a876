// Applications and their models; the site; alarms.
async function showApps() {
  const mine = visit;
  make("h1", view, "Applications");
  const { apps } = await ask("api/v1/apps");
  if (mine !== visit) return;
  if (!apps.length) return empty(view, "No application has run yet.");
  table(view, [
    ["Application", "wide", app => link(app.app, "#/app?" + query({ app: app.app }))],
    ["Jobs", "number", app => app.jobs],
    ["Scales", "number", app => app.scales],
    ["Ranks", "number", app => app.smallest === app.largest ? app.smallest : `${app.smallest} to ${app.largest}`],
    ["Written", "number", app => bytesText(app.written_bytes)],
    ["Read", "number minor", app => bytesText(app.read_bytes)],
    ["Period", "number", app => periodText(app.period)],
    ["Last run", "minor", app => clockText(app.last)],
  ], apps);
}

const unitOf = metric => { const found = /\(([^)]*)\)$/.exec(metric); return found ? found[1] : ""; };

async function showApp(app) {
  const mine = visit;
  make("h1", view, app);
  const [models, points, profiles, kinds] = await Promise.all(["models", "points", "profiles", "categories"].map(what => ask(`api/v1/apps/${what}?` + query({ app }))));
  const quality = (await ask("api/v1/quality?" + query({ app }))).quality;
  if (mine !== visit) return;
  const largest = Math.max(2, ...profiles.jobs.map(job => job.size));
  make("p", view, `${models.runs} finished runs. Models come from all of them, and are fitted anew after each.`);
  if (quality.judged) make("p", view, `Of ${quality.judged} predictions about its jobs in the last 30 days, ${percent(quality.hits / quality.judged)} were right.`);
  const most_jobs = kinds.categories.filter(one => !one.category.endsWith("_insignificant")).sort((a, b) => b.jobs - a.jobs);
  if (most_jobs.length) {
    const p = make("p", view, "Categories: ");
    p.append(pills(most_jobs.map(one => { const found = categoryPill(one.category); found.textContent += ` ${one.jobs}`; found.href = "#/jobs?" + query({ app, category: one.category }); return found; })));
  }
  const place = make("div", view), list = models.models;
  if (!list.length) empty(view, "No models yet: runs at several numbers of ranks are needed, best five.");
  else {
    make("h2", view, "Models");
    table(view, [
      ["Metric", "wide", one => { const button = make("button", null, one.name); button.type = "button"; button.onclick = () => draw(one); return button; }],
      ["Formula", "wide", one => one.equation + (one.runner_up ? ` or ${one.runner_up}` : "")],
      ["Error", "number", one => one.smape === null ? "–" : one.smape.toFixed(2) + " %"],
      ["RSS", "number minor", one => one.rss === null ? "–" : one.rss.toPrecision(3)],
      ["Know that", "wide minor", one => one.notes.join("; ")],
    ], list);
  }
  make("h2", view, "Period over ranks");
  periods(profiles.jobs);
  make("h2", view, "Runs");
  table(view, [
    choosing(make("p", view)),
    ["Job", "", job => link(job.jobid, `#/job/${job.id}`)], ["State", "", job => pill(job.state)], ["Ranks", "number", job => job.size],
    ["Began", "minor", job => clockText(job.start)], ["Took", "number", job => job.end ? spanText(job.end - job.start) : "–"],
    ["Written", "number", job => bytesText(job.written_bytes)], ["Read", "number", job => bytesText(job.read_bytes)], ["Period", "number", job => periodText(job.period)],
  ], profiles.jobs.slice(0, 100));

  function periods(jobs) {
    const dots = jobs.filter(job => job.period && job.size).map(job => [job.size, job.period]).sort((a, b) => a[0] - b[0]);
    if (!dots.length) return empty(view, "No run has a period.");
    const top = Math.max(2, ...dots.map(d => d[0])), shared = new View(1, top);
    const chart = new Chart(view, {
      view: shared, height: 160, title: "Period of runs", names: ["ranks", "period"], units: ["", "s"], legend: [["sampled", "a run", "dot"]],
      range: () => [0, 1.1 * Math.max(...dots.map(d => d[1]))],
      curves() { const c = this.c; if (!this.shows("sampled")) return; c.fillStyle = colour("sampled"); for (const [x, y] of dots) { c.beginPath(); c.arc(this.x(x), this.y(y), 4, 0, 7); c.fill(); } },
      describe: v => `${v.toFixed(0)} ranks`,
    });
    charts.push(chart); chart.draw();
  }

  let shown = null;
  async function draw(one) {
    const unit = unitOf(one.metric), measured = points[one.name] || [], top = 64 * largest;
    const { points: curve } = await ask("api/v1/apps/curve?" + query({ app, metric: one.name, to: top }));
    if (mine !== visit) return;
    charts = charts.filter(chart => chart !== shown); place.replaceChildren();
    const x = curve.map(p => p[0]), line = { x, y: curve.map(p => p[1]) }, low = { x, y: curve.map(p => p[2]) }, high = { x, y: curve.map(p => p[3]) };
    const dots = { x: measured.map(p => p[0]), y: measured.map(p => p[1]) };
    const shared = new View(1, top, 1, 2 * largest);
    const chart = new Chart(place, {
      view: shared, height: 280, title: one.name, names: ["ranks", one.metric.replace(/ \(.*/, "")], units: ["", unit],
      legend: [["sampled", "measured", "dot"], ["wave", "model", ""], ["phase", "95 % of runs", "area"]],
      range: (a, b) => [Math.min(0, ...dots.y), 1.1 * Math.max(1e-9, most(line, a, b), ...dots.x.map((v, i) => v <= b ? dots.y[i] : 0))],
      curves() {
        const c = this.c;
        if (this.shows("phase") && high.y[0] !== null) {
          c.beginPath();
          x.forEach((v, i) => c.lineTo(this.x(v), this.y(high.y[i])));
          for (let i = x.length - 1; i >= 0; i--) c.lineTo(this.x(x[i]), this.y(low.y[i]));
          c.fillStyle = colour("phase"); c.globalAlpha = 0.25; c.fill(); c.globalAlpha = 1;
        }
        if (this.shows("wave")) this.line(line, "wave", 1.6, { stepped: false });
        if (this.shows("sampled")) { c.fillStyle = colour("sampled"); dots.x.forEach((v, i) => { c.beginPath(); c.arc(this.x(v), this.y(dots.y[i]), 4, 0, 7); c.fill(); }); }
      },
      describe: v => `${v.toFixed(0)} ranks\nmodel ${si(at(line, v) || 0, unit)}`,
    });
    charts.push(chart); chart.draw(); shown = chart;
    const form = make("form", place), label = make("label", form, "Ranks "), slider = make("input", label), said = make("output", form);
    form.onsubmit = event => event.preventDefault();
    slider.type = "range"; slider.min = 0; slider.max = 1000; slider.value = 1000 * Math.log(2 * largest) / Math.log(top);
    slider.setAttribute("aria-label", "number of ranks");
    const evaluate = async () => {
      const ranks = Math.max(1, Math.round(Math.exp(slider.value / 1000 * Math.log(top))));
      shared.set(1, Math.max(2, ranks));
      const value = await ask("api/v1/apps/evaluate?" + query({ app, metric: one.name, ranks }));
      const inside = value.low === null ? "" : ` (${si(value.low, unit)} to ${si(value.high, unit)})`;
      said.textContent = `at ${ranks} ranks: ${si(value.value, unit)}${inside}`;
    };
    slider.oninput = () => evaluate().catch(error => status(error.message, true));
    await evaluate();
  }
  const first = list.find(one => one.name === "written_bytes") || list[0];
  if (first) await draw(first);
}

async function showSite() {
  const mine = visit;
  make("h1", view, "Site");
  const [site, schedule, quality, kinds] = await Promise.all([ask("api/v1/site?days=30"), ask("api/v1/schedule"), ask("api/v1/quality"), ask("api/v1/site/categories?days=365")]);
  if (mine !== visit) return;
  const total = rows => rows.reduce((s, row) => s + row.written_bytes + row.read_bytes, 0);
  make("h2", view, "Predictions of the last 30 days");
  const q = quality.quality;
  if (!q.judged) empty(view, "None could be judged yet: a phase that was foretold must come first.");
  else {
    facts(view, [["Judged", `${q.judged}`], ["Right", percent(q.hits / q.judged)], ["Median error", q.errors ? `${percent(q.median_error)} of a period (of ${q.errors})` : "–"]]);
    table(view, [["Week of", "", week => dayText(week.day)], ["Judged", "number", week => week.judged], ["Right", "number", week => percent(week.hits / week.judged)]], quality.weeks.slice().reverse());
  }
  const bars = (title, rows) => {
    make("h2", view, title);
    if (!rows.length) return empty(view, "Nothing in the last 30 days.");
    const all = Math.max(1, total(rows));
    table(view, [
      ["", "wide", row => row.name], ["Jobs", "number", row => row.jobs], ["Written", "number", row => bytesText(row.written_bytes)],
      ["Read", "number minor", row => bytesText(row.read_bytes)],
      ["Share", "", row => { const bar = make("progress"); bar.max = 1; bar.value = (row.written_bytes + row.read_bytes) / all; bar.setAttribute("aria-label", "share"); return bar; }],
    ], rows.slice(0, 20));
  };
  bars("Who moves how much", site.users);
  bars("Which applications", site.apps);
  make("h2", view, "Categories of the last year");
  const stretches = [...new Set(kinds.categories.map(one => one.day))].sort((a, b) => a - b), names = new Map();
  for (const one of kinds.categories) {
    const row = names.get(one.category) || { category: one.category, jobs: 0, bytes: 0, over: stretches.map(() => 0) };
    row.jobs += one.jobs; row.bytes += one.bytes; row.over[stretches.indexOf(one.day)] += one.jobs;
    names.set(one.category, row);
  }
  const rows = [...names.values()].sort((a, b) => b.bytes - a.bytes || b.jobs - a.jobs);
  if (!rows.length) empty(view, "No job has ended yet.");
  else table(view, [["Category", "", row => categoryPill(row.category)], ["Jobs", "number", row => row.jobs], ["Moved", "number", row => bytesText(row.bytes)],
    [`Jobs by ${kinds.step === 1 ? "day" : kinds.step + " days"}`, "", row => spark(row.over, "jobs over time")]], rows);
  make("h2", view, "Days");
  if (!site.days.length) empty(view, "Nothing in the last 30 days.");
  else table(view, [["Day", "", day => dayText(day.day)], ["Jobs", "number", day => day.jobs], ["Written", "number", day => bytesText(day.written_bytes)], ["Read", "number", day => bytesText(day.read_bytes)]], site.days.slice().reverse());
  make("h2", view, "Sets of running jobs (Set-10)");
  if (!schedule.jobs.length) empty(view, "No job is running.");
  else table(view, [["Job", "", job => link(job.jobid, `#/job/${job.id}`)], ["Period", "number", job => periodText(job.period)], ["Set", "number", job => job.set === null ? "not known yet" : "S" + job.set], ["Priority", "number", job => job.priority.toPrecision(3)]], schedule.jobs);
}

async function showAlarms() {
  make("h1", view, "Alarms");
  const mine = visit, place = make("div", view);
  const look = async () => {
    const data = await ask("api/v1/alarms");
    if (mine !== visit) return;
    place.replaceChildren();
    if (!data.alarms.length) empty(place, "There was no alarm.");
    else table(place, [
      ["", "", one => one.until ? pill("over") : pill("now", "high")], ["Rule", "", one => one.rule],
      ["Job", "", one => one.job ? link(one.jobid, `#/job/${one.job}`) : "all jobs"], ["What", "wide", one => one.message],
      ["Since", "", one => clockText(one.since)], ["Until", "minor", one => clockText(one.until)],
    ], data.alarms);
    make("h2", place, "Rules");
    table(place, [["Name", "", rule => rule.name], ["Metric", "", rule => rule.metric + (rule.site ? ", all jobs together" : "")], ["Threshold", "number", rule => `${rule.operation} ${rule.value >= 1e4 ? rule.value.toExponential() : rule.value}`], ["For", "number", rule => rule.for === undefined ? "at once" : spanText(rule.for)]],
      data.rules.concat(data.thresholds.map(one => ({ ...one, name: `${one.name} (${one.target})` }))));
  };
  listeners.push({ alarm: look, poll: look });
  await look();
}
