// Asks the node once a second how it stands, and puts the words it answers in their places. Everything is there without this script. Numbers come as text, and
// are never formatted here. Nobody else is asked; no markup is made from strings.
(() => {
  "use strict";
  const root = document.documentElement;
  const by = (id) => document.getElementById(id);
  const often = 1000; // milliseconds
  root.classList.add("js");

  // Light and dark: the reader's system decides until the button is pressed.
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  by("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; });

  const nodes = [...document.querySelectorAll("#graph .node")];
  const links = [...document.querySelectorAll("#graph .link")];
  const hint = by("told").textContent;
  let pointed = -1;
  walkable();
  look();

  async function look() {
    try {
      const answer = await fetch("status.json", { cache: "no-store", signal: AbortSignal.timeout(5 * often) });
      if (!answer.ok) throw new Error(answer.statusText);
      show((await answer.json()).shown);
    } catch {
      gone();
    }
    setTimeout(look, often);
  }

  function show(shown) {
    // Another run, or another program: the page is made of other things.
    if (shown.shape !== document.body.dataset.shape) return location.reload();
    for (const [place, text] of Object.entries(shown.texts)) if (by(place)) say(by(place), text);
    for (const [place, full] of Object.entries(shown.bars)) by(place).value = full;
    for (const [place, mood] of Object.entries(shown.moods)) by(place).className = mood;
    nodes.forEach((node, peer) => {
      if (!node.classList.contains("own")) node.setAttribute("fill", shown.colours[peer]);
      node.setAttribute("aria-label", shown.told[peer]);
    });
    for (const link of links) {
      const ends = link.dataset.link.split("-").map(Number);
      link.classList.toggle("open", ends.some((peer) => shown.connected.includes(peer)));
    }
    if (pointed >= 0) say(by("told"), shown.told[pointed]);
    by("gone").hidden = true;
    root.classList.remove("stale");
    document.body.dataset.fresh = shown.texts.written;
  }

  // Only what has changed is written, so that it is read out once.
  function say(place, text) {
    if (place.textContent !== text) place.textContent = text;
  }

  function gone() {
    say(by("gone"), `No answer since ${by("written").textContent}: the run is over, or the node was stopped. What was spent stays spent; \`sottovoce node status\` says how much.`);
    by("gone").hidden = false;
    root.classList.add("stale");
  }

  // Dots can be pointed at, and walked through by keys.
  function walkable() {
    const tell = (peer) => {
      pointed = peer;
      say(by("told"), peer < 0 ? hint : nodes[peer].getAttribute("aria-label"));
    };
    const ring = document.querySelector("#graph .observer");
    nodes.forEach((node, peer) => {
      if (ring && node.cx.baseVal.value === ring.cx.baseVal.value && node.cy.baseVal.value === ring.cy.baseVal.value) node.classList.add("own");
      node.setAttribute("role", "img");
      node.setAttribute("tabindex", peer === 0 ? "0" : "-1");
      node.addEventListener("pointerenter", () => tell(peer));
      node.addEventListener("pointerleave", () => tell(-1));
      node.addEventListener("focus", () => tell(peer));
      node.addEventListener("blur", () => tell(-1));
      node.addEventListener("keydown", (event) => {
        const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -peer, End: nodes.length - 1 - peer };
        if (!(event.key in moves)) return;
        event.preventDefault();
        const next = (peer + moves[event.key] + nodes.length) % nodes.length;
        nodes.forEach((other, i) => other.setAttribute("tabindex", i === next ? "0" : "-1"));
        nodes[next].focus();
      });
    });
  }
})();
