/** Texts from a trace, made safe and readable: they are only ever shown as text. */

/** Marks that reorder, hide or erase what stands beside them, by the name that is shown instead. */
const HIDDEN = new Map([
  [0x00, 'NUL'], [0x07, 'BEL'], [0x08, 'BS'], [0x0c, 'FF'], [0x0d, 'CR'], [0x1b, 'ESC'], [0x7f, 'DEL'],
  [0x200b, 'ZWSP'], [0x200e, 'LRM'], [0x200f, 'RLM'], [0x061c, 'ALM'], [0x202a, 'LRE'],
  [0x202b, 'RLE'], [0x202c, 'PDF'], [0x202d, 'LRO'], [0x202e, 'RLO'], [0x2066, 'LRI'],
  [0x2067, 'RLI'], [0x2068, 'FSI'], [0x2069, 'PDI'], [0xfeff, 'BOM'], [0x2028, 'LSEP'],
  [0x2029, 'PSEP'],
]);

const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The text with control characters, direction marks and lone surrogates made visible, so that
 * what is read is what is there. Line breaks and tabs stay.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(UNSEEN, (mark) => {
    const code = mark.charCodeAt(0);
    const name = HIDDEN.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    return `⟨${name}⟩`;
  });
}

/**
 * A text's beginning, never ending in half of a character.
 * @param {string} text @param {number} length
 */
export function clip(text, length) {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '';
  if (seconds < 0.001) return '<1 ms';
  if (seconds < 0.1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A number with thin spaces between thousands. @param {number} value */
export function count(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** @param {number} n @param {string} one @param {string} [many] */
export function plural(n, one, many) {
  return `${count(n)} ${n === 1 ? one : (many ?? `${one}s`)}`;
}

/**
 * Any JSON value on one line, for a cell or a label; lossless for what JSON can hold.
 * @param {unknown} value
 */
export function inline(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

/**
 * The object or list that a text is the JSON of, else undefined: a text such as `12` or `"a"`
 * reads better as it is.
 * @param {string} text
 * @returns {Record<string, unknown> | unknown[] | undefined}
 */
export function parsedTree(text) {
  const head = text.trimStart()[0];
  if ((head !== '{' && head !== '[') || hasLongNumber(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a number may have more digits than a JavaScript number keeps: then its text is shown,
 * since the parsed value would be another one. @param {string} json */
export function hasLongNumber(json) {
  return /\d{16}/.test(json);
}
