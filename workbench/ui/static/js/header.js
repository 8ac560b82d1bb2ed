/** The first line: what this is, what went wrong, and how to move. */

import { h, button, say } from './dom.js';
import { duration, plural } from './text.js';

/** @import { Ctx } from './context.js' */
/** @import { TraceInfo } from './types.js' */

const FILTERS = [
  ['', 'all turns'], ['errors', 'errors'], ['writes', 'writes'], ['edited', 'edited'], ['live', 'live'],
];

/** @param {Ctx} ctx */
export function makeHeader(ctx) {
  const name = h('h1', { class: 'wb-name', title: '' });
  const headline = h('span', { class: 'wb-chip' });
  const meta = h('span', { class: 'wb-meta' });
  const steps = makeSteps(ctx);
  const el = h('header', { class: 'wb-header' },
    h('div', { class: 'wb-title' }, name, headline, meta),
    h('div', { class: 'wb-tools' }, steps, errorButton(ctx), makeSearch(ctx), helpButton(ctx)));

  function paint() {
    const info = ctx.info();
    const parent = ctx.infos()[0];
    say(name, info ? traceTitle(info, parent, ctx.shown()) : 'no trace');
    name.title = info?.path ?? info?.name ?? '';
    headline.className = `wb-chip wb-${info?.tone ?? 'plain'}`;
    headline.hidden = !info?.headline;
    say(headline, info?.headline ?? '');
    headline.title = info?.headline ?? '';
    say(meta, info ? metaLine(info) : '');
  }
  ctx.watch(['traces', 'shown'], paint);
  paint();
  return el;
}

/** @param {TraceInfo} info @param {TraceInfo | undefined} parent @param {number} trace */
function traceTitle(info, parent, trace) {
  return trace === 0 ? info.name : `${parent?.name ?? ''} › ${info.name}`;
}

/** @param {TraceInfo} info */
function metaLine(info) {
  const parts = [plural(info.n_turns, 'turn'), duration(info.duration_s), info.cost, info.model];
  if (info.status === 'cut short') parts.push('cut short');
  return parts.filter(Boolean).join(' · ');
}

/** @param {Ctx} ctx */
function makeSteps(ctx) {
  const back = button('◀', () => ctx.step(-1), { 'aria-label': 'previous turn', title: 'previous turn (k or ↑)' });
  const on = button('▶', () => ctx.step(1), { 'aria-label': 'next turn', title: 'next turn (j or ↓)' });
  const place = h('input', {
    class: 'wb-place', inputmode: 'numeric', 'aria-label': 'turn', title: 'go to a turn',
    onchange: () => { ctx.go(Number.parseInt(place.value, 10) || ctx.selected()); paint(); },
    onfocus: () => place.select(),
  });
  const total = h('span', { class: 'wb-of' });
  let wide = 0;

  /** @param {number} last */
  function widen(last) {
    if (String(last).length === wide) return;
    wide = String(last).length;
    place.style.width = `${Math.max(1, wide) + 1.2}ch`;
  }

  function paint() {
    const n = ctx.selected();
    const last = ctx.info()?.n_turns ?? 0;
    place.value = String(n);
    widen(last);
    say(total, `/ ${last}`);
    // A disabled button swallows the keys while it has the focus: the list takes them.
    const held = [back, on].find((each) => each === each.ownerDocument.activeElement);
    back.disabled = n <= 1;
    on.disabled = n >= last;
    if (held?.disabled) ctx.onKey.get('list')?.();
    place.disabled = last === 0;
  }
  ctx.watch(['selected', 'shown', 'traces'], paint);
  paint();
  return h('div', { class: 'wb-seg', role: 'group', 'aria-label': 'turns' },
    back, h('span', { class: 'wb-btn wb-here' }, place, total), on);
}

/** @param {Ctx} ctx */
function errorButton(ctx) {
  return button('next error', () => void ctx.next('error', 1), { title: 'next turn with an error (n)' });
}

/** @param {Ctx} ctx */
function helpButton(ctx) {
  const toggle = () => ctx.change({ help: !ctx.local.help });
  ctx.onKey.set('help', toggle);
  return button('?', toggle, { class: 'wb-btn wb-square', 'aria-label': 'keys and colours', title: 'keys and colours (?)' });
}

/** Text and filter together decide which turns the list shows. @param {Ctx} ctx */
function makeSearch(ctx) {
  const box = h('input', {
    class: 'wb-search', type: 'search', placeholder: 'search  ( / )', 'aria-label': 'search the turns',
    oninput: () => soon(), onkeydown: onKey,
  });
  const filter = h('select', { class: 'wb-filter', 'aria-label': 'show', onchange: () => void run() },
    FILTERS.map(([value, text]) => h('option', { value }, text)));
  let timer = 0;
  let asked = 0;

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), 180);
  }

  async function run() {
    clearTimeout(timer);
    const query = box.value.trim();
    const mine = (asked += 1);
    ctx.change({ query, filter: filter.value });
    if (!query && !filter.value) return ctx.change({ hits: null, partial: false });
    try {
      const found = await ctx.client.ask({ do: 'search', trace: ctx.shown(), query, filter: filter.value });
      if (mine === asked) ctx.change({ hits: found.turns, partial: found.complete === false });
    } catch (error) {
      ctx.fail(error);
    }
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.key === 'Escape') {
      box.value = '';
      void run();
      ctx.onKey.get('list')?.();
    } else if (event.key === 'Enter') {
      void run().then(() => { ctx.step(event.shiftKey ? -1 : 1); });
    }
  }

  function forget() {
    if (ctx.local.query || ctx.local.filter || (!box.value && !filter.value)) return;
    asked += 1;
    box.value = '';
    filter.value = '';
  }
  ctx.watch(['local.hits'], forget);
  ctx.watch(['local.versions'], () => { if (ctx.local.hits) void run(); });
  ctx.onKey.set('search', () => { box.focus(); box.select(); });
  ctx.signal.addEventListener('abort', () => clearTimeout(timer));
  return h('div', { class: 'wb-find', role: 'search' }, box, filter);
}
