// Jobs: the list, and one job.
async function showJobs(given) {
  make("h1", view, "Jobs");
  const mine = visit, form = make("form", view), list = make("div", view);
  const box = (name, label, kind) => { const input = make("input", form); input.name = name; input.type = kind || "search"; input.placeholder = label; input.setAttribute("aria-label", label); input.value = given[name] || ""; return input; };
  const words = box("q", "Job id, command, node"), user = box("user", "User"), app = box("app", "Application"), category = box("category", "Category");
  const state = make("select", form);
  state.setAttribute("aria-label", "State");
  for (const [value, text] of [["", "any state"], ["running", "running"], ["finished", "finished"], ["lost", "lost"], ["partial", "partial"]]) {
    const option = make("option", state, text); option.value = value; option.selected = value === (given.state || "");
  }
  const wanted = () => ({ q: words.value, user: user.value, app: app.value, category: category.value, state: state.value, sort: given.sort, order: given.order });
  const go = () => { location.hash = "#/jobs?" + query(wanted()); };
  form.onsubmit = event => { event.preventDefault(); go(); };
  state.onchange = go;
  make("button", form, "Search");
  const sort = { by: given.sort || "start", ascending: given.order === "asc", choose: key => {
    given.order = given.sort === key && given.order !== "asc" ? "asc" : "desc"; given.sort = key; go();
  } };
  const columns = [
    choosing(form),
    ["Job", "", job => link(job.jobid, `#/job/${job.id}`)],
    ["State", "", job => pill(job.state)],
    ["User", "minor", job => job.user],
    ["Application", "", job => link(job.app || "–", "#/app?" + query({ app: job.app }))],
    ["Ranks", "number", job => job.size || "–", "size"],
    ["Began", "minor", job => clockText(job.start), "start"],
    ["Took", "number", job => job.end ? spanText(job.end - job.start) : spanText(Date.now() / 1000 - job.start), "end"],
    ["Written", "number", job => bytesText(job.written_bytes), "written"],
    ["Read", "number minor", job => bytesText(job.read_bytes), "read"],
    ["I/O", "number minor", job => percent(job.io_share)],
    ["Period", "number", job => periodText(job.period), "period"],
    ["Category", "minor", job => telling(job.categories).map(categoryText).join(", ")],
    ["Findings", "", job => job.high_findings ? pill(job.high_findings + " high", "high") : ""],
  ];
  let rows = [], cursor = null, shown = null;
  const more = make("button", view, "More"); more.type = "button"; more.hidden = true;
  const load = async next => {
    const data = await ask("api/v1/jobs?" + query({ ...wanted(), limit: 50, cursor: next }));
    if (mine !== visit) return;
    rows = next ? rows.concat(data.jobs) : data.jobs; cursor = data.cursor; more.hidden = !cursor;
    if (!rows.length) { list.replaceChildren(); shown = null; return empty(list, "No job is like that."); }
    if (shown) shown.fill(rows); else { list.replaceChildren(); shown = table(list, columns, rows, sort); }
  };
  more.onclick = () => load(cursor);
  listeners.push({ began: () => load(null), ended: () => load(null), poll: () => load(null) });
  await load(null);
}

// What went through each layer of the trace. Bytes of one are there again in those below it.
function layersOf(totals) {
  const value = name => totals[name] && totals[name].value;
  const layers = ["mpiio", "posix", "stdio"].filter(layer => value(layer + "_seconds") !== undefined);
  if (!layers.length) return;
  table(view, [
    ["Layer", "", layer => ({ mpiio: "MPI-IO", posix: "POSIX", stdio: "STDIO" })[layer]],
    ["Written", "number", layer => bytesText(value(layer + "_written_bytes"))],
    ["Writes", "number", layer => value(layer + "_write_operations")],
    ["Read", "number", layer => bytesText(value(layer + "_read_bytes"))],
    ["Reads", "number", layer => value(layer + "_read_operations")],
    ["Time of all ranks", "number", layer => seconds(value(layer + "_seconds"))],
  ], layers);
}

async function showJob(id) {
  const mine = visit;
  const job = await ask(`api/v1/jobs/${id}`);
  if (mine !== visit) return;
  document.title = `${job.jobid} – ftio serve`;
  const title = make("h1", view, `Job ${job.jobid} `); title.append(pill(job.state));
  make("p", view, job.command);
  const duration = job.end ? job.end - job.start : Date.now() / 1000 - job.start;
  facts(view, [
    ["User", job.user || "–"], ["Ranks", String(job.size || "–")], ["Nodes", job.nodelist || "–"], ["Files", job.totals.files ? String(job.totals.files.value) : "–"], ["Partition", job.partition || "–"],
    ["Began", clockText(job.start)], [job.end ? "Took" : "Running for", spanText(duration)],
    ["Written", bytesText(job.written_bytes)], ["Read", bytesText(job.read_bytes)], ["Time in I/O", percent(job.io_share)],
    ["Period", job.period ? `${seconds(job.period)} (${percent(job.confidence)})` : "–"],
    ...job.rhythms.map(one => [one.direction === "read" ? "Reads every" : "Writes every", `${seconds(one.period)} (${percent(one.confidence)})`]),
    ["Resolution", seconds(job.series_period)],
  ]);
  const kinds = telling(job.categories);
  if (kinds.length) { const p = make("p", view, "Categories: "); p.append(pills(kinds.map(categoryPill))); }
  const links = make("p", view);
  links.append(link("Application", "#/app?" + query({ app: job.app })), " · ");
  if (job.has_trace && job.end) links.append(link("Report", `api/v1/jobs/${id}/report.html`), " · ");
  links.append(link("JSON", `api/v1/jobs/${id}`), " · ", link("Counters", "job?" + query({ job: job.jobid })));
  layersOf(job.totals);
  const next = make("p", view), place = make("div", view), below = make("div", view);
  let curves = null, chart = null, bands = [];

  const draw = async () => {
    const metrics = ["written_bytes", "read_bytes"].filter(name => job.metrics.includes(name));
    const [detection, ...series] = await Promise.all([ask(`api/v1/jobs/${id}/detection`)].concat(
      metrics.map(metric => ask(`api/v1/jobs/${id}/series?` + query({ metric, points: 1200 })))));
    if (mine !== visit) return;
    const found = detection || {};
    const fresh = series.map((one, i) => ({ key: i ? "next" : "sampled", name: metrics[i].split("_")[0], x: one.points.map(p => p[0]), y: one.points.map(p => p[2]) }));
    const phases = found.phases || [];
    if (curves && fresh.length === curves.length) {
      curves.forEach((curve, i) => Object.assign(curve, fresh[i]));
      bands.splice(0, bands.length, ...phases);
      const end = Math.max(1, ...series.map(one => one.end)), whole = chart.shared.high === chart.shared.most;
      chart.shared.most = end; if (whole) chart.shared.high = end;
      chart.chart.draw();
    } else if (fresh.length) {
      curves = fresh; bands = phases;
      chart = timeChart(place, "Bandwidth", curves, [0, Math.max(1, ...series.map(one => one.end))], "B/s", bands);
    } else if (!place.children.length) empty(place, job.end ? "It is not known when bytes were moved." : "Nothing was moved yet. With TMIO_FLUSH=finalize a job shows nothing until it ends.");
    const ahead = found.next_phase;
    if (ahead && !job.end) next.textContent = `Next phase ${clockText(job.start + ahead.start)}, ${bytesText(ahead.bytes)}.`;
    else next.textContent = (found.reasons || []).join("; ");
  };
  const rest = async () => {
    const [findings, predictions] = await Promise.all([ask(`api/v1/jobs/${id}/findings`), ask(`api/v1/jobs/${id}/predictions`)]);
    if (mine !== visit) return;
    below.replaceChildren();
    make("h2", below, "Findings");
    if (!findings.findings.length) empty(below, job.end ? "Nothing stands out." : "They are looked for when the job has ended.");
    for (const finding of findings.findings) {
      const box = make("div", below); box.className = "finding";
      const head = make("strong", box, finding.title + " "); head.append(pill(finding.severity));
      make("p", box, finding.evidence); make("p", box, finding.advice);
    }
    make("h2", below, "Predictions");
    const quality = predictions.quality;
    if (!predictions.predictions.length) empty(below, "None was made: a phase must come back first.");
    else {
      make("p", below, quality.judged ? `${quality.hits} of ${quality.judged} were right (${percent(quality.hits / quality.judged)}).` : "None can be judged yet.");
      const known = predictions.predictions.filter(one => one.period).reverse();
      if (known.length > 1) {
        const x = known.map(one => one.made - job.start);
        timeChart(below, "Period over time", [{ key: "wave", name: "period", x, y: known.map(one => one.period) }], [x[0], x[x.length - 1]], "s", [], { height: 160 });
      }
      table(below, [
        ["Made", "", one => clockText(one.made)],
        ["Phase foretold", "", one => `${seconds(one.start - job.start)} (${seconds(one.low - job.start)} to ${seconds(one.high - job.start)})`],
        ["Came", "number", one => one.came ? seconds(one.came - job.start) : "–"],
        ["Right", "", one => one.hit === null ? "" : one.hit ? "yes" : "no"],
        ["Period", "number", one => periodText(one.period)],
        ["Confidence", "number", one => percent(one.confidence)],
      ], predictions.predictions.slice(0, 20));
    }
  };
  await Promise.all([draw(), rest()]);
  if (!job.end) {
    let last = 0;
    listeners.push({
      jobs: () => { if (Date.now() - last > 2000) { last = Date.now(); draw().catch(() => {}); } },
      ended: data => { if (data.id === +id) route(); }, poll: draw,
    });
  }
}
