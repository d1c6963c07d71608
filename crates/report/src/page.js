// What moves on a page. Everything is there without this script; it recolours, redraws and sorts what Rust has written.
// Numbers to be read come as text from the page's data and are never formatted here. No network, no markup from strings.
(() => {
  "use strict";
  const root = document.documentElement;
  const by = (id) => document.getElementById(id);
  root.classList.add("js");

  // Light and dark: the reader's system decides until the button is pressed.
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  by("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; });

  // The address carries the state, so that a view can be kept, sent and tested: #observer=5&relay=2&steps=3&theme=dark
  const address = new URLSearchParams(location.hash.slice(1));
  if (["light", "dark"].includes(address.get("theme"))) root.dataset.theme = address.get("theme");

  // What is said of a point of a curve, where it is not written on the curve itself.
  const told = new Map();
  document.querySelectorAll("figure svg").forEach(readable);
  addEventListener("keydown", (event) => { if (event.key === "Escape") by("tip").hidden = true; });

  sortable(by("attacks"), by("filter"), by("matches"));
  const source = by("data");
  if (source) {
    const data = JSON.parse(source.textContent);
    (data.spread ? spread : report)(data, address);
  }

  // A rumour, round by round: #frame=12 is the thirteenth that the page carries.
  function spread(data, address) {
    const dots = [...document.querySelectorAll("#crowd .dots .dot")];
    const now = document.querySelector("#course .now");
    const place = placer(by("course"));
    const last = data.spread.length - 1;
    const pause = 180; // milliseconds
    let at = -1, timer = 0;
    unlabel(by("crowd"));

    function show(frame) {
      at = frame >= 0 && frame <= last ? frame : data.first;
      const it = data.spread[at];
      document.body.dataset.frame = at;
      dots.forEach((dot, i) => {
        const [radius, ink] = data.looks[it.states[i]];
        dot.setAttribute("r", radius);
        dot.setAttribute("fill", ink);
      });
      for (const key of ["round", "informed", "active"]) by(key).textContent = it[key];
      by("frame").value = at;
      by("frame-value").textContent = it.round;
      by("frame").setAttribute("aria-valuetext", `round ${it.round}: ${it.informed} know, ${it.active} are telling`);
      now.setAttribute("d", path([place(it.at, 0), place(it.at, 1)], false));
    }

    function stop() {
      clearInterval(timer);
      timer = 0;
      by("play").textContent = "Play";
    }

    by("play").addEventListener("click", () => {
      if (timer) return stop();
      if (at === last) show(0);
      by("play").textContent = "Pause";
      timer = setInterval(() => (at < last ? show(at + 1) : stop()), pause);
    });
    by("frame").addEventListener("input", () => {
      stop();
      show(Number(by("frame").value));
      keep(at === data.first ? "#" : `#frame=${at}`);
    });
    dots.forEach((dot, i) => tip(dot, () => [data.names[i], data.looks[data.spread[at].states[i]][2]]));
    addEventListener("hashchange", () => show(wanted(new URLSearchParams(location.hash.slice(1)))));
    const wanted = (from) => (from.has("frame") ? parseInt(from.get("frame"), 10) : data.first);
    show(wanted(address));
  }

  // Some readers forbid even this for files; the page works without it.
  function keep(hash) {
    try { history.replaceState(null, "", hash); } catch { /* nothing to do */ }
  }

  // A title inside a picture pops up over our own notes; as a label it is read out all the same.
  function unlabel(svg) {
    const title = svg.querySelector("title");
    if (!title) return;
    svg.removeAttribute("aria-labelledby");
    svg.setAttribute("aria-label", title.textContent);
    svg.setAttribute("aria-describedby", svg.querySelector("desc").id);
    title.remove();
  }

  function report(data, address) {
    const nodes = [...document.querySelectorAll("#graph .node")];
    const ring = document.querySelector("#graph .observer");
    const current = document.querySelector("#trade .current");
    const dots = [...document.querySelectorAll("#trade .point")];
    const rowOf = new Map(data.observers.map((peer, row) => [peer, row]));
    const bytes = memo((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
    const chosen = { observer: data.observer, relay: data.chosen[0], steps: data.chosen[1] };
    const state = { ...chosen };
    const limit = { observer: data.peers, relay: data.relays.length, steps: data.steps.length };
    const noPath = 65535;

    [by("graph"), by("trade")].forEach(unlabel);

    const cell = () => data.cells[state.relay * data.steps.length + state.steps];
    const loss = (peer) => data.losses[bytes(cell().rows)[rowOf.get(state.observer) * data.peers + peer]];
    const distance = (peer) => {
      const at = 2 * (rowOf.get(state.observer) * data.peers + peer);
      const all = bytes(data.distance_rows);
      return all[at] * 256 + all[at + 1];
    };
    const hops = (peer) => (distance(peer) === noPath ? "no path" : distance(peer) === 1 ? "1 hop" : `${distance(peer)} hops`);

    function choose(change) {
      const next = { ...state, ...change };
      for (const key of Object.keys(next)) if (!(next[key] >= 0 && next[key] < limit[key])) next[key] = chosen[key];
      if (!rowOf.has(next.observer)) {
        by("status").textContent = `This page carries the losses to ${data.observers.length} of ${data.peers} observers; losses.csv has all.`;
        by("observer").value = state.observer;
        return;
      }
      by("status").textContent = "";
      Object.assign(state, next);
      draw();
      remember();
    }

    function remember() {
      const differs = Object.keys(state).some((key) => state[key] !== chosen[key]);
      const hash = differs ? "#" + Object.keys(state).map((key) => `${key}=${state[key]}`).join("&") : "#";
      keep(hash);
    }

    function draw() {
      Object.assign(document.body.dataset, state);
      drawWords();
      drawGraph();
      drawDistances();
      drawNumbers();
    }

    // The headline and the guarantees are of the noise and the steps that are chosen.
    function drawWords() {
      if (cell().headline) by("headline").textContent = cell().headline;
      cell().guaranteed.forEach((texts, row) => texts.forEach((text, column) => {
        const place = by("guaranteed").tBodies[0].rows[row].cells[column];
        (place.querySelector("strong") ?? place).textContent = text;
      }));
    }

    function drawGraph() {
      nodes.forEach((node, peer) => {
        const own = peer === state.observer;
        node.setAttribute("fill", own ? "var(--paper)" : loss(peer)[2]);
        node.setAttribute("tabindex", own ? "0" : "-1");
        node.setAttribute("aria-pressed", own);
        const words = own ? "the observer" : `${hops(peer)}, loss ${loss(peer)[1]}`;
        node.setAttribute("aria-label", `${data.names[peer]}, ${words}`);
      });
      for (const key of ["cx", "cy"]) ring.setAttribute(key, nodes[state.observer].getAttribute(key));
      const name = data.names[state.observer];
      document.querySelectorAll(".observer-name").forEach((e) => { e.textContent = name; });
      by("graph").setAttribute("aria-label", `What ${name} could learn of each other peer`);
      by("distance").setAttribute("aria-label", `Loss by distance from ${name}`);
    }

    function drawDistances() {
      const rings = new Map();
      for (let peer = 0; peer < data.peers; peer++) {
        const d = distance(peer);
        if (peer === state.observer || d === noPath) continue;
        if (!rings.has(d)) rings.set(d, []);
        rings.get(d).push(loss(peer));
      }
      const order = [...rings.keys()].sort((a, b) => a - b);
      const svg = by("distance");
      const place = placer(svg);
      const line = (value) => order.map((d) => place(d, value(rings.get(d))));
      const mean = (list) => list.reduce((a, b) => a + b[0], 0) / list.length;
      const end = (list, wanted) => list.find((one) => one[0] === wanted(...list.map((each) => each[0])));
      const low = line((r) => end(r, Math.min)[0]), high = line((r) => end(r, Math.max)[0]);
      svg.querySelector(".curve-0 .band").setAttribute("d", path([...high, ...low.reverse()], true));
      replot(svg.querySelector(".curve-0"), line(mean));
      told.set(svg.querySelector(".curve-0"), order.map((d) => {
        const list = rings.get(d);
        const range = `${end(list, Math.min)[1]} to ${end(list, Math.max)[1]}`;
        return [`${d === 1 ? "1 hop" : `${d} hops`}: ${list.length} peers`, `loss ${range}`];
      }));
    }

    function drawNumbers() {
      for (const key of ["mean", "worst", "error"]) by(key).textContent = cell()[key];
      by("relay-value").textContent = data.relays[state.relay];
      by("steps-value").textContent = data.steps[state.steps];
      by("relay").setAttribute("aria-valuetext", data.relays[state.relay]);
      by("steps").setAttribute("aria-valuetext", `${data.steps[state.steps]} steps`);
      for (const key of ["observer", "relay", "steps"]) by(key).value = state[key];
      const dot = dots[state.relay * data.steps.length + state.steps];
      for (const key of ["cx", "cy"]) current.setAttribute(key, dot.getAttribute(key));
    }

    for (let peer = 0; peer < data.peers; peer++) by("observer").add(new Option(data.names[peer], peer));
    for (const key of ["observer", "relay", "steps"]) {
      by(key).addEventListener(key === "observer" ? "change" : "input", () => choose({ [key]: Number(by(key).value) }));
    }
    by("reset").addEventListener("click", () => choose(chosen));
    dots.forEach((dot, i) => dot.addEventListener("click", () => {
      choose({ relay: Math.floor(i / data.steps.length), steps: i % data.steps.length });
    }));
    dots.forEach((dot, i) => tip(dot, () => {
      const [relay, steps, it] = [Math.floor(i / data.steps.length), i % data.steps.length, data.cells[i]];
      return [`Relay noise ${data.relays[relay]}, ${data.steps[steps]} steps`, `mean loss ${it.mean}`, `error ${it.error}`];
    }));
    nodes.forEach((node, peer) => {
      node.setAttribute("role", "button");
      node.addEventListener("click", () => choose({ observer: peer }));
      node.addEventListener("keydown", (event) => press(event, nodes, peer, () => choose({ observer: peer })));
      tip(node, () => peer === state.observer
        ? [data.names[peer], "the observer"]
        : [data.names[peer], hops(peer), `loss ${loss(peer)[1]}`]);
    });
    const follow = (from) => {
      const wish = Object.keys(state).filter((key) => from.has(key)).map((key) => [key, parseInt(from.get(key), 10)]);
      choose(Object.fromEntries(wish));
    };
    addEventListener("hashchange", () => follow(new URLSearchParams(location.hash.slice(1))));
    follow(address);
  }

  // Enter and space choose a node; arrows go to the nearest node on that side.
  function press(event, nodes, from, act) {
    const sides = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.key === "Enter" || event.key === " ") act();
    else if (event.key in sides) nearest(nodes, from, sides[event.key])?.focus();
    else return;
    event.preventDefault();
  }

  function nearest(nodes, from, [right, down]) {
    const at = (node) => [node.cx.baseVal.value, node.cy.baseVal.value];
    const [x, y] = at(nodes[from]);
    let best = null, least = Infinity;
    nodes.forEach((node, i) => {
      const [dx, dy] = [at(node)[0] - x, at(node)[1] - y];
      const ahead = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
      const cost = ahead + 2 * aside;
      if (i !== from && ahead > 0 && cost < least) [best, least] = [node, cost];
    });
    return best;
  }

  // The map from data to picture, as the frame has noted it (frame.rs): what lies outside is moved to the edge.
  function placer(svg) {
    const numbers = (name) => svg.dataset[name].split(" ").map(Number);
    const [left, top, width, height] = numbers("plot");
    const along = ([low, high, log]) => (v) => {
      const part = log ? (v <= 0 ? 0 : Math.log(v / low) / Math.log(high / low)) : (v - low) / (high - low);
      return Number.isNaN(part) ? 1 : Math.min(1, Math.max(0, part));
    };
    const x = along(numbers("x")), y = along(numbers("y"));
    return (a, b) => [left + x(a) * width, top + (1 - y(b)) * height];
  }

  function path(points, closed) {
    const steps = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`);
    return steps.join("") + (closed && points.length ? "Z" : "");
  }

  function replot(curve, points) {
    curve.querySelector(".line").setAttribute("d", path(points, false));
    const old = [...curve.querySelectorAll(".point")];
    const pattern = old[0];
    if (!pattern) return;
    points.forEach(([x, y], i) => {
      const dot = old[i] ?? curve.appendChild(pattern.cloneNode());
      dot.setAttribute("cx", x.toFixed(2));
      dot.setAttribute("cy", y.toFixed(2));
    });
    // One is kept as a pattern even where there is nothing to show.
    old.slice(Math.max(1, points.length)).forEach((dot) => dot.remove());
  }

  // A note at a place of the window; the first line is the name.
  function note([name, ...rest], x, y) {
    const box = by("tip"), strong = document.createElement("strong");
    strong.textContent = name;
    box.replaceChildren(strong, rest.join(" · "));
    box.hidden = false;
    const [w, h] = [box.offsetWidth, box.offsetHeight];
    box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - w - 6))}px`;
    box.style.top = `${y + 18 + h > innerHeight ? y - h - 12 : y + 18}px`;
  }

  // A note beside the pointer or the focused element.
  function tip(element, lines) {
    element.addEventListener("pointermove", (event) => note(lines(), event.clientX, event.clientY));
    element.addEventListener("focus", () => {
      const at = element.getBoundingClientRect();
      note(lines(), at.right, at.bottom);
    });
    for (const kind of ["pointerleave", "blur"]) element.addEventListener(kind, () => { by("tip").hidden = true; });
  }

  // Curves tell their points: the one nearest to the pointer, or one after the other by arrow keys, as a slider does.
  function readable(svg) {
    const curves = [...svg.querySelectorAll(".curve[data-tips]")];
    if (!curves.length) return;
    unlabel(svg);
    svg.setAttribute("role", "group");
    const ring = document.createElementNS(svg.namespaceURI, "circle");
    for (const [name, value] of Object.entries({ class: "pointed", r: 5.5, "aria-hidden": true, visibility: "hidden" })) ring.setAttribute(name, value);
    svg.append(ring);
    const axes = [svg.dataset.across, svg.dataset.up].map((title) => (title ? `${title}: ` : ""));
    const lines = (curve, i) => told.get(curve)?.[i]
      ?? curve.dataset.tips.split(";")[i].split("|").map((text, k) => (k < 2 ? axes[k] + text : `(${text})`));

    function tell(curve, i) {
      const [x, y] = vertices(curve)[i];
      const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
      for (const [name, value] of Object.entries({ cx: x, cy: y, visibility: "visible" })) ring.setAttribute(name, value);
      note([curve.dataset.name, ...lines(curve, i)], at.x, at.y);
    }

    function hide() {
      ring.setAttribute("visibility", "hidden");
      by("tip").hidden = true;
    }

    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      let best = null, least = 24; // units of the picture
      for (const curve of curves) {
        vertices(curve).forEach(([x, y], i) => {
          const far = Math.hypot(x - at.x, y - at.y);
          if (far < least) [best, least] = [[curve, i], far];
        });
      }
      if (best) tell(...best); else hide();
    });
    svg.addEventListener("pointerleave", hide);

    for (const curve of curves) {
      const names = { tabindex: 0, role: "slider", "aria-label": curve.dataset.name, "aria-valuemin": 0 };
      for (const [name, value] of Object.entries(names)) curve.setAttribute(name, value);
      const go = (i, said) => {
        const last = vertices(curve).length - 1, at = Math.max(0, Math.min(i, last));
        curve.setAttribute("aria-valuemax", last);
        curve.setAttribute("aria-valuenow", at);
        curve.setAttribute("aria-valuetext", lines(curve, at).join(", "));
        if (said) tell(curve, at);
      };
      go(0, false);
      const now = () => Number(curve.getAttribute("aria-valuenow"));
      curve.addEventListener("focus", () => go(now(), true));
      curve.addEventListener("blur", hide);
      curve.addEventListener("keydown", (event) => {
        const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
        if (!(event.key in moves)) return;
        event.preventDefault();
        go(now() + moves[event.key], true);
      });
    }
  }

  // Where the points of a curve lie: the corners of its line, or its marks where it has no line.
  function vertices(curve) {
    const line = curve.querySelector(".line");
    if (!line) return [...curve.querySelectorAll(".point")].map((dot) => [dot.cx.baseVal.value, dot.cy.baseVal.value]);
    let at = [0, 0];
    return [...line.getAttribute("d").matchAll(/([MLHV])(-?[\d.]+)(?: (-?[\d.]+))?/g)].map(([, kind, a, b]) => {
      at = kind === "H" ? [Number(a), at[1]] : kind === "V" ? [at[0], Number(a)] : [Number(a), Number(b)];
      return at;
    });
  }

  // Column heads become buttons that sort; the field keeps the rows that contain its text.
  function sortable(table, field, count) {
    if (!table) return;
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (row) => Number(row.cells[column].dataset.key);
        body.append(...[...body.rows].sort((a, b) => (up ? 1 : -1) * (key(a) - key(b))));
      });
    });
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = wanted ? `${shown} of ${body.rows.length}` : "";
    });
  }

  function memo(compute) {
    const known = new Map();
    return (key) => {
      if (!known.has(key)) known.set(key, compute(key));
      return known.get(key);
    };
  }
})();
