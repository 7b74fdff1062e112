// Every text of the page, so that it can be translated in one place.
export const words = {
  why: {
    suspected: "Flagged: the model takes it for positive and wants to know.",
    unsure: "Unsure: its score is close to the line.",
    check: "Random check: it keeps the estimates honest.",
  },
  odds: (p) => (p >= 0.5 ? `probability ${Math.round(100 * p)} %` : `about 1 in ${number(Math.round(1 / Math.max(p, 1e-6)))}`),
  judged: (q) =>
    `Score ${number(q.score)}${q.probability == null ? "" : `, ${words.odds(q.probability)}`}; ` +
    `${q.flag ? "flagged" : "let pass"}.`,
  empty: "No questions wait.",
  skip: "skip",
  unsure: "unsure",
  escalate: "escalate",
  undo: "undo",
  offline: "The server cannot be reached; answers are kept here and sent later.",
  sending: (n) => `${n} to send`,
  unknown: "not known yet",
  unlimited: "no limit",
  events: "events",
  flagged: "flagged",
  asked: "labels asked for",
  labels: "labels that came",
  left: "labels left to ask",
  calibration: "calibration error of the probabilities",
  drift: "drift of the score, in standard errors",
  decides: "decides",
  nobody: "nobody flagged",
  everybody: "everybody flagged",
  sensitivity: "share of positives that were flagged",
  specificity: "share of negatives that were let pass",
  cost: "cost",
  decision: "decision",
  itWas: (label) => `it was ${label}`,
  taken: "Somebody else has answered this one.",
  figures: (s) =>
    `${s.questions.open} wait, ${s.labels} labels, ` +
    (s.budget_left == null ? "no limit" : `${s.budget_left} left to ask`),
};

export function number(value) {
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString();
  return value.toLocaleString(undefined, { maximumSignificantDigits: 5 });
}
