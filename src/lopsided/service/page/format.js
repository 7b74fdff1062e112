// Numbers, money, times and shares as people write them.
import { words } from "./words.js";

const language = () => (words.lang === "en" ? undefined : words.lang); // the browser's own English
const DATE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

// Making a formatter takes longer than using it, and a card has dozens of numbers.
const made = new Map();
function digits(value, options) {
  const name = JSON.stringify(options);
  if (!made.has(name)) made.set(name, new Intl.NumberFormat(language(), options));
  return made.get(name).format(value);
}

export function number(value, significant = 4) {
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return digits(value, {});
  if (Math.abs(value) < 1e-4) return digits(value, { notation: "scientific", maximumSignificantDigits: significant });
  return digits(value, { maximumSignificantDigits: Math.abs(value) >= 1000 ? 6 : significant });
}

// Cents where there are some, none in large amounts.
export function money(value, currency) {
  const cents = Number.isInteger(value) || Math.abs(value) >= 10000 ? 0 : 2;
  const kind = currency ? { style: "currency", currency } : {};
  return digits(value, { ...kind, minimumFractionDigits: cents, maximumFractionDigits: cents });
}

export const percent = (value, significant = 2) =>
  digits(value, { style: "percent", maximumSignificantDigits: value > 0.99 ? 4 : significant });

let clock;
const moment = () => (clock ??= new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }));

export function time(seconds) {
  const date = new Date(1000 * seconds);
  return Number.isNaN(date.getTime()) ? String(seconds) : moment().format(date);
}

// The same for programs; empty where no calendar has the time.
export function machineTime(seconds) {
  const date = new Date(1000 * seconds);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

export function duration(seconds) {
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [size, unit] = units.find(([size]) => Math.abs(seconds) >= size) ?? units[3];
  return digits(seconds / size, { style: "unit", unit, unitDisplay: "long", maximumSignificantDigits: 3 });
}

const KINDS = { time, duration, percent: (value) => percent(value, 3), plain: String };

// A value of an event, by the format that the stream has for its name.
export function value(name, given, formats = {}) {
  const format = formats[name];
  if (given == null) return words.missing;
  if (typeof given === "boolean") return given ? words.yes : words.no;
  if (typeof given === "string") return DATE.test(given) && !format ? readDate(given) : given;
  if (!format) return number(given);
  return (KINDS[format] ?? ((amount) => money(amount, format)))(given);
}

function readDate(text) {
  const at = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(at) ? text : text.length > 10 ? time(at / 1000) : new Date(at).toLocaleDateString(language(), { dateStyle: "medium", timeZone: "UTC" });
}
