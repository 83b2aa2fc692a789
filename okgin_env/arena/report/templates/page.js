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

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function showLimit() {
  for (const packed of document.querySelectorAll(".limits")) { // a table's bodies: each limit's, then any
    const bodies = await unpack(packed);
    packed.parentElement.querySelector("tbody").outerHTML = bodies.at($("limit").value || -1);
  }
}

function startLimits() {
  if (!$("limit")) return;
  $("limit-control").hidden = false;
  $("limit").addEventListener("change", showLimit);
  if ($("limit").value) showLimit(); // browsers keep a choice when a page is reloaded
}
