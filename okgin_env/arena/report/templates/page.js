// What the page's scripts share: its state, which is kept in the address after "#" (hand, step, view, player, against,
// ending, least, sort, theme), so that what is seen can be sent to somebody; themes; knock limits. The scripts are put
// together in one function, see page.py.

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

// A count as `wording.compact` writes it.
function compact(count) {
  const [unit, sign] = count >= 1e6 ? [1e6, "M"] : count >= 1e3 ? [1e3, "k"] : [1, ""];
  return (count / unit).toFixed(sign && count < 10 * unit ? 1 : 0) + sign;
}

function showLimit(limit) {
  for (const table of document.querySelectorAll('table.knocks[data-by="turn"]')) {
    const { could, did } = knockCounts(table.dataset.player, limit);
    [...table.tBodies[0].rows].forEach((row, r) => {
      [...row.querySelectorAll("td")].forEach((cell, turn) => {
        if (row.classList.contains("counts")) {
          const n = could[turn][data.deadwood];
          cell.textContent = n ? compact(n) : "";
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
