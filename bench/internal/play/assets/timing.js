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
    $("times").replaceChildren(...works.map(w => row(w.name, w.ns.toFixed(1), w.base.toFixed(1),
      `${w.ratio.toFixed(2)} (${w.low.toFixed(2)} to ${w.high.toFixed(2)})`)));
    $("timed").textContent = `Timed: ${describe(chosen)}.`;
  } catch (error) {
    $("timed").textContent = problem(error);
  }
  timing = false;
}
