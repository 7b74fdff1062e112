// Every text of the pages, so that they can be translated in one place: a copy of this file with
// other texts, `lang` and `dir`.
import { money, number, percent } from "./format.js";

export const words = {
  lang: "en",
  dir: "ltr",
  pages: { review: "Review", desk: "Desk", model: "Model" },
  paths: { review: "/", desk: "/page/desk.html", model: "/page/model.html" },
  nav: "Pages",
  jump: "Skip to the content",
  stream: "Stream",
  search: "Event key",
  find: "Find",
  login: "Log in",
  loginHint: "A token with the role “label” is needed to answer, “admin” to change settings.",
  token: "Token",
  close: "Close",
  offline: "The server cannot be reached; answers are kept here and sent later.",
  noStream: "There is no stream yet.",
  space: "space",
  yes: "yes",
  no: "no",
  missing: "–",

  // Texts of the HTML files.
  texts: {
    reasons: "What moved the score",
    facts: "What is known",
    note: "Note",
    answer: "Answer",
    tools: "More",
    session: "This session",
    answered: "Answered",
    aside: "Set aside",
    window: "Period",
    labels: "Labels",
    saved: "Cost on labelled events",
    costSoFar: "Cost so far",
    perPeriod: "Cost by period",
    models: "Champion and challengers",
    estimate: "On all events, estimated from labels asked for",
    calibration: "Calibration",
    drift: "Drift of the score",
    inputs: "Drift of the inputs",
    model: "model",
    missed: "missed",
    alarms: "alarms",
    cost: "cost",
    decided: "champion, same events",
    strongest: "Strongest features",
    settings: "Prices and budget",
    snapshots: "Snapshots",
    log: "What was changed",
    challenger: "Add a challenger",
  },

  // The queue.
  actions: {
    skip: "Skip", unsure: "Unsure", escalate: "Escalate", undo: "Undo", note: "Note", previous: "Previous",
    same: "Same events", search: "Find", help: "Keys",
  },
  keys: {
    title: "Keys",
    hint: "Choose a field and press the key that you want. Keys are kept in this browser.",
    reset: "Back to the usual keys",
    taken: (key, name) => `“${key}” is the key for ${name}.`,
  },
  whyShort: { suspected: "Flagged", unsure: "Unsure", check: "Random check" },
  why: (q, config) => {
    const stake = words.stake(q, config);
    if (q.why === "suspected") return `The model takes it for ${config.positive ?? 1} and needs to know. ${stake}`;
    if (q.why === "unsure") return `The answer teaches most here. ${stake}`;
    return `Asked by chance, about 1 in ${number(Math.max(1, Math.round(1 / q.ask_probability)))}: it keeps the estimates honest.`;
  },
  stake: (q, config) => (q.stake ? `About ${money(q.stake, config.currency)} at stake; the most expensive come first.` : ""),
  odds: (p) => (p >= 0.1 ? `Probability ${percent(p)}` : `Probability ${percent(p)}, about 1 in ${number(Math.round(1 / Math.max(p, 1e-6)))}`),
  judged: (q, config) => {
    const decision = q.flag ? "flagged" : "let pass";
    if (q.probability == null) return `Score ${number(q.score)}; ${decision}.`;
    const [miss, alarm] = [q.probability * q.costs.miss, (1 - q.probability) * q.costs.alarm];
    return `${words.odds(q.probability)}; ${decision}. Expected cost: ${money(miss, config.currency)} to let it pass, ` +
      `${money(alarm, config.currency)} to flag it. Score ${number(q.score)}.`;
  },
  announce: (q, config) => `${q.key}. ${words.whyShort[q.why] ?? q.why}. ${words.judged(q, config)}`,
  empty: "No questions wait. The next one appears here by itself.",
  loading: "The next question is on its way …",
  opening: "Loading …",
  sending: (n) => `${n} to send`,
  same: (n) => (n ? `The next label is also given to ${number(n)} waiting events with exactly these features.` : "No other waiting event has exactly these features."),
  andMore: (text, n) => `${text} and ${number(n)} more`,
  notTaken: "not taken",
  counts: (s) =>
    `${number(s.questions.open)} open, ${number(s.questions.aside)} set aside, ${number(s.labels)} labels, ` +
    (s.budget_left == null ? "no limit on asking" : `${number(Math.floor(s.budget_left))} left to ask`),

  // One event.
  history: "History",
  noHistory: "No label yet.",
  noEvent: "Labels came, the event has not.",
  facts: "What is known",
  correct: "Correct the label",
  itWas: (label) => `It was ${label}`,
  kinds: { answer: "answer", label: "label", undo: "undone", note: "note" },
  results: { learned: "learned", corrected: "corrected", repeated: "known already", waiting: "kept until the event comes" },

  // The desk.
  desk: {
    windows: { hour: "Last hour", day: "Last day", month: "Last month" },
    counting: (share) => `The log is being counted: ${share} done.`,
    cost: "Cost of decisions",
    saved: (amount, less) => `${amount} ${less ? "less" : "more"} than the better constant answer`,
    noLabels: "no labels in this period",
    nobody: "nobody flagged",
    everybody: "everybody flagged",
    against: "on the same labels",
    labels: "Labels",
    askedFor: (n) => `${n} asked for`,
    left: (n) => `${n} left to ask`,
    unlimited: "no limit",
    events: "Events",
    flaggedOf: (n) => `${n} flagged`,
    waiting: "Open questions",
    aside: (n) => `${n} set aside`,
    asked: "asked for",
    came: "labels that came",
    flagged: "flagged",
    unknown: "not known yet",
    sensitivity: "positives that were flagged",
    specificity: "negatives that were let pass",
    precision: "alarms that were right",
    costAll: "cost of all decisions",
    decides: (name) => `${name} (decides)`,
    failed: "failed",
    score: "mean score (−1 to 1)",
    probability: "mean probability",
    usual: "before this period",
    shift: (n) => `The recent mean is ${n} standard errors from the usual one.`,
    noDrift: "Too few events yet to tell.",
    means: (usual, now) => `${usual} → ${now}`,
    deviations: (n) => `${n} sd`,
    noInputs: "Nothing to compare with before this period",
    calibration: { predicted: "predicted", perfect: "perfect", observed: "observed", high: "+2 errors", low: "−2 errors" },
    costSummary: (cost, nobody, everybody) => `Cost so far: ${cost}; nobody flagged ${nobody}; everybody flagged ${everybody}.`,
    perPeriodSummary: "Cost of each period by model, against flagging nobody and everybody.",
    labelsSummary: (asked, came) => `${asked} labels asked for, ${came} came.`,
    driftSummary: "Mean score of each period against the usual one.",
    calibrationSummary: (n) => `Observed against predicted probabilities, in ${n} groups.`,
  },

  // The models.
  model: {
    decides: "decides",
    challenger: "challenger",
    adminOnly: "This needs a token with the role admin.",
    about: (m, cash) =>
      `${m.learner}, ${number(m.features)} features, since row ${number(m.since)}` +
      (typeof m.costs?.miss === "number" ? `, at ${cash(m.costs.miss)} a miss and ${cash(m.costs.alarm)} an alarm. ` : ". ") +
      `On ${number(m.positives + m.negatives)} labels: ` +
      `${number(m.missed)} missed, ${number(m.alarms)} false alarms, ${cash(m.cost)}` +
      (m.role === "champion" ? "." : ` (decisions on the same events: ${cash(m.decided)}).`),
    weights: "Features",
    promote: "Promote",
    remove: "Remove",
    download: "Download",
    rollback: (name) => `Roll back to ${name}`,
    sure: (name) => `Let ${name} decide from now on?`,
    sureRemove: (name) => `Remove ${name}?`,
    promoted: (name) => `${name} decides now.`,
    removed: (name) => `${name} is removed.`,
    added: (name) => `${name} is a challenger now.`,
    of: (m) => `${m.name}: ${m.learner}${Object.keys(m.parameters ?? {}).length ? `, ${JSON.stringify(m.parameters)}` : ""}. Weights of scaled features; up is towards the positive label.`,
    noWeights: "There are no weights to show yet.",
    fields: { miss: "A missed positive costs", alarm: "A false alarm costs", budget: "Labels to ask for", name: "Name", learner: "Learner", replay: "Learn from the log first" },
    budgetHint: "1000, 5%, 20/1000 or 50/day; empty for no limit. The model takes over new prices at once.",
    save: "Save",
    saved: "Saved and recorded.",
    add: "Add",
    snapshot: (s, at) => `${at}, row ${number(s.seq)}, ${s.model}, ${number(Math.max(1, Math.round(s.bytes / 1024)))} kB`,
    noSnapshots: "There is no snapshot yet.",
    back: "Bring back as a challenger",
    take: "Write a snapshot now",
    taken: "The snapshot is written.",
    changed: ({ kind, by, what }) => {
      const who = by ?? what.by;
      const text = {
        config: () => `settings: a miss ${number(what.costs?.miss ?? 10)}, an alarm ${number(what.costs?.alarm ?? 1)}, labels ${what.budget ?? "without limit"}`,
        model: () => `model ${what.name} added (${what.snapshot == null ? what.learner ?? "Recommended" : `as at row ${number(what.snapshot)}`})`,
        promote: () => `${what.name} promoted`,
        remove: () => `${what.name} removed`,
        snapshot: () => "snapshot",
      }[kind]?.() ?? kind;
      return who ? `${text}, by ${who}` : text;
    },
  },
};
