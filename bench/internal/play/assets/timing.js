// The button that times filters.
"use strict";

let timing = false;

async function timeFilters() {
  if (timing) return;
  timing = true;
  const chosen = choice();
  $("timed").textContent = `Timing ${describe(chosen)}.`;
  try {
    const speeds = await post("/timing", chosen), rows = [];
    for (let i = 0; i < speeds.length; i += 3) { // goleveldb's, its second turn, and the filter's
      const s = speeds[i + 2], [ratio, low, high] =
        [s.ratio, s.ratio_low, s.ratio_high].map(times => times.toFixed(2));
      rows.push(row(s.work, s.ns_per_key.toFixed(1), speeds[i].ns_per_key.toFixed(1),
        `${ratio} (${low} to ${high})`));
    }
    $("times").replaceChildren(...rows);
    $("timed").textContent = `Timed: ${describe(chosen)}.`;
  } catch (error) {
    $("timed").textContent = problem(error);
  }
  timing = false;
}
