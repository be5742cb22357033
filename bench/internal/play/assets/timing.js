// The button that times filters.
"use strict";

let timing = false;

async function timeFilters() {
  if (timing) return;
  timing = true;
  const chosen = choice();
  $("timed").textContent = `Timing ${describe(chosen)}.`;
  try {
    const works = await post("/timing", chosen);
    const ratio = (w, i) => w.ratios.at(i).toFixed(2);
    $("times").replaceChildren(...works.map(w => row(w.name, w.ns.toFixed(1), w.base.toFixed(1),
      `${ratio(w, w.ratios.length >> 1)} (${ratio(w, 3)} to ${ratio(w, -4)})`)));
    $("timed").textContent = `Timed: ${describe(chosen)}.`;
  } catch (error) {
    $("timed").textContent = problem(error);
  }
  timing = false;
}
