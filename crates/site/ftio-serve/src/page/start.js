// Which page is shown: what is after the # of the address.
async function route() {
  visit += 1;
  charts = []; listeners = [];
  const [path, rest] = (location.hash.slice(1) || "/now").split("?");
  const given = Object.fromEntries(new URLSearchParams(rest || ""));
  const [, page, id] = path.split("/");
  const pages = { now: showNow, jobs: () => showJobs(given), job: () => showJob(id), apps: showApps, app: () => showApp(given.app || ""), site: showSite, alarms: showAlarms, compare: () => showCompare(given) };
  document.title = "ftio serve";
  const shown = { job: "jobs", compare: "jobs", app: "apps" }[page] || page;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.getAttribute("href") === `#/${shown}`) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const mine = visit;
  view.replaceChildren();
  try {
    await (pages[page] || showNow)();
    if (mine === visit) view.dataset.ready = page;
  } catch (error) {
    if (mine === visit) { view.replaceChildren(); empty(view, `This cannot be shown: ${error.message}`); }
  }
}
addEventListener("hashchange", route);
ask("api/v1/version").then(about => {
  document.getElementById("you").textContent = `ftio ${about.version} · ${about.you.name} (${about.you.role})` + (about.site.cluster ? ` · ${about.site.cluster}` : "");
}).catch(error => status(error.message, true));
listen();
route();
