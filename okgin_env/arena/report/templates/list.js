// The list of hands: filtered, sorted, opened.

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
