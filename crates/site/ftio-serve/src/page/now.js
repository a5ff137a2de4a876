// Now: running jobs, what they move together, what is ahead.
async function showNow() {
  make("h1", view, "Now");
  const top = make("div", view), rows = make("div", view), ahead = make("div", view);
  const mine = visit;
  let known = { jobs: [], time: 0 }, shift = 0, capacity = null, shown = null, curves = null, sum = null, figures = null;

  const countdown = job => {
    if (!job.next_start) return "–";
    const left = job.next_start - (Date.now() / 1000 - shift);
    // What comes later than is known may be under way.
    const text = make("span", null, left > 0 ? "in " + spanText(left) : job.next_end > job.known ? "now" : "overdue");
    if (left < 10 && left > 0) text.className = "soon";
    return text;
  };
  const columns = [
    ["Job", "", job => job.origin === "node" ? job.jobid : link(job.jobid, `#/job/${job.id}`)],
    ["Application", "minor", job => job.app],
    ["Ranks", "number minor", job => job.size || "–"],
    ["Running", "number minor", job => spanText(known.time - job.start)],
    ["Last minute", "", job => spark(job.spark)],
    ["Bandwidth", "number", job => rateText(job.rate)],
    ["Written", "number minor", job => bytesText(job.written_bytes)],
    ["Read", "number minor", job => bytesText(job.read_bytes)],
    ["Period", "number", job => {
      const text = make("span", null, periodText(job.period));
      if (job.period) make("span", text, ` (${percent(job.confidence)})`).className = "minor";
      return text;
    }],
    ["Next phase", "number", countdown],
  ];
  const paint = () => {
    if (mine !== visit) return;
    const jobs = known.jobs.filter(job => job.origin !== "node").sort((a, b) => b.rate - a.rate);
    const total = jobs.reduce((s, job) => s + job.rate, 0);
    const list = [["Running jobs", String(jobs.length)], ["All together", rateText(total)]];
    if (capacity) list.push(["Of the file system", percent(total / capacity)]);
    if (figures) figures.remove();
    figures = facts(top, list); top.prepend(figures);
    if (!jobs.length) {
      shown = null; rows.replaceChildren();
      return empty(rows, "No job is running. Jobs appear by themselves when their traces do: below a watched directory, or pushed.");
    }
    if (!shown) { rows.replaceChildren(); shown = table(rows, columns, jobs.slice(0, 200)); } else shown.fill(jobs.slice(0, 200));
    if (jobs.length > 200) status(`the 200 of ${jobs.length} jobs that move most`);
  };
  const look = async () => {
    const [running, series, forecast] = await Promise.all([ask("api/v1/running"), ask("api/v1/site/series"), ask("api/v1/forecast")]);
    if (mine !== visit) return;
    known = running; shift = Date.now() / 1000 - running.time; capacity = series.capacity;
    paint();
    const x = series.points.map(p => p[0] - series.time);
    const next = [{ key: "sampled", name: "written", x, y: series.points.map(p => p[1]) }, { key: "next", name: "read", x, y: series.points.map(p => p[2]) }];
    if (curves) { curves.forEach((curve, i) => { curve.y = next[i].y; }); sum.chart.draw(); }
    else { curves = next; sum = timeChart(top, "All jobs, last ten minutes", curves, [-600, 0], "B/s"); }
    ahead.replaceChildren();
    make("h2", ahead, "Conflicts ahead");
    const conflicts = forecast.conflicts.slice(0, 20);
    if (!conflicts.length) empty(ahead, "In the next ten minutes no phases of two jobs are expected at the same time.");
    else table(ahead, [
      ["When", "", c => "in " + spanText(c.start - forecast.time)],
      ["For", "number", c => seconds(c.end - c.start)],
      ["Jobs", "wide", c => c.jobs.join(", ")],
      ["Together", "number", c => rateText(c.rate)],
      ["Of capacity", "number", c => percent(c.share)],
    ], conflicts);
  };
  listeners.push({
    jobs: data => { known = data; shift = Date.now() / 1000 - data.time; paint(); },
    began: look, ended: look, poll: look, paint,
  });
  await look();
  const timer = setInterval(() => { if (mine !== visit) clearInterval(timer); else if (!document.hidden) look().catch(() => {}); }, 10000);
}
