"use strict";
// The page's script: theme, knock limits, and the list and viewer of hands. The state is kept in the address after "#"
// (hand, step, view, player, against, ending, least, sort, theme), so that what is seen can be sent to somebody.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const state = { hand: 0, step: 0, view: "open", player: "", against: "", ending: "", least: "", sort: "number", theme: "" };
  const defaults = { ...state };

  function readAddress() {
    const found = new URLSearchParams(location.hash.slice(1));
    for (const key of Object.keys(state)) {
      const text = found.get(key) ?? defaults[key];
      state[key] = typeof defaults[key] === "number" ? Math.max(0, parseInt(text, 10) || 0) : text;
    }
  }

  function writeAddress() {
    const shown = Object.entries(state).filter(([key, value]) => value !== defaults[key]);
    const text = new URLSearchParams(shown).toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  function element(name, attributes = {}, text = "") {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  // --- theme ---------------------------------------------------------------------------------------

  const isDark = () => state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  function showTheme() {
    if (state.theme === "dark" || state.theme === "light") document.documentElement.dataset.theme = state.theme;
    else delete document.documentElement.dataset.theme;
    $("theme").setAttribute("aria-pressed", isDark());
  }

  function startTheme() {
    $("theme").hidden = false;
    $("theme").addEventListener("click", () => {
      state.theme = isDark() ? "light" : "dark";
      showTheme();
      writeAddress();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  }

  // --- knock limits ----------------------------------------------------------------------------------

  function knockCounts(player, limit) {
    const could = data.turns.map(() => Array(data.deadwood + 1).fill(0));
    const did = data.turns.map(() => Array(data.deadwood + 1).fill(0));
    for (const [l, turn, deadwood, n, k] of data.knocks[player]) {
      if (limit !== "" && l !== Number(limit)) continue;
      for (const row of [deadwood, data.deadwood]) { // the last row is for all deadwood
        could[turn][row] += n;
        did[turn][row] += k;
      }
    }
    return { could, did };
  }

  function showLimit(limit) {
    for (const table of document.querySelectorAll('table.knocks[data-by="turn"]')) {
      const { could, did } = knockCounts(table.dataset.player, limit);
      [...table.tBodies[0].rows].forEach((row, r) => {
        [...row.querySelectorAll("td")].forEach((cell, turn) => {
          if (row.classList.contains("counts")) {
            cell.textContent = could[turn][data.deadwood] || "";
            return;
          }
          const n = could[turn][r];
          const share = n ? Math.round((100 * did[turn][r]) / n) : 0;
          cell.className = n === 0 ? "none" : n < data.few ? "few" : "many";
          cell.style.setProperty("--d", `${share}%`);
          cell.title = n ? `${did[turn][r]} of ${n}` : "";
          cell.textContent = n ? share : "";
        });
      });
    }
  }

  function startLimits() {
    if (!$("limit")) return;
    $("limit-control").hidden = false;
    $("limit").addEventListener("change", () => showLimit($("limit").value));
    if ($("limit").value) showLimit($("limit").value); // browsers keep a choice when a page is reloaded
  }

  // --- list of hands -----------------------------------------------------------------------------------

  let visible = []; // numbers of the hands listed, in order

  function isWanted(hand) {
    if (state.player && !hand.seats.includes(state.player)) return false;
    const others = state.player ? hand.seats.filter((name) => name !== state.player) : hand.seats;
    const self = state.against === state.player && new Set(hand.seats).size === 1;
    if (state.against && !others.includes(state.against) && !self) return false;
    return (!state.ending || hand.ending === state.ending) && hand.points >= (Number(state.least) || 0);
  }

  function byKey(key) {
    const down = key.startsWith("-");
    const name = down ? key.slice(1) : key;
    const value = (number) => name === "number" ? number : name === "seats" ? data.hands[number - 1].seats.join(" · ") : data.hands[number - 1][name] ?? "";
    return (a, b) => {
      const [x, y] = down ? [value(b), value(a)] : [value(a), value(b)];
      return (x < y ? -1 : x > y ? 1 : 0) || a - b;
    };
  }

  function showList() {
    const numbers = data.hands.map((_, k) => k + 1);
    visible = numbers.filter((number) => isWanted(data.hands[number - 1])).sort(byKey(state.sort));
    const body = $("hand-table").tBodies[0];
    const rows = new Map([...body.rows].map((row) => [Number(row.dataset.hand), row]));
    for (const row of rows.values()) row.hidden = true;
    for (const number of visible) {
      rows.get(number).hidden = false;
      body.append(rows.get(number));
    }
    $("found").textContent = `${visible.length} of ${numbers.length} hands`;
    for (const head of $("hand-table").querySelectorAll("th[data-key]")) {
      const key = head.dataset.key;
      if (state.sort === key) head.setAttribute("aria-sort", "ascending");
      else if (state.sort === `-${key}`) head.setAttribute("aria-sort", "descending");
      else head.removeAttribute("aria-sort");
    }
    for (const field of $("filters").elements) if (field.name) field.value = state[field.name];
  }

  function markRow() {
    for (const row of $("hand-table").tBodies[0].rows) {
      const isOpen = Number(row.dataset.hand) === state.hand;
      row.classList.toggle("open", isOpen);
      if (isOpen) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  function startList() {
    $("filters").hidden = false;
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("filters").addEventListener("input", (event) => {
      state[event.target.name] = event.target.value;
      showList();
      writeAddress();
    });
    for (const head of $("hand-table").querySelectorAll("th[data-key]")) {
      const button = element("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const key = head.dataset.key;
        const first = ["points", "turns"].includes(key) ? `-${key}` : key; // the largest first
        state.sort = state.sort === first ? (first === key ? `-${key}` : key) : first;
        showList();
        writeAddress();
      });
    }
    for (const row of $("hand-table").tBodies[0].rows) {
      const button = element("button", { type: "button", "aria-label": `Open hand ${row.dataset.hand}` }, row.dataset.hand);
      row.cells[0].replaceChildren(button);
      row.addEventListener("click", () => openHand(Number(row.dataset.hand), 0, true));
    }
  }

  // --- viewer --------------------------------------------------------------------------------------------

  let opened = null; // what the hand's package holds
  let timer = 0;

  async function unpack(number) {
    const bytes = Uint8Array.from(atob($(`hand-${number}`).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  async function openHand(number, step, focus) {
    stop();
    state.hand = number;
    $("viewer").hidden = false;
    const hand = await unpack(number);
    if (state.hand !== number) return; // another was opened meanwhile
    opened = hand;
    state.step = Math.min(step, opened.steps.length - 1);
    const { seats } = data.hands[number - 1];
    if (state.view !== "open" && !(Number(state.view) < seats.length)) state.view = "open";
    $("hand-title").textContent = `Hand ${number}: ${seats.join(" · ")}`;
    $("slider").max = opened.steps.length - 1;
    showViews(seats);
    showMoves(seats);
    markRow();
    showStep();
    if (focus) {
      $("viewer").focus({ preventScroll: true });
      $("viewer").scrollIntoView();
    }
  }

  function showViews(seats) {
    const choices = [["open", "all cards open"], ...seats.map((name, p) => [String(p), `as seat ${p} saw it (${name})`])];
    const buttons = choices.map(([view, text]) => {
      const chosen = view === state.view;
      const button = element("button", { type: "button", role: "radio", "aria-checked": chosen, tabindex: chosen ? 0 : -1 }, text);
      button.addEventListener("click", () => chooseView(view));
      button.dataset.view = view;
      return button;
    });
    $("views").replaceChildren(...buttons);
  }

  function chooseView(view) {
    state.view = view;
    for (const button of $("views").children) {
      button.setAttribute("aria-checked", button.dataset.view === view);
      button.tabIndex = button.dataset.view === view ? 0 : -1;
    }
    showMoves(data.hands[state.hand - 1].seats);
    showStep();
  }

  // What is said of a step to whoever looks: a drawn card is named only where it is seen.
  function wordsOf([, all, others, knower]) {
    return state.view === "open" || Number(state.view) === knower ? all : others;
  }

  function showMoves(seats) {
    const items = opened.steps.map((step, k) => {
      const button = element("button", { type: "button" });
      if (step[0] >= 0) button.append(element("b", {}, seats[step[0]]), " ");
      button.append(wordsOf(step));
      button.addEventListener("click", () => go(k));
      const item = element("li");
      item.append(button);
      return item;
    });
    $("moves").replaceChildren(...items);
  }

  function showStep() {
    const step = opened.steps[state.step];
    const view = state.view === "open" ? 0 : Number(state.view) + 1;
    $("board").replaceChildren(draw(opened, view, state.step));
    const { seats } = data.hands[state.hand - 1];
    $("words").textContent = step[0] < 0 ? wordsOf(step) : `${seats[step[0]]} (seat ${step[0]}) ${wordsOf(step)}`;
    $("slider").value = state.step;
    $("slider").setAttribute("aria-valuetext", $("words").textContent);
    $("count").textContent = `${state.step} of ${opened.steps.length - 1}`;
    [...$("moves").children].forEach((item, k) => {
      if (k === state.step) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    const item = $("moves").children[state.step];
    if (item.offsetTop < $("moves").scrollTop || item.offsetTop + item.offsetHeight > $("moves").scrollTop + $("moves").clientHeight) {
      $("moves").scrollTop = item.offsetTop - $("moves").clientHeight / 2;
    }
    writeAddress();
  }

  function go(step) {
    state.step = Math.max(0, Math.min(step, opened.steps.length - 1));
    showStep();
  }

  function otherHand(by) {
    const at = visible.indexOf(state.hand);
    const next = visible[at < 0 ? 0 : at + by];
    if (next) openHand(next, 0, true);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    showPlaying();
  }

  function play() {
    if (timer) return stop();
    if (state.step === opened.steps.length - 1) go(0);
    timer = setInterval(() => {
      go(state.step + 1);
      if (state.step === opened.steps.length - 1) stop();
    }, 900);
    showPlaying();
  }

  function showPlaying() {
    const button = document.querySelector('[data-go="play"]');
    button.setAttribute("aria-pressed", timer !== 0);
    button.textContent = timer ? "Pause" : "Play";
    button.setAttribute("aria-label", button.textContent);
  }

  const commands = {
    first: () => go(0),
    back: () => go(state.step - 1),
    play,
    forward: () => go(state.step + 1),
    last: () => go(opened.steps.length - 1),
    "previous-hand": () => otherHand(-1),
    "next-hand": () => otherHand(1),
  };
  const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play", n: "next-hand", p: "previous-hand" };

  function onKey(event) {
    const target = event.target;
    if (!opened || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target !== document.body && !$("viewer").contains(target)) return;
    if (target.matches("input, select")) return; // they have keys of their own
    if (event.key === " " && target.matches("button")) return;
    if (target.getAttribute("role") === "radio" && event.key.startsWith("Arrow")) return moveRadio(event);
    const command = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!command || (target === document.body && ["first", "last", "play"].includes(command))) return;
    event.preventDefault();
    commands[command]();
  }

  function moveRadio(event) {
    const all = [...$("views").children];
    const by = ["ArrowLeft", "ArrowUp"].includes(event.key) ? -1 : 1;
    const next = all[(all.indexOf(event.target) + by + all.length) % all.length];
    event.preventDefault();
    chooseView(next.dataset.view);
    next.focus();
  }

  function startViewer() {
    for (const button of document.querySelectorAll("[data-go]")) button.addEventListener("click", () => {
      if (button.dataset.go !== "play") stop();
      commands[button.dataset.go]();
    });
    $("slider").addEventListener("input", () => go(Number($("slider").value)));
    document.addEventListener("keydown", onKey);
  }

  // --- drawing -------------------------------------------------------------------------------------------

  const svgNames = document.querySelector("svg").namespaceURI;

  function svg(name, attributes, text = "") {
    const made = document.createElementNS(svgNames, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  }

  // One instruction of `page_hands._Book` as an element; colours follow the page's theme by themselves.
  function drawn(part, colour) {
    if (part[0] === "r") {
      const [, x, y, width, height, rx, fill, edge, edgeWidth] = part;
      const made = svg("rect", { x, y, width, height, rx });
      made.style.fill = colour(fill);
      if (colour(edge)) {
        made.style.stroke = colour(edge);
        made.style.strokeWidth = edgeWidth;
      }
      return made;
    }
    if (part[0] === "t") {
      const [, x, y, text, fill, size, bold, anchor] = part;
      const made = svg("text", { x, y, "font-size": size, "font-weight": bold ? 600 : 400, "text-anchor": anchor }, text);
      made.style.fill = colour(fill);
      return made;
    }
    const [, outline, x, y, size, fill] = part;
    const points = data.outlines[outline].map(([u, v]) => `${(x + size * u).toFixed(1)},${(y + size * v).toFixed(1)}`);
    const made = svg("polygon", { points: points.join(" ") });
    made.style.fill = colour(fill);
    return made;
  }

  function draw(hand, view, step) {
    const [, ...numbers] = hand.pictures[view][step];
    const height = Math.max(...hand.pictures.flat().map((picture) => picture[0])); // nothing jumps between steps
    const colour = (k) => hand.colours[k][0] && `light-dark(${hand.colours[k].join(", ")})`;
    const board = svg("svg", { viewBox: `0 0 900 ${height}`, role: "img", "aria-label": "The table" });
    board.append(...numbers.map((k) => drawn(hand.parts[k], colour)));
    return board;
  }

  // --- start ---------------------------------------------------------------------------------------------

  async function showAll() {
    readAddress();
    showTheme();
    if (!data.hands.length) return;
    showList();
    if (state.hand >= 1 && state.hand <= data.hands.length) await openHand(state.hand, state.step, true);
  }

  startTheme();
  startLimits();
  if (data.hands.length) {
    startList();
    startViewer();
  }
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) showAll(); // not for links to sections
  });
  showAll();
})();
