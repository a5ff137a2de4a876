// Several jobs below each other, on one axis of job time.
const MOST_COMPARED = 8;

async function showCompare(given) {
  const mine = visit;
  make("h1", view, "Compare");
  const ids = (given.ids || "").split(",").filter(id => /^\d+$/.test(id)).slice(0, MOST_COMPARED);
  if (ids.length < 2) return empty(view, "Choose two to eight jobs in the list of jobs, or of an application's runs.");
  const jobs = await Promise.all(ids.map(id => ask(`api/v1/jobs/${id}`)));
  const series = await Promise.all(jobs.map(job => Promise.all(["written_bytes", "read_bytes"].map(metric =>
    job.metrics.includes(metric) ? ask(`api/v1/jobs/${job.id}/series?` + query({ metric, points: 1200 })) : null))));
  if (mine !== visit) return;
  const took = job => (job.end || Date.now() / 1000) - job.start;
  const first = jobs[0];
  // What differs is said by how much, from the first one.
  const beside = (value, base, text) => {
    const cell = make("span", null, text(value));
    if (base && value !== null && Math.abs(value / base - 1) >= 0.005) make("span", cell, ` (${value > base ? "+" : "−"}${percent(Math.abs(value / base - 1))})`).className = "minor";
    return cell;
  };
  table(view, [
    ["Job", "", job => link(job.jobid, `#/job/${job.id}`)],
    ["State", "minor", job => pill(job.state)],
    ["Application", "wide minor", job => job.app],
    ["Ranks", "number", job => job.size || "–"],
    ["Took", "number", job => beside(took(job), took(first), spanText)],
    ["Written", "number", job => beside(job.written_bytes, first.written_bytes, bytesText)],
    ["Read", "number", job => beside(job.read_bytes, first.read_bytes, bytesText)],
    ["I/O", "number minor", job => percent(job.io_share)],
    ["Period", "number", job => job.period ? beside(job.period, first.period, periodText) : "–"],
  ], jobs);
  const end = Math.max(1, ...series.flat().filter(Boolean).map(one => one.end));
  const shared = new View(0, end);
  jobs.forEach((job, i) => {
    const curves = ["written", "read"].map((name, k) => ({ name, key: k ? "next" : "sampled", data: series[i][k] })).filter(one => one.data)
      .map(one => ({ key: one.key, name: one.name, x: one.data.points.map(p => p[0]), y: one.data.points.map(p => p[2]) }));
    if (curves.length) timeChart(view, `${job.jobid}, ${job.size || "?"} ranks`, curves, [0, end], "B/s", [], { shared, height: 170 });
    else empty(view, `${job.jobid}: nothing was moved.`);
  });
}

// A column of boxes, and the way to the comparison of what was chosen.
function choosing(parent) {
  const chosen = new Map(), button = make("a", parent, "");
  const say = () => {
    button.hidden = chosen.size < 2; button.className = "compare";
    button.textContent = `Compare ${chosen.size} jobs`; button.href = "#/compare?" + query({ ids: [...chosen.keys()].join(",") });
  };
  say();
  return ["", "minor", job => {
    const box = make("input"); box.type = "checkbox"; box.checked = chosen.has(job.id); box.setAttribute("aria-label", `compare ${job.jobid}`);
    box.onchange = () => { if (box.checked && chosen.size < MOST_COMPARED) chosen.set(job.id, true); else { chosen.delete(job.id); box.checked = false; } say(); };
    return box;
  }];
}
