// The page asks the server about its settings and shows the answer. All arithmetic of filters is
// the server's. Keys reach the page as text only, never as HTML.
"use strict";

const cities = "Madrid Barcelona Berlin Roma Wien Lisboa Praha Oslo Paris Kyiv".split(" ");
const first = { keys: "", bits: 8, ask: "", kind: "bloom", tuned: "", planned: 1000 };
const inputs = ["ask", "keys", "planned"];
let state, answer, request, turn = 0;

const $ = id => document.getElementById(id);
const storedKeys = () => [...new Set(state.keys.split("\n").filter(key => key !== ""))];
const nextCity = () => cities.find(city => !storedKeys().includes(city));
const whole = n => n.toLocaleString("en");
const plural = (n, word) => whole(n) + " " + word + (n === 1 ? "" : "s");
const percentOf = rate => Number((100 * rate).toPrecision(2)) + "\u00a0%";

// element makes an element; what it holds is text or elements.
function element(name, className, ...children) {
  const e = document.createElement(name);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

function readAddress() {
  state = { ...first, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
  state.bits = Number(state.bits);
  for (const id of inputs) $(id).value = state[id];
  $("bits-per-key").value = state.bits;
  $("tuned").checked = state.tuned !== "";
  if (state.kind !== "ribbon") state.kind = "bloom";
  document.querySelector(`input[value=${state.kind}]`).checked = true;
  update();
}

function change(settings) {
  state = { ...state, ...settings };
  history.replaceState(null, "", "#" + new URLSearchParams(state));
  update();
}

async function update() {
  $("bits-shown").textContent = state.bits;
  updateCurve();
  request?.abort();
  const mine = request = new AbortController();
  const { bits, ask } = state;
  const main = document.querySelector("main");
  main.ariaBusy = "true"; // what it shows is of the settings before
  try {
    answer = await post("/filters",
      { keys: storedKeys(), bits, tuned: state.tuned !== "", ask }, mine.signal);
    $("problem").textContent = "";
    column = undefined;
    show();
  } catch (error) {
    if (mine.signal.aborted) return; // the newer request ends it
    $("problem").textContent = problem(error);
  }
  main.ariaBusy = "false";
}

async function post(path, question, signal) {
  const response = await fetch(path, {
    method: "POST", signal, headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

const problem = error => error instanceof TypeError
  ? "The program no longer answers: start it again." : "Not possible: " + error.message + ".";

const chosen = () => answer.find(f => f.kind === state.kind);

function show() {
  const f = chosen(), city = nextCity();
  for (const g of answer) {
    const card = document.querySelector(`[data-kind="${g.kind}"]`);
    const [word, className] = answerOf(g);
    card.querySelector(".answer").textContent = word;
    card.querySelector(".answer").className = "answer " + className;
    card.querySelector(".figures").textContent = `Of ${whole(g.asked)} absent keys, ` +
      `${whole(g.false)} are false positives: ${percentOf(g.false / g.asked)}. ${g.size} bytes.`;
  }
  $("add").textContent = "Add " + (city ?? "a key");
  $("add").disabled = !city || storedKeys().length >= Number($("keys").dataset.most);
  $("undo").disabled = storedKeys().length === 0;
  for (const id of ["absent", "falsePositives"]) $(id).disabled = f[id].length === 0;
  $("verdict").replaceChildren(...verdictOn(f));
  showDrawing(f);
}

function ask(key) {
  $("ask").value = key;
  change({ ask: key });
}

function store(keys) {
  $("keys").value = keys.join("\n");
  state.keys = $("keys").value;
  ask(keys.at(-1) ?? "");
}

for (const id of inputs) $(id).addEventListener("input", e => change({ [id]: e.target.value }));
$("bits-per-key").addEventListener("input", e => change({ bits: Number(e.target.value) }));
$("tuned").addEventListener("input", e => change({ tuned: e.target.checked ? "yes" : "" }));
$("kinds").addEventListener("input", e => change({ kind: e.target.value }));
$("add").addEventListener("click", () => store([...storedKeys(), nextCity()]));
$("undo").addEventListener("click", () => store(storedKeys().slice(0, -1)));
for (const examples of ["absent", "falsePositives"]) {
  $(examples).addEventListener("click", () => {
    const all = chosen()[examples];
    ask(all[turn++ % all.length]);
  });
}
window.addEventListener("hashchange", readAddress);
window.addEventListener("resize", () => answer && (show(), showCurve()));
readAddress();
