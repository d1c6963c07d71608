// Sorts, filters and keeps the list of runs fresh. Everything is there without this script. All markup comes from the program that serves this page: what it answers is
// taken over node by node, and none is made from strings here. Nobody else is asked.
(() => {
  "use strict";
  const root = document.documentElement;
  const by = (id) => document.getElementById(id);
  const often = 1500; // milliseconds
  const fewest = 2, most = 6;
  root.classList.add("js");

  // Light and dark: the reader's system decides until the button is pressed.
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  by("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; });

  const listed = document.body.dataset.page === "list";
  const sorted = { column: -1, down: false };
  if (listed) list();
  setTimeout(look, often);

  async function look() {
    if (!document.hidden) {
      try {
        const answer = await fetch(listed ? "rows" : location.href, { cache: "no-store", signal: AbortSignal.timeout(10 * often) });
        if (!answer.ok) throw new Error(answer.statusText);
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (listed) merge(fresh); else replace(fresh);
        by("gone").hidden = true;
        root.classList.remove("stale");
        document.body.dataset.looked = String(Number(document.body.dataset.looked ?? 0) + 1);
      } catch {
        say(by("gone"), "No answer: the program that serves this page was ended. `sottovoce serve` starts it again.");
        by("gone").hidden = false;
        root.classList.add("stale");
      }
    }
    setTimeout(look, often);
  }

  // Only what has changed is written, so that it is read out once.
  function say(place, text) {
    if (place.textContent !== text) place.textContent = text;
  }

  // The parts of a comparison that have changed, each in its place; the others stay, and so do reports that somebody reads. What was open stays open.
  function replace(fresh) {
    const content = by("content"), other = fresh.getElementById("content");
    if (!other || other.dataset.stamp === content.dataset.stamp) return;
    content.dataset.stamp = other.dataset.stamp;
    const known = new Map([...content.children].map((part) => [part.id, part]));
    let last = null;
    for (const part of other.children) {
      let mine = known.get(part.id);
      known.delete(part.id);
      if (mine?.dataset.stamp !== part.dataset.stamp || !mine) {
        const next = document.importNode(part, true);
        const open = [...(mine?.querySelectorAll("details") ?? [])].map((one) => one.open);
        next.querySelectorAll("details").forEach((one, place) => { one.open = open[place] ?? false; });
        if (mine) mine.replaceWith(next); else if (last) last.after(next); else content.prepend(next);
        mine = next;
      }
      last = mine;
    }
    known.forEach((part) => part.remove());
  }

  // Rows that are new, that have changed, that have gone. Choices stay.
  function merge(fresh) {
    const mine = by("listed"), other = fresh.getElementById("listed");
    if (!other || other.dataset.stamp === mine.dataset.stamp) return;
    const body = mine.querySelector("tbody");
    const known = new Map([...body.rows].map((row) => [row.dataset.run, row]));
    for (const row of other.querySelectorAll("tbody tr")) {
      const before = known.get(row.dataset.run);
      known.delete(row.dataset.run);
      if (before?.dataset.stamp === row.dataset.stamp) continue;
      const next = document.importNode(row, true);
      if (!before) body.append(next); else change(before, next);
    }
    known.forEach((row) => row.remove());
    mine.dataset.stamp = other.dataset.stamp;
    mine.hidden = other.hidden;
    by("remarks").replaceWith(document.importNode(fresh.getElementById("remarks"), true));
    say(by("headline"), other.dataset.headline);
    sort();
    filter();
    count();
  }

  // Everything of a row but its box, which may have the focus.
  function change(row, next) {
    row.dataset.stamp = next.dataset.stamp;
    [...next.cells].slice(1).forEach((cell, place) => {
      const old = row.cells[place + 1];
      if (!old.isEqualNode(cell)) old.replaceWith(cell);
    });
  }

  function boxes() {
    return [...document.querySelectorAll("#runs tbody tr:not([hidden]) input")];
  }

  function chosen() {
    return [...document.querySelectorAll("#runs tbody input:checked")];
  }

  function count() {
    const many = chosen().length, right = many >= fewest && many <= most;
    by("compare").setAttribute("aria-disabled", String(!right));
    say(by("chosen"), many === 0 ? "Choose two to six runs." : right ? `${many} chosen.` : many < fewest ? "1 chosen: one more, at least." : `${many} chosen: six at the most.`);
  }

  function filter() {
    const words = by("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll("#runs tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) && !row.querySelector("input").checked;
    }
  }

  // By numbers where cells have one, else by their text; what has neither comes last.
  function sort() {
    if (sorted.column < 0) return;
    const body = document.querySelector("#runs tbody");
    const key = (row) => {
      const cell = row.cells[sorted.column];
      if (cell.dataset.key !== undefined) return Number(cell.dataset.key);
      const text = cell.textContent.trim().toLowerCase();
      return text === "–" || text === "nothing promised" ? null : text;
    };
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "number" && typeof y === "number" ? (x > y) - (x < y) : String(x).localeCompare(String(y), undefined, { numeric: true });
      return sorted.down ? -order : order;
    };
    const rows = [...body.rows], ordered = [...rows].sort(compare);
    const focus = document.activeElement;
    if (ordered.some((row, place) => row !== rows[place])) body.append(...ordered);
    if (focus !== document.activeElement) focus.focus();
  }

  function order(column, down) {
    Object.assign(sorted, { column, down });
    document.querySelectorAll("#runs th").forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", down ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    });
    by("order").value = (down ? "-" : "") + column;
    sort();
  }

  function list() {
    document.querySelectorAll("#runs th").forEach((head, column) => {
      if (head.dataset.sorts === undefined) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => order(column, sorted.column === column && !sorted.down));
    });
    by("order").addEventListener("change", () => {
      const asked = by("order").value;
      order(Math.abs(Number(asked)), asked.startsWith("-"));
    });
    by("filter").addEventListener("input", filter);
    by("runs").addEventListener("change", count);
    by("choice").addEventListener("submit", (event) => {
      if (by("compare").getAttribute("aria-disabled") === "true") event.preventDefault();
    });
    document.addEventListener("keydown", keys);
    count();
  }

  // From run to run by arrows, and nothing is lost to who uses none.
  function keys(event) {
    if (event.key === "/" && document.activeElement !== by("filter")) {
      event.preventDefault();
      by("filter").focus();
      return;
    }
    const all = boxes(), place = all.indexOf(document.activeElement);
    if (document.activeElement === by("filter")) {
      if (event.key === "Escape") { by("filter").value = ""; filter(); }
      if (event.key === "Enter") event.preventDefault();
      if (event.key === "ArrowDown" && all.length > 0) { event.preventDefault(); all[0].focus(); }
      return;
    }
    if (place < 0) return;
    const moves = { ArrowDown: 1, ArrowUp: -1, Home: -place, End: all.length - 1 - place };
    if (event.key in moves) {
      event.preventDefault();
      all[Math.min(Math.max(place + moves[event.key], 0), all.length - 1)].focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      by("choice").requestSubmit();
    }
  }
})();
