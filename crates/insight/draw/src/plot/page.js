const pictures = JSON.parse(document.getElementById("data").textContent);
for (const data of pictures) {
  const section = make("section", document.getElementById("pictures"));
  make("h1", section, data.title);
  make("p", section, data.subtitle);
  const list = make("dl", section);
  for (const [name, value] of data.facts) { const item = make("div", list); make("dt", item, name); make("dd", item, value); }
  const view = new View(data.window[0], data.next_phase ? Math.max(data.window[1], data.next_phase[1]) : data.window[1]);
  charts.push(bandwidth(section, data, view), spectrum(section, data));
  if (data.acf) charts.push(correlation(section, data));
  if (data.ranks) charts.push(ranks(section, data, view));
  if (data.overlap) charts.push(overlap(section, data, view));
}
if (pictures.length > 1) {
  const box = document.getElementById("same");
  document.body.classList.add("several");
  box.hidden = false;
  box.firstElementChild.onchange = e => { same = e.target.checked; redraw(); };
}

