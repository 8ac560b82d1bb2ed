/** What the page knows of the traces: fetched once, kept a while, forgotten when a trace changes. */

import { Cache } from './cache.js';

/**
 * @import { Client } from './client.js'
 * @import { Model, Quads, Row, Summary, TraceInfo, Turn } from './types.js'
 */

export const PAGE = 100;
const TURNS = 64;
const PAGES = 80;
/** This many turns in the direction of travel are here or on their way, … */
const AHEAD = 3;
/** … and when there are fewer, so many are asked for at once: each request costs the page time. */
const AT_ONCE = 5;

/**
 * @typedef {{
 *   rowAt: (trace: number, n: number) => Row | undefined,
 *   loadRows: (trace: number, n: number) => Promise<unknown>,
 *   turnNow: (trace: number, n: number) => Turn | undefined,
 *   turn: (trace: number, n: number) => Promise<Turn>,
 *   prefetch: (trace: number, n: number) => void,
 *   timeline: (trace: number) => Promise<Quads>,
 *   summary: (trace: number) => Promise<Summary>,
 *   changed: () => number[],
 * }} Source
 */

/** @param {Model} model @param {Client} client @returns {Source} */
export function makeSource(model, client) {
  /** @type {Cache<Promise<any>>} */
  const asked = new Cache(TURNS + PAGES + 32);
  /** @type {Cache<Turn>} */
  const turns = new Cache(TURNS);
  /** @type {Cache<Row[]>} */
  const pages = new Cache(PAGES);
  /** @type {string[]} */
  let versions = infos(model).map(version);
  let last = 0;
  let towards = 1;

  /** @param {number} trace */
  const length = (trace) => infos(model)[trace]?.n_turns ?? 0;

  /**
   * Ask once, however many want it; an answer that came for an older state of the trace is not kept.
   * @param {string} key @param {() => Promise<any>} get @param {(value: any) => void} [keep]
   */
  function once(key, get, keep) {
    const known = asked.get(key);
    if (known) return known;
    const promise = get().then((value) => {
      if (asked.get(key) === promise) keep?.(value);
      return value;
    });
    promise.catch(() => { if (asked.get(key) === promise) asked.drop(key); });
    asked.set(key, promise);
    return promise;
  }

  /** @type {Source['turn']} */
  function turn(trace, n) {
    const key = `${trace}/turn/${n}/`;
    const now = turns.get(key);
    if (now) return Promise.resolve(now);
    asked.get(key) ?? asked.drop(key);
    return once(key, () => client.ask({ do: 'turn', trace, n }), (value) => {
      turns.set(key, value);
      asked.drop(key);
    });
  }

  /** Several turns with one request. The kernel may leave some of a lot out: those are asked for singly.
   * @param {number} trace @param {number[]} numbers */
  function ask(trace, numbers) {
    if (!numbers.length) return;
    const answer = client.ask({ do: 'turns', trace, numbers });
    for (const n of numbers) {
      const key = `${trace}/turn/${n}/`;
      once(key, async () => (await answer).find((/** @type {Turn} */ each) => each.n === n)
        ?? client.ask({ do: 'turn', trace, n }), (value) => {
        turns.set(key, value);
        asked.drop(key);
      }).catch(() => {});
    }
  }

  /** @type {Source['prefetch']} */
  function prefetch(trace, n) {
    if (n !== last) towards = n === last - 1 ? -1 : 1;
    last = n;
    /** @param {number} near */
    const lacks = (near) => near >= 1 && near <= length(trace)
      && !turns.has(`${trace}/turn/${near}/`) && !asked.has(`${trace}/turn/${near}/`);
    const ahead = Array.from({ length: AT_ONCE }, (_, index) => n + towards * (index + 1));
    if (!ahead.slice(0, AHEAD).some(lacks)) return;
    ask(trace, [...ahead, n - towards].filter(lacks));
  }

  /** @type {Source['loadRows']} */
  function loadRows(trace, n) {
    const page = Math.floor((n - 1) / PAGE);
    const start = page * PAGE + 1;
    const stop = Math.min(start + PAGE, length(trace) + 1);
    if (stop <= start) return Promise.resolve();
    const key = `${trace}/rows/${page}/`;
    if (pages.get(key)) return Promise.resolve();
    return once(key, () => client.ask({ do: 'rows', trace, start, stop }), (rows) => {
      pages.set(key, Array.isArray(rows) ? rows : rows.rows);
      asked.drop(key);
    });
  }

  /** The rows that came with the page itself. @param {number} trace @param {number} n @returns {Row | undefined} */
  const firstRow = (trace, n) => (trace === 0 ? model.get('first')?.[n - 1] : undefined);

  return {
    turn,
    loadRows,
    rowAt: (trace, n) =>
      pages.get(`${trace}/rows/${Math.floor((n - 1) / PAGE)}/`)?.[(n - 1) % PAGE] ?? firstRow(trace, n),
    turnNow: (trace, n) => turns.get(`${trace}/turn/${n}/`),
    prefetch,
    timeline: (trace) => once(`${trace}/timeline/`, async () =>
      asQuads(await client.ask({ do: 'timeline', trace }, { binary: true }))),
    summary: (trace) => once(`${trace}/summary/`, () => client.ask({ do: 'summary', trace })),
    changed() {
      const now = infos(model).map(version);
      const out = [...Array(Math.max(now.length, versions.length)).keys()]
        .filter((trace) => now[trace] !== versions[trace]);
      versions = now;
      for (const trace of out) for (const kept of [asked, turns, pages]) kept.drop(`${trace}/`);
      return out;
    },
  };
}

/** @param {Model} model @returns {TraceInfo[]} */
export function infos(model) {
  return model.get('traces') ?? [];
}

/** What must differ when a trace's turns do: more turns came, or other ones are edited.
 * @param {TraceInfo} info */
function version(info) {
  return JSON.stringify([info.name, info.n_turns, info.status, info.edited_turns, info.cut, info.duration_s, info.headline, info.cost]);
}

/** A buffer may start anywhere in a larger one; numbers need an aligned copy.
 * @param {DataView | null} view @returns {Quads} */
function asQuads(view) {
  if (!view) return new Float32Array(0);
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}
