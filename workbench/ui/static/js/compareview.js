/** Two runs side by side, from the first divergence on. */

import { h, chip, fill, button } from './dom.js';
import { clip, plural } from './text.js';
import { sectionHead } from './message.js';

/** @import { Ctx } from './context.js' */
/** @import { CompareRow, Comparison } from './types.js' */

const AT_ONCE = 200;
const SAME = new Set(['same', 'equal', 'unchanged']);

/** @param {Ctx} ctx @param {Comparison} comparison @param {number} a @param {number} b @returns {Node[]} */
export function compareView(ctx, comparison, a, b) {
  const infos = ctx.infos();
  const first = comparison.rows.findIndex((row) => !SAME.has(row.kind));
  const shared = first < 0 ? comparison.rows.length : first;
  const rows = h('div', { class: 'wb-compare', role: 'table', 'aria-label': 'runs side by side' });
  /** @param {number} trace */
  const head = (trace) => h('span', { role: 'columnheader' }, trace === 0 ? 'recorded' : (infos[trace]?.name ?? ''));
  rows.append(h('div', { class: 'wb-compare-row wb-compare-head', role: 'row' }, head(a), head(b)));
  const shownRows = comparison.rows.slice(shared);
  if (shared) rows.append(sameLine(ctx, rows, comparison.rows.slice(0, shared), a, b));
  addRows(ctx, rows, shownRows, a, b);
  return [h('section', { class: 'wb-sec' },
    sectionHead('Side by side', h('span', { class: 'wb-muted' }, comparison.headline)), rows)];
}

/** @param {Ctx} ctx @param {HTMLElement} rows @param {CompareRow[]} same @param {number} a @param {number} b */
function sameLine(ctx, rows, same, a, b) {
  const line = h('div', { class: 'wb-compare-same' });
  fill(line, button(`▸ ${plural(same.length, 'turn')} the same in both`, () => {
    line.replaceWith(...same.map((row) => compareRow(ctx, row, a, b)));
  }, { class: 'wb-btn wb-quiet' }));
  return line;
}

/** @param {Ctx} ctx @param {HTMLElement} rows @param {CompareRow[]} all @param {number} a @param {number} b */
function addRows(ctx, rows, all, a, b) {
  rows.append(...all.slice(0, AT_ONCE).map((row) => compareRow(ctx, row, a, b)));
  if (all.length <= AT_ONCE) return;
  const more = button(`show more of ${all.length}`, () => {
    more.remove();
    addRows(ctx, rows, all.slice(AT_ONCE), a, b);
  });
  rows.append(more);
}

/** @param {Ctx} ctx @param {CompareRow} row @param {number} a @param {number} b */
function compareRow(ctx, row, a, b) {
  const same = SAME.has(row.kind);
  return h('div', { class: `wb-compare-row${same ? '' : ' wb-compare-differs'}`, role: 'row' },
    side(ctx, a, row.a, row.text_a), side(ctx, b, row.b, row.text_b),
    !same && h('p', { role: 'cell', class: 'wb-compare-what' }, chip(row.kind, 'warn'), row.what ?? ''));
}

/** @param {Ctx} ctx @param {number} trace @param {number | null} n @param {string | null} text */
function side(ctx, trace, n, text) {
  const isThere = n !== null && n !== undefined;
  return h('span', { role: 'cell' },
    isThere && button(String(n), () => { ctx.show(trace, n); ctx.change({ tab: 'turn' }); }, { class: 'wb-btn wb-quiet', title: `go to turn ${n}` }),
    text || isThere ? h('span', { class: 'wb-compare-text' }, clip(text ?? '', 1500))
      : h('span', { class: 'wb-compare-none' }, 'not in this run'));
}
