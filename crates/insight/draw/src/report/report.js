const pictures = JSON.parse(document.getElementById("data").textContent);
const KINDS = { bandwidth, spectrum, correlation, ranks, overlap };
const views = pictures.map(data => data && new View(data.window[0], data.next_phase ? Math.max(data.window[1], data.next_phase[1]) : data.window[1]));
for (const place of document.querySelectorAll("[data-chart]")) {
  const number = +(place.dataset.picture || 0), data = pictures[number];
  charts.push(KINDS[place.dataset.chart](place, data, views[number]));
}
same = pictures.length > 1;

// Numbers sort as numbers, names as names; a second click turns the order round.
for (const heading of document.querySelectorAll("table.sortable th")) {
  heading.classList.add("sorts");
  heading.tabIndex = 0;
  const sort = () => {
    const column = [...heading.parentNode.children].indexOf(heading), body = heading.closest("table").tBodies[0];
    const falling = heading.getAttribute("aria-sort") !== "descending" && (heading.classList.contains("n") || heading.getAttribute("aria-sort") === "ascending");
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const key = row => { const cell = row.children[column]; return cell.dataset.v !== undefined ? +cell.dataset.v : cell.textContent; };
    const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    [...body.rows].sort((a, b) => (falling ? -1 : 1) * order(key(a), key(b))).forEach(row => body.append(row));
  };
  heading.onclick = sort;
  heading.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); sort(); } };
}

// Times of day in the reader's zone.
for (const time of document.querySelectorAll("time[datetime]")) {
  const date = new Date(time.dateTime);
  if (!isNaN(date)) { time.title = time.dateTime; time.textContent = date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }); }
}
