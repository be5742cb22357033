// What the page says about a lookup.
"use strict";

const listed = names => new Intl.ListFormat("en").format(names);

function answerOf(f) {
  if (state.ask === "") return ["", ""];
  if (!f.contains) return ["absent", "good"];
  return f.stored ? ["may contain", "maybe"] : ["false positive", "maybe"];
}

function verdictOn(f) {
  const [word, className] = answerOf(f);
  if (word === "") {
    return [storedKeys().length > 0 ? "Add a key, or look one up."
      : `The filter is empty: all of its ${8 * f.rows.length} bits are 0.` +
        (f.kind === "bloom" ? "" : " Without keys, Ribbon writes a Bloom filter.")];
  }
  const verdict = element("b", className, word[0].toUpperCase() + word.slice(1) + ".");
  return [verdict, " ", f.table ? onSums(f) : onProbes(f)];
}

const butAbsent = `so the filter says "may contain". But this key was never added: `;

function onProbes(f) {
  const zeros = f.probes.filter(p => !p.owners).length, n = f.probes.length;
  const hash = `The hash of ${state.ask} selects ${plural(n, "bit")}. `;
  if (zeros > 0) {
    return hash + `${zeros} of them ${zeros === 1 ? "is" : "are"} 0. Adding a key sets all of ` +
      "its bits to 1, so this one was never added, and the database need not read.";
  }
  if (!f.stored) {
    return hash + `All are 1, ${butAbsent}other keys set these bits. A bit does not tell who set ` +
      "it. The database reads in vain.";
  }
  const shared = f.probes.filter(p => p.owners[0] !== state.ask);
  const before = listed([...new Set(shared.map(p => p.owners[0]))]);
  return hash + (shared.length === 0 ? "Adding it set them from 0 to 1."
    : shared.length === n ? `All were 1 already, set by ${before}: adding it changed nothing.`
      : `Adding it set ${n - shared.length} of them from 0 to 1; ${shared.length} ` +
        `${shared.length === 1 ? "was" : "were"} 1 already, set by ${before}.`);
}

function onSums(f) {
  const e = f.equation, n = e.sums.length;
  const wrong = [...e.sums].filter((bit, i) => bit !== e.fingerprint[i]).length;
  const hash = `The hash of ${state.ask} selects ${e.slots.length} of ${f.rows.length} slots, ` +
    `and gives ${n} further bits, its fingerprint. `;
  if (wrong > 0) {
    return hash + `In ${plural(wrong, "column")}, the selected bits do not add up to the ` +
      "fingerprint's bit. For each added key they do so in all columns, so this one was never " +
      "added, and the database need not read.";
  }
  if (!f.stored) {
    return hash + `In all ${n} columns, the selected bits add up to the fingerprint's bit, ` +
      `${butAbsent}the sums agree by chance. One column agrees for 1 of 2 absent keys, all ${n} ` +
      `for 1 of 2 × 2 × … = ${whole(2 ** n)}. The database reads in vain.`;
  }
  return hash + "Adding it chose all bits anew: for each added key, the selected bits add up to " +
    "the fingerprint's bit in every column.";
}

// inColumn says what happens in one column.
function inColumn(f, column) {
  const e = f.equation, bits = e.slots.map(slot => f.rows[slot][column]), sum = e.sums[column];
  return `Column ${column}: ${bits.join(" + ") || "no bits"} = ${sum}, ` +
    (sum === "1" ? "an odd" : "an even") + " number of ones. The fingerprint has " +
    e.fingerprint[column] + (sum === e.fingerprint[column] ? ": equal." : ": absent.");
}

function legendOf(f) {
  if (!f.table) {
    return f.probes.length === 0 ? "" : "Circles are the bits of the key, counted from 0, row by " +
      "row. Curves lead to the stored keys that set them." +
      (f.stored ? " A ring marks a bit that was 1 already." : "");
  }
  return state.ask === "" ? "" : "Lines lead to the slots that the key selects; circles are its " +
    "bits in one column. Their sum is 1 if an odd number of them is 1, and else 0 (XOR). No bit " +
    "belongs to one key: each key is an equation in each column, and the bits solve all of them." +
    (f.seed === 0 ? "" : " With seed 0, these equations contradict each other; with seed " +
      `${f.seed}, keys select other slots.`);
}
