/** Parent and forks on the same clock: where the time went, where it went wrong, where it was cut. */

import { h, fill, say } from './dom.js';
import { duration, plural } from './text.js';
import { coloursOf, onThemeChange } from './theme.js';
import { drawTrace, endOf, extent, fromFirstCall, turnAt, turnExtent } from './timeline_draw.js';

/**
 * @import { Ctx } from './context.js'
 * @import { Quads, TraceInfo } from './types.js'
 * @typedef {{
 *   el: HTMLElement, label: HTMLButtonElement, canvas: HTMLCanvasElement, mark: HTMLElement,
 *   cut: HTMLElement, trace: number, quads: Quads, from: Quads | null, width: number,
 * }} Lane
 *   `width` is that of the canvas when it was drawn last.
 */

const HEIGHT = 22;

/** @param {Ctx} ctx */
export function makeTimeline(ctx) {
  const lanes = h('div', { class: 'wb-lanes' });
  const clock = h('div', { class: 'wb-clock', 'aria-hidden': 'true' });
  const el = h('section', { class: 'wb-timeline', 'aria-label': 'timeline' }, lanes, clock);
  /** @type {Lane[]} */
  let all = [];
  let span = 1;

  function build() {
    const infos = ctx.infos();
    if (all.length !== infos.length) {
      all = infos.map((_, trace) => all[trace] ?? makeLane(ctx, trace, () => span));
      fill(lanes, all.map((lane) => lane.el));
    }
    for (const lane of all) load(lane);
    el.hidden = infos.length === 0;
    paint();
  }

  /** @param {Lane} lane */
  function load(lane) {
    ctx.source.timeline(lane.trace).then((quads) => {
      if (lane.from === quads || ctx.signal.aborted) return;
      lane.from = quads;
      lane.quads = fromFirstCall(quads);
      soon();
    }, ctx.fail);
  }

  let frame = 0;
  function soon() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  }

  function draw() {
    span = Math.max(0.001, ...all.map((lane) => endOf(lane.quads)));
    // Read now: a view may be made before it is put into the page, where it has no colours yet.
    const colours = coloursOf(ctx.root);
    // All widths before the first drawing: each question after it would lay the page out again.
    for (const lane of all) lane.width = lane.canvas.clientWidth;
    for (const lane of all) drawLane(lane, span, colours);
    say(clock, span > 0.001 ? `0 – ${duration(span)}` : '');
    mark();
  }

  function paint() {
    for (const lane of all) describe(ctx, lane);
    mark();
  }

  function mark() {
    for (const lane of all) markLane(ctx, lane, span);
  }

  ctx.watch(['traces', 'local.versions'], build);
  ctx.watch(['shown', 'edits'], paint);
  ctx.watch(['selected'], mark);
  onThemeChange(soon, ctx.signal);
  const watcher = new ResizeObserver(soon);
  watcher.observe(lanes);
  ctx.signal.addEventListener('abort', () => { watcher.disconnect(); cancelAnimationFrame(frame); });
  queueMicrotask(build);
  return el;
}

/** @param {Ctx} ctx @param {number} trace @param {() => number} span @returns {Lane} */
function makeLane(ctx, trace, span) {
  const canvas = h('canvas', { role: 'img' });
  const mark = h('div', { class: 'wb-mark', hidden: true });
  const cut = h('div', { class: 'wb-cut', hidden: true });
  const label = h('button', { class: 'wb-lane-name', onclick: () => ctx.show(trace) });
  /** @type {Lane} */
  const lane = { el: h('div'), label, canvas, mark, cut, trace, quads: new Float32Array(0), from: null, width: 0 };
  /** @param {MouseEvent} event */
  const under = (event) => turnAt(lane.quads, event.offsetX, lane.width, span());
  canvas.addEventListener('click', (event) => {
    ctx.show(trace, under(event) || undefined);
    ctx.onKey.get('list')?.();
  });
  canvas.addEventListener('mousemove', (event) => {
    const n = under(event);
    const row = ctx.source.rowAt(trace, n);
    canvas.title = row ? `turn ${n} · ${row.label} · ${duration(row.duration_s)}` : `turn ${n}`;
  });
  lane.el = h('div', { class: 'wb-lane' }, label,
    h('div', { class: 'wb-track' }, canvas, cut, mark));
  return lane;
}

/** @param {Lane} lane @param {number} span @param {{ [name: string]: string }} colours */
function drawLane(lane, span, colours) {
  const { canvas, width } = lane;
  const context = canvas.getContext('2d');
  if (!context || width === 0) return;
  const dense = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(width * dense);
  canvas.height = Math.round(HEIGHT * dense);
  context.setTransform(dense, 0, 0, dense, 0, 0);
  drawTrace({ context, width, height: HEIGHT, span, colours, fork: lane.trace > 0 }, lane.quads);
}

/** @param {Ctx} ctx @param {Lane} lane */
function describe(ctx, lane) {
  const info = ctx.infos()[lane.trace];
  if (!info) return;
  const shown = ctx.shown() === lane.trace;
  lane.el.classList.toggle('wb-lane-on', shown);
  lane.label.setAttribute('aria-pressed', String(shown));
  fill(lane.label, h('b', null, lane.trace === 0 ? 'recorded' : info.name), laneNote(ctx, lane, info));
  lane.label.title = `${info.name}: ${info.headline || info.status}`;
  lane.canvas.setAttribute('aria-label', laneLabel(info));
}

/** Where one is, and where the run was cut: over the canvas, which stays as it was drawn.
 * @param {Ctx} ctx @param {Lane} lane @param {number} span */
function markLane(ctx, lane, span) {
  const info = ctx.infos()[lane.trace];
  if (!info) return;
  const shown = ctx.shown() === lane.trace;
  put(lane.mark, shown ? turnExtent(lane.quads, ctx.selected()) : null, lane.width, span, 5);
  put(lane.cut, cutBlock(ctx, lane, info), lane.width, span, 0);
}

/** The dashed line stands where the run leaves the recording. @param {Ctx} ctx @param {Lane} lane @param {TraceInfo} info */
function cutBlock(ctx, lane, info) {
  const forks = ctx.infos().length > 1;
  const first = lane.trace === 0 && forks ? ctx.infos()[ctx.shown() || ctx.infos().length - 1] : info;
  return first?.cut ? turnExtent(lane.quads, first.cut) : null;
}

/** @param {HTMLElement} node @param {{ start: number, end: number } | null} block
 * @param {number} width @param {number} span @param {number} least */
function put(node, block, width, span, least) {
  const hidden = !block || width === 0;
  if (node.hidden !== hidden) node.hidden = hidden;
  if (!block || width === 0) return;
  const place = extent(/** @type {any} */ (block), width, span);
  const wide = Math.max(least, place.width);
  const left = Math.max(0, Math.min(width - wide, place.left - (wide - place.width) / 2));
  // Moved by a transform, it is not laid out anew; a tenth of a pixel is not seen.
  move(node, `translateX(${left.toFixed(1)}px)`, least ? `${wide.toFixed(1)}px` : '');
}

/** @param {HTMLElement} node @param {string} transform @param {string} width */
function move(node, transform, width) {
  const now = `${transform} ${width}`;
  if (node.dataset.now === now) return;
  node.dataset.now = now;
  node.style.transform = transform;
  if (node.style.width !== width) node.style.width = width;
}

/** @param {Ctx} ctx @param {Lane} lane @param {TraceInfo} info */
function laneNote(ctx, lane, info) {
  const turns = info.edited_turns ?? [];
  const pending = lane.trace === ctx.shown() ? (ctx.model.get('edits') ?? []).length : 0;
  if (turns.length) return h('span', { class: 'wb-edit-text' }, ` ✎ ${turns.slice(0, 3).join(', ')}`);
  return pending ? h('span', { class: 'wb-edit-text', title: 'changes not run yet' }, ` ✎ ${pending}`) : null;
}

/** @param {TraceInfo} info */
function laneLabel(info) {
  const errors = (info.findings ?? []).length;
  const parts = [plural(info.n_turns, 'turn'), duration(info.duration_s), info.headline];
  if (errors) parts.push(plural(errors, 'finding'));
  return `timeline of ${info.name}: ${parts.filter(Boolean).join(', ')}; the list holds the same turns`;
}
