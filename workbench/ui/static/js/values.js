/** Showing texts and values: clipped, copied, opened further, never as markup. */

import { h, button, copyButton, fill } from './dom.js';
import { clip, count, inline, parsedTree, visible } from './text.js';

/** @import { Ctx } from './context.js' */
/** @import { Clip } from './types.js' */

/** How much of a text is laid out at first: more would make stepping slow. */
export const FIRST = 4000;
const DEEP = 3;
const MANY = 40;

/**
 * A text in a block; the rest of a long one comes on request.
 * @param {Ctx} ctx @param {Clip} text @param {{ kind?: string, tree?: boolean, trace?: number }} [how]
 */
export function textBlock(ctx, text, how = {}) {
  const tree = how.tree && text.text.length === text.total ? parsedTree(text.text) : undefined;
  if (tree !== undefined && text.total <= FIRST * 4) return tableOf(tree);
  const pre = h('pre', { class: `wb-pre ${how.kind ?? ''}` }, clip(text.text, FIRST));
  if (text.total <= FIRST) return pre;
  return h('div', { class: 'wb-long' }, pre, moreBar(ctx, text, pre, how.trace ?? ctx.shown()));
}

/** @param {Ctx} ctx @param {Clip} text @param {HTMLElement} pre @param {number} trace */
function moreBar(ctx, text, pre, trace) {
  const bar = h('div', { class: 'wb-more' });
  let shown = clip(text.text, FIRST).length;
  let have = text.text;

  async function more() {
    if (shown >= have.length && have.length < text.total && text.ref !== null) {
      const part = await ctx.client.ask({ do: 'text', trace, ref: text.ref, start: have.length });
      have += part.text;
    }
    const next = clip(have, Math.min(have.length, Math.max(shown * 4, 50_000)));
    pre.append(document.createTextNode(visible(next.slice(shown))));
    shown = next.length;
    paint();
  }

  function paint() {
    const left = text.total - shown;
    fill(bar, h('span', { class: 'wb-muted' }, `${count(shown)} of ${count(text.total)} characters`),
      left > 0 && button('show more', () => void more().catch(ctx.fail), { class: 'wb-btn wb-quiet' }));
  }
  paint();
  return bar;
}

/** The whole of a text, fetched as far as it is not here, for copying.
 * @param {Ctx} ctx @param {Clip} text @param {number} [trace] */
export async function wholeText(ctx, text, trace = ctx.shown()) {
  let whole = text.text;
  while (whole.length < text.total && text.ref !== null) {
    const part = await ctx.client.ask({ do: 'text', trace, ref: text.ref, start: whole.length });
    if (!part.text) break;
    whole += part.text;
  }
  return whole;
}

/** @param {Ctx} ctx @param {Clip} text @param {string} what */
export function copyText(ctx, text, what) {
  const trace = ctx.shown();
  return copyButton(() => wholeText(ctx, text, trace), what);
}

/** An object or list as aligned keys and values. @param {unknown} value @param {number} [depth] @returns {HTMLElement} */
export function tableOf(value, depth = 0) {
  if (value === null || typeof value !== 'object') return leaf(value);
  const pairs = Object.entries(value);
  if (!pairs.length) return h('span', { class: 'wb-leaf wb-muted' }, Array.isArray(value) ? '[ ] empty list' : '{ } no fields');
  if (depth >= DEEP || (depth > 0 && JSON.stringify(value).length < 60)) {
    return h('span', { class: 'wb-leaf' }, JSON.stringify(value));
  }
  const table = h('dl', { class: 'wb-kv' });
  addPairs(table, pairs, depth);
  return table;
}

/** @param {HTMLElement} table @param {[string, unknown][]} pairs @param {number} depth */
function addPairs(table, pairs, depth) {
  for (const [key, value] of pairs.slice(0, MANY)) {
    table.append(h('dt', null, key), h('dd', null, tableOf(value, depth + 1)));
  }
  const rest = pairs.slice(MANY);
  if (!rest.length) return;
  const line = h('dd', { class: 'wb-rest' }, button(`${count(rest.length)} more`, () => {
    line.remove();
    addPairs(table, rest, depth);
  }, { class: 'wb-btn wb-quiet' }));
  table.append(line);
}

/** @param {unknown} value */
function leaf(value) {
  const kind = value === null ? 'null' : typeof value;
  if (typeof value === 'string' && value.includes('\n') && value.length <= FIRST) {
    return h('pre', { class: 'wb-pre wb-leaf-pre wb-string' }, value);
  }
  const text = kind === 'string' ? JSON.stringify(value) : inline(value);
  if (text.length <= FIRST) return h('span', { class: `wb-leaf wb-${kind}` }, text);
  const node = h('span', { class: `wb-leaf wb-${kind}` }, clip(text, 1000));
  const all = button(`… ${count(text.length - 1000)} more characters`, () => fill(node, text), { class: 'wb-btn wb-quiet' });
  return h('span', null, node, all);
}

/** The words that differ, each kind with its own tag and mark. @param {[string, string][]} words */
export function wordDiff(words) {
  return h('pre', { class: 'wb-pre' }, words.map(([how, text]) => {
    if (how === 'add') return h('ins', null, text);
    if (how === 'del') return h('del', null, text);
    return text.length > 600 ? h('span', null, `${clip(text, 280)} ⋯ ${text.slice(-280)}`) : text;
  }));
}
