/** Small charts: how long each turn took, and what the money went to. */

import { h } from './dom.js';
import { duration } from './text.js';
import { coloursOf, onThemeChange } from './theme.js';

/** @import { Ctx } from './context.js' */
/** @import { Summary } from './types.js' */

const HEIGHT = 74;
const SOURCES = new Map([['live', 'live'], ['edited', 'edit'], ['fault', 'warn']]);

/** @param {Ctx} ctx @param {Summary} summary @param {AbortSignal} signal ends with the tab */
export function latencyChart(ctx, summary, signal) {
  const all = summary.latency;
  if (!all.length) return h('p', { class: 'wb-none' }, 'no turn has a duration');
  const canvas = h('canvas', { class: 'wb-bars', role: 'img', 'aria-label': latencyLabel(summary) });
  const mark = h('i', { class: 'wb-bar-mark' });
  const top = Math.max(...bins(all, all.length).map((bin) => bin.value), 0.001);
  const places = new Map(all.map((each, index) => [each.turn, index]));
  let width = 0;

  function draw() {
    width = canvas.clientWidth;
    const context = canvas.getContext('2d');
    if (!context || !width) return;
    const dense = globalThis.devicePixelRatio || 1;
    canvas.width = width * dense;
    canvas.height = HEIGHT * dense;
    context.setTransform(dense, 0, 0, dense, 0, 0);
    drawBars(context, bins(all, Math.floor(width / 3)), width, top, coloursOf(ctx.root));
    place();
  }

  function place() {
    const at = places.get(ctx.selected());
    const hidden = at === undefined || width === 0;
    if (mark.hidden !== hidden) mark.hidden = hidden;
    if (at === undefined) return;
    const moved = `translateX(${(((at + 0.5) / all.length) * width).toFixed(1)}px)`;
    if (mark.style.transform !== moved) mark.style.transform = moved;
  }
  /** @param {MouseEvent} event */
  const under = (event) => all[Math.min(all.length - 1, Math.floor((event.offsetX / (width || 1)) * all.length))];
  canvas.addEventListener('click', (event) => ctx.go(under(event)?.turn ?? ctx.selected()));
  canvas.addEventListener('mousemove', (event) => {
    const each = under(event);
    canvas.title = each ? `turn ${each.turn} · ${duration(each.duration_s)}` : '';
  });
  ctx.watchCalmly(['selected'], () => { if (!signal.aborted) place(); });
  const watcher = new ResizeObserver(draw);
  watcher.observe(canvas);
  signal.addEventListener('abort', () => watcher.disconnect());
  onThemeChange(draw, signal);
  return h('figure', { class: 'wb-chart' }, h('div', { class: 'wb-bars-box' }, canvas, mark),
    h('figcaption', null, latencyLabel(summary)));
}

/** @param {Summary} summary */
function latencyLabel(summary) {
  const parts = ['seconds per turn'];
  if (summary.p50_s !== null && summary.p50_s !== undefined) parts.push(`median ${duration(summary.p50_s)}`);
  if (summary.p95_s !== null && summary.p95_s !== undefined) parts.push(`95 % within ${duration(summary.p95_s)}`);
  return parts.join(' · ');
}

/** The slowest turn of each bin, at most `most` bins. @param {Summary['latency']} all @param {number} most */
export function bins(all, most) {
  const size = Math.max(1, Math.ceil(all.length / Math.max(1, most)));
  const out = [];
  for (let at = 0; at < all.length; at += size) {
    let value = 0;
    let source = '';
    for (const each of all.slice(at, at + size)) {
      value = Math.max(value, each.duration_s ?? 0);
      if (SOURCES.has(each.source)) source = each.source;
    }
    out.push({ value, source });
  }
  return out;
}

/** @param {CanvasRenderingContext2D} context @param {{ value: number, source: string }[]} all
 * @param {number} width @param {number} top @param {{ [name: string]: string }} colours */
function drawBars(context, all, width, top, colours) {
  const each = width / all.length;
  const gap = each > 8 ? 3 : each > 4 ? 1 : 0;
  context.clearRect(0, 0, width, HEIGHT);
  all.forEach(({ value, source }, index) => {
    const tall = Math.max(1, (value / top) * (HEIGHT - 4));
    context.fillStyle = colours[SOURCES.get(source) ?? 'edge'] ?? '#888';
    context.fillRect(index * each + gap / 2, HEIGHT - tall, Math.max(1, each - gap), tall);
  });
}

/** @param {Summary} summary */
export function costChart(summary) {
  if (!summary.cost.length) return h('p', { class: 'wb-none' }, 'no cost is known');
  const top = Math.max(...summary.cost.map((each) => each.value ?? 0), 1e-12);
  return h('dl', { class: 'wb-costs' }, summary.cost.slice(0, 12).flatMap((each) => [
    h('dt', { title: each.key }, each.key),
    h('dd', null, h('span', { class: 'wb-cost-bar', style: `width:${((each.value ?? 0) / top) * 100}%` }), h('span', null, each.text)),
  ]));
}
