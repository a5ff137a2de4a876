// As the system has it, until somebody decides otherwise; on paper always light.
const root = document.documentElement.classList, system = matchMedia("(prefers-color-scheme: dark)"), button = document.getElementById("theme");
const theme = dark => { root.toggle("dark", dark); button.textContent = dark ? "light" : "dark"; redraw(); };
let dark = system.matches;
theme(dark);
system.addEventListener("change", e => theme(dark = e.matches));
button.onclick = () => theme(dark = !dark);
addEventListener("beforeprint", () => { document.body.dataset.print = 1; theme(false); });
addEventListener("afterprint", () => { delete document.body.dataset.print; theme(dark); });
