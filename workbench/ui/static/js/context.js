/** What all parts of one view share: the model, requests, the local state, and how to move. */

import { READS, isClosed, makeClient } from './client.js';
import { makePace } from './pace.js';
import { makeSource, infos } from './source.js';
import { viewId } from './dom.js';

/**
 * @import { Client } from './client.js'
 * @import { Pace } from './pace.js'
 * @import { Source } from './source.js'
 * @import { Model, TraceInfo } from './types.js'
 *
 * @typedef {'turn' | 'context' | 'raw' | 'compare'} Tab
 * @typedef {{
 *   tab: Tab, query: string, filter: string, hits: number[] | null, partial: boolean,
 *   alert: string, silent: boolean, inline: string, change: string, foot: string, footOpen: boolean,
 *   help: boolean, versions: number,
 * }} Local
 *   What only this view knows. `hits` null shows all turns; `inline` is an error that already
 *   stands where it belongs.
 *
 * @typedef {{
 *   model: Model, client: Client, source: Source, pace: Pace, signal: AbortSignal, root: HTMLElement,
 *   id: (name: string) => string,
 *   infos: () => TraceInfo[], info: () => TraceInfo | undefined,
 *   shown: () => number, selected: () => number,
 *   watch: (names: string[], callback: () => void) => void,
 *   watchCalmly: (names: string[], callback: () => void) => void,
 *   local: Local, change: (changes: Partial<Local>) => void,
 *   go: (n: number) => void, show: (trace: number, n?: number) => void,
 *   step: (by: number) => void, next: (what: string, direction: number) => Promise<void>,
 *   fail: (error: unknown) => void,
 *   onKey: Map<string, () => void>, apply: () => Promise<boolean>,
 * }} Ctx
 *   `watch` takes trait names, and `local.…` for the local state; with `watchCalmly` a step waits
 *   until the steps pause. `onKey` holds what a part of the page offers to a key, `apply` sends the
 *   change that stands in the form.
 */

/** @returns {Local} */
function freshLocal() {
  return {
    tab: 'turn', query: '', filter: '', hits: null, partial: false, alert: '', silent: false, inline: '',
    change: 'reply', foot: 'latency', footOpen: true, help: false, versions: 0,
  };
}

/** @param {Model} model @param {HTMLElement} root @param {AbortSignal} signal @returns {Ctx} */
export function makeContext(model, root, signal) {
  const prefix = viewId();
  const pace = makePace(() => model.save_changes(), signal);
  const client = politely(makeClient(model, prefix, signal), pace);
  const source = makeSource(model, client);
  const local = freshLocal();
  const { watch, watchCalmly, touch } = makeWatch(model, pace, signal);
  /** @type {Ctx} */
  const ctx = {
    model, client, source, pace, signal, root, local, watch, watchCalmly,
    id: (name) => `${prefix}-${name}`,
    infos: () => infos(model),
    info: () => infos(model)[ctx.shown()],
    shown: () => Number(model.get('shown') ?? 0),
    selected: () => Number(model.get('selected') ?? 0),
    change(changes) {
      Object.assign(local, changes);
      for (const name of Object.keys(changes)) touch(`local.${name}`);
    },
    go: (n) => ctx.show(ctx.shown(), n),
    show: (trace, n) => showTurn(ctx, trace, n),
    step: (by) => stepBy(ctx, by),
    next: (what, direction) => goNext(ctx, what, direction),
    fail(error) {
      if (isClosed(error)) return;
      ctx.change({ alert: error instanceof Error ? error.message : String(error) });
    },
    onKey: new Map(),
    apply: async () => true,
  };
  standByStep(ctx);
  client.onSilence((silent) => { if (local.silent !== silent) ctx.change({ silent }); });
  watch(['traces'], () => { if (source.changed().length) ctx.change({ versions: local.versions + 1 }); });
  return ctx;
}

/** Before something is changed, the kernel knows where one is. @param {Client} client @param {Pace} pace @returns {Client} */
function politely(client, pace) {
  return {
    ...client,
    ask(message, how) {
      if (!READS.has(message.do)) pace.tell();
      return client.ask(message, how);
    },
  };
}

/**
 * Callbacks run once, soon, however many of their names changed.
 * @param {Model} model @param {Pace} pace @param {AbortSignal} signal
 */
function makeWatch(model, pace, signal) {
  /** @type {Map<string, Set<() => void>>} */
  const listeners = new Map();
  /** @type {Set<() => void>} */
  const calm = new Set();
  /** @type {Set<() => void>} */
  const due = new Set();

  /** @param {string} name */
  function touch(name) {
    const all = [...listeners.get(name) ?? []];
    const step = name === 'selected';
    if (step) pace.stepped(all.filter((callback) => calm.has(callback)));
    for (const callback of all) {
      if (step && calm.has(callback)) continue;
      if (due.size === 0) queueMicrotask(flush);
      due.add(callback);
    }
  }

  function flush() {
    const now = [...due];
    due.clear();
    if (signal.aborted) return;
    for (const callback of now) {
      pace.done(callback);
      callback();
    }
  }

  /** @param {string[]} names @param {() => void} callback */
  function watchCalmly(names, callback) {
    calm.add(callback);
    watch(names, callback);
  }

  /** @param {string[]} names @param {() => void} callback */
  function watch(names, callback) {
    for (const name of names) {
      if (!listeners.has(name)) listeners.set(name, new Set());
      listeners.get(name)?.add(callback);
      if (!name.startsWith('local.')) listen(name);
    }
  }

  const heard = new Set();
  /** @param {string} name */
  function listen(name) {
    if (heard.has(name)) return;
    heard.add(name);
    const changed = () => touch(name);
    model.on(`change:${name}`, changed);
    signal.addEventListener('abort', () => model.off(`change:${name}`, changed));
  }
  return { watch, watchCalmly, touch };
}

/** @param {Ctx} ctx @param {number} trace @param {number} [n] */
function showTurn(ctx, trace, n) {
  const info = ctx.infos()[trace];
  if (!info) return;
  const turn = Math.max(info.n_turns ? 1 : 0, Math.min(n ?? ctx.selected(), info.n_turns));
  const { model } = ctx;
  const same = ctx.shown() === trace && ctx.selected() === turn;
  if (same) return;
  const step = ctx.shown() === trace;
  if (!step) {
    model.set('shown', trace);
    ctx.change({ hits: null, query: '', filter: '' });
  }
  ctx.pace.tellSoon(turn);
  model.set('selected', turn);
  if (!step) ctx.pace.tell();
}

/**
 * The kernel repeats what it was told. While it has not heard of the newest step yet, what it
 * repeats is an older one, and must not take the step back.
 * @param {Ctx} ctx
 */
function standByStep({ model, pace, signal }) {
  const changed = () => {
    const mine = pace.untold();
    if (mine !== null && model.get('selected') !== mine) model.set('selected', mine);
  };
  model.on('change:selected', changed);
  signal.addEventListener('abort', () => model.off('change:selected', changed));
}

/** One step along what the list shows: all turns, or those that were found. @param {Ctx} ctx @param {number} by */
function stepBy(ctx, by) {
  const { hits } = ctx.local;
  const now = ctx.selected();
  if (!hits) {
    ctx.go(now + by);
  } else if (hits.length) {
    const after = by > 0 ? hits.find((n) => n > now) : hits.findLast((n) => n < now);
    ctx.go(after ?? (hits.includes(now) ? now : /** @type {number} */ (hits.at(by > 0 ? -1 : 0))));
  }
}

/** @param {Ctx} ctx @param {string} what @param {number} direction */
async function goNext(ctx, what, direction) {
  const trace = ctx.shown();
  const from = ctx.selected();
  try {
    const { n } = await ctx.client.ask({ do: 'next', trace, from, direction, what });
    if (n === null) {
      ctx.change({ alert: `no ${direction > 0 ? 'later' : 'earlier'} turn with an ${what}` });
    } else if (ctx.shown() === trace) {
      ctx.go(n);
    }
  } catch (error) {
    ctx.fail(error);
  }
}
