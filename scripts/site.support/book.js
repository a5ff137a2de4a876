// The buttons of a page, where the mdBook of a distribution has no script of its own: the table of contents and
// the colours. Search is another script.
"use strict";
(function () {
    const html = document.documentElement;
    const remember = (name, value) => {
        try { localStorage.setItem(name, value); } catch (error) { /* a page from a file may not */ }
    };

    const contents = document.getElementById("sidebar-toggle-anchor");
    contents.addEventListener("change", () => {
        html.classList.toggle("sidebar-visible", contents.checked);
        html.classList.toggle("sidebar-hidden", !contents.checked);
        document.getElementById("sidebar").setAttribute("aria-hidden", !contents.checked);
        remember("mdbook-sidebar", contents.checked ? "visible" : "hidden");
    });

    const list = document.getElementById("theme-list");
    const button = document.getElementById("theme-toggle");
    const show = visible => {
        list.style.display = visible ? "block" : "none";
        button.setAttribute("aria-expanded", visible);
    };
    button.addEventListener("click", () => show(list.style.display !== "block"));
    list.addEventListener("click", event => {
        const chosen = event.target.closest("button");
        if (!chosen) return;
        const names = Array.from(list.querySelectorAll("button"), one => one.id.replace("mdbook-theme-", ""));
        html.classList.remove(...names);
        const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
        const name = chosen.id.replace("mdbook-theme-", "");
        const theme = name === "default_theme" ? (dark ? default_dark_theme : default_light_theme) : name;
        html.classList.add(theme);
        remember("mdbook-theme", theme);
        show(false);
    });
    document.addEventListener("keydown", event => { if (event.key === "Escape") show(false); });
})();
