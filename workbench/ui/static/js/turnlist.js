/** The list of turns: the story in tool names and results. */

import { h, chip, fill, say } from './dom.js';
import { duration, plural } from './text.js';
import { makeVirtualList } from './virtual.js';

/** @import { Ctx } from './context.js' */

export const ROW_HEIGHT = 46;

/** Each mark is a word; its colour has the one meaning that it has everywhere. */
const MARKS = new Map([
  ['again', 'bad'], ['error', 'bad'], ['tool error', 'bad'], ['fault', 'warn'],
  ['edited', 'edit'], ['live', 'live'], ['cut short', 'warn'],
]);

/** @param {Ctx} ctx */
export function makeTurnList(ctx) {
  const note = h('div', { class: 'wb-list-note', role: 'status' });
  /** @param {number} index */
  const turnAt = (index) => (ctx.local.hits ? (ctx.local.hits[index] ?? 0) : index + 1);
  /** @param {number} n */
  const indexOf = (n) => (ctx.local.hits ? ctx.local.hits.indexOf(n) : n - 1);
  const list = makeVirtualList({
    id: ctx.id('turns'), label: 'turns', height: ROW_HEIGHT,
    count: () => ctx.local.hits?.length ?? ctx.info()?.n_turns ?? 0,
    paint: (node, index) => paintRow(ctx, node, turnAt(index)),
    pick: (index) => { ctx.go(turnAt(index)); list.focus(); },
    onRange: (first, last) => load(first, last),
  }, ctx.signal);

  /** Ask for the pages in sight; a list of hits may reach into several. @param {number} first @param {number} last */
  function load(first, last) {
    const trace = ctx.shown();
    for (let index = first; index <= last; index += 1) {
      if (ctx.source.rowAt(trace, turnAt(index))) continue;
      ctx.source.loadRows(trace, turnAt(index)).then((fresh) => { if (fresh) soon(); }, ctx.fail);
    }
  }

  let due = false;
  function soon() {
    if (due) return;
    due = true;
    queueMicrotask(() => { due = false; if (!ctx.signal.aborted) list.refresh(); });
  }

  function paint() {
    list.activate(indexOf(ctx.selected()));
    list.refresh();
    say(note, noteText(ctx));
    note.hidden = !note.textContent;
  }
  ctx.watch(['selected', 'shown', 'traces', 'local.hits', 'local.partial', 'local.versions'], paint);
  ctx.onKey.set('list', list.focus);
  queueMicrotask(paint);
  return h('nav', { class: 'wb-list', 'aria-label': 'turns' }, note, list.el);
}

/** @param {Ctx} ctx */
function noteText(ctx) {
  const { hits, partial } = ctx.local;
  const info = ctx.info();
  if (!info) return '';
  if (info.n_turns === 0) return 'No turns: the run made no model call.';
  if (!hits) return '';
  if (!hits.length) return 'No turn matches.';
  return `${plural(hits.length, 'turn')} of ${info.n_turns}${partial ? ', still searching' : ''}`;
}

/** @param {Ctx} ctx @param {HTMLElement} node @param {number} n */
function paintRow(ctx, node, n) {
  const row = ctx.source.rowAt(ctx.shown(), n);
  const key = row ? `${ctx.shown()}/${n}/${ctx.local.versions}` : `…${n}`;
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.className = `wb-row${row && row.tone === 'bad' ? ' wb-row-bad' : ''}`;
  if (!row) {
    fill(node, h('span', { class: 'wb-n' }, n), h('span', { class: 'wb-wait' }));
    node.setAttribute('aria-label', `turn ${n}`);
    return;
  }
  fill(node,
    h('span', { class: 'wb-n' }, n),
    h('span', { class: 'wb-row-head' }, h('span', { class: 'wb-row-name' }, row.label),
      (row.marks ?? []).map((mark) => chip(mark, MARKS.get(mark) ?? 'plain'))),
    h('span', { class: 'wb-d' }, row.open ? 'open' : duration(row.duration_s)),
    h('small', null, row.summary));
  node.removeAttribute('aria-label');
  node.title = row.step ? `step ${row.step}` : '';
}
