/** The middle column: the selected turn under three tabs, and two runs side by side. */

import { h, fill } from './dom.js';
import { isClosed } from './client.js';
import { turnView } from './turnview.js';
import { contextView } from './contextview.js';
import { rawView } from './rawview.js';
import { compareView } from './compareview.js';

/**
 * @import { Ctx, Tab } from './context.js'
 * @typedef {{ key: string, now: () => Node[] | null, load: () => Promise<Node[]> }} Content
 *   `now` is what can be shown without asking.
 */

/** @type {[Tab, string][]} */
const TABS = [['turn', 'Turn'], ['context', 'Context'], ['raw', 'Raw'], ['compare', 'Side by side']];

/** @param {Ctx} ctx */
export function makeMiddle(ctx) {
  const panel = h('div', { id: ctx.id('panel'), class: 'wb-panel', role: 'tabpanel', tabindex: '0' });
  let shown = '';
  let wanted = '';
  // The browser says when this changes; to ask it would make it lay out what was just put there.
  let scrolled = false;
  panel.addEventListener('scroll', () => { scrolled = panel.scrollTop > 0; }, { passive: true });

  function paint() {
    const content = contentOf(ctx);
    wanted = content.key;
    if (shown === wanted) return;
    const now = content.now();
    if (now) return put(now);
    panel.setAttribute('aria-busy', 'true');
    content.load().then((nodes) => { if (wanted === content.key) put(nodes); }, (error) => {
      if (wanted === content.key && !isClosed(error)) put([failure(error)], false);
    });
  }

  /** @param {Node[]} nodes @param {boolean} [whole] */
  function put(nodes, whole = true) {
    if (scrolled) panel.scrollTop = 0;
    scrolled = false;
    fill(panel, ...nodes);
    panel.removeAttribute('aria-busy');
    shown = whole ? wanted : '';
    const tab = ctx.id(`tab-${ctx.local.tab}`);
    if (panel.getAttribute('aria-labelledby') !== tab) panel.setAttribute('aria-labelledby', tab);
    const [trace, n] = [ctx.shown(), ctx.selected()];
    // Once this one is on its way to the screen.
    if (n) setTimeout(() => { if (!ctx.signal.aborted) ctx.source.prefetch(trace, n); });
  }

  ctx.watch(['selected', 'shown', 'traces', 'local.tab', 'local.versions'], paint);
  fill(panel, h('p', { class: 'wb-none' }, 'loading…'));
  queueMicrotask(paint);
  return h('main', { class: 'wb-view' }, makeTabs(ctx), panel);
}

/** @param {unknown} error */
function failure(error) {
  const text = error instanceof Error ? error.message : String(error);
  return h('p', { class: 'wb-line wb-line-bad', role: 'alert' }, text);
}

/** @param {Ctx} ctx @returns {Content} */
function contentOf(ctx) {
  const trace = ctx.shown();
  const n = ctx.selected();
  const { tab, versions } = ctx.local;
  const key = `${tab}/${trace}/${n}/${versions}`;
  if (tab === 'compare') return comparison(ctx, `${tab}/${trace}/${versions}`);
  if (!ctx.info() || n === 0) return { key: 'none', now: () => [empty(ctx)], load: async () => [] };
  if (tab === 'turn') {
    return {
      key,
      now: () => {
        const turn = ctx.source.turnNow(trace, n);
        return turn ? turnView(ctx, turn) : null;
      },
      load: async () => turnView(ctx, await ctx.source.turn(trace, n)),
    };
  }
  const load = tab === 'context'
    ? async () => contextView(ctx, await ctx.client.ask({ do: 'turn', trace, n, all: true }), await ctx.source.turn(trace, n))
    : async () => rawView(ctx, await ctx.client.ask({ do: 'raw', trace, n }));
  return { key, now: () => null, load };
}

/** @param {Ctx} ctx @param {string} key @returns {Content} */
function comparison(ctx, key) {
  const b = ctx.shown() || ctx.infos().length - 1;
  const a = ctx.infos()[b]?.parent ?? 0;
  if (b < 1) return { key, now: () => [h('p', { class: 'wb-none' }, 'There is no fork to compare with yet.')], load: async () => [] };
  return {
    key,
    now: () => null,
    load: async () => compareView(ctx, await ctx.client.ask({ do: 'compare', a, b }), a, b),
  };
}

/** @param {Ctx} ctx */
function empty(ctx) {
  const info = ctx.info();
  return h('div', { class: 'wb-empty' },
    h('b', null, info ? 'This run has no turns' : 'No trace is open'),
    h('p', null, info ? `It ended before any model call: ${info.status}.` : 'Give one: ',
      !info && h('code', null, 'workbench.Workbench("run.trace.jsonl")')));
}

/** @param {Ctx} ctx */
function makeTabs(ctx) {
  const tabs = TABS.map(([tab, text], index) => h('button', {
    id: ctx.id(`tab-${tab}`), class: 'wb-tab', role: 'tab', 'aria-controls': ctx.id('panel'),
    title: `${text} (${index + 1})`, onclick: () => ctx.change({ tab }),
  }, text));
  TABS.forEach(([tab], index) => ctx.onKey.set(`tab-${index + 1}`, () => ctx.change({ tab })));

  function paint() {
    TABS.forEach(([tab], index) => {
      const on = ctx.local.tab === tab;
      tabs[index]?.setAttribute('aria-selected', String(on));
      if (tabs[index]) tabs[index].tabIndex = on ? 0 : -1;
      if (tab === 'compare' && tabs[index]) tabs[index].hidden = ctx.infos().length < 2;
    });
  }
  const bar = h('div', { class: 'wb-tabs', role: 'tablist', 'aria-label': 'what is shown of the turn' }, tabs);
  bar.addEventListener('keydown', (event) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const open = tabs.filter((tab) => !tab.hidden);
    const at = open.findIndex((tab) => tab.getAttribute('aria-selected') === 'true');
    const next = open[(at + by + open.length) % open.length];
    if (by) { next?.click(); next?.focus(); }
  });
  ctx.watch(['local.tab', 'traces'], paint);
  paint();
  return bar;
}
