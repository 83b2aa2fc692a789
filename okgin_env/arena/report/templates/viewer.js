// The viewer: one hand, step by step, as somebody saw it.

let opened = null; // what the hand's package holds
let timer = 0;

async function openHand(number, step, focus) {
  stop();
  state.hand = number;
  $("viewer").hidden = false;
  const hand = await unpack($(`hand-${number}`)).catch(() => null);
  if (!hand) {
    $("words").textContent = "This browser cannot unpack hands; one of 2024 or later can. hands.okgin holds them as text.";
    return;
  }
  if (state.hand !== number) return; // another was opened meanwhile
  opened = hand;
  state.step = Math.min(step, opened.steps.length - 1);
  const { seats } = data.hands[number - 1];
  if (!seats.some((_, p) => state.view === String(p))) state.view = "open";
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
  const choices = [["open", "all cards"], ...seats.map((name, p) => [String(p), `what seat ${p} saw: ${name}`])];
  const labels = choices.map(([view, text]) => {
    const label = element("label", {}, text);
    const input = element("input", { type: "radio", name: "view", value: view });
    input.checked = view === state.view;
    label.prepend(input);
    return label;
  });
  $("views").replaceChildren(...labels);
}

function chooseView(view) {
  state.view = view;
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
  const drawn = opened.pictures[view][state.step].map((k) => {
    const [look, x, y] = opened.places[k];
    return `<g transform="translate(${x} ${y})">${opened.looks[look]}</g>`; // all text in it is escaped
  });
  $("board").innerHTML = `<svg viewBox="0 0 900 ${opened.height}" role="img" aria-label="The table">${drawn.join("")}</svg>`;
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
  if (target.matches('input:not([type="radio"]), select')) return; // they have keys of their own
  if (target.type === "radio" && (event.key === " " || event.key.startsWith("Arrow"))) return;
  if (event.key === " " && target.matches("button")) return;
  const command = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!command || (target === document.body && ["first", "last", "play"].includes(command))) return;
  event.preventDefault();
  commands[command]();
}

function startViewer() {
  for (const button of document.querySelectorAll("[data-go]")) button.addEventListener("click", () => {
    if (button.dataset.go !== "play") stop();
    commands[button.dataset.go]();
  });
  $("views").addEventListener("change", (event) => chooseView(event.target.value));
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  document.addEventListener("keydown", onKey);
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
