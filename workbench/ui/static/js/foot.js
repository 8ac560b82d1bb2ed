/** Below: what was found, or the fork beside its parent; the charts; the Python of the clicks. */

import { h, button, chip, copyButton, fill, say } from './dom.js';
import { isClosed } from './client.js';
import { duration, inline, plural } from './text.js';
import { costChart, latencyChart } from './charts.js';

/** @import { Ctx } from './context.js' */
/** @import { TraceInfo } from './types.js' */

/** @param {Ctx} ctx */
export function makeFoot(ctx) {
  const toggle = button('▾', () => ctx.change({ footOpen: !ctx.local.footOpen }), { class: 'wb-btn wb-quiet wb-fold-foot' });
  const el = h('footer', { class: 'wb-foot-row' }, makeOutcome(ctx), makeExtras(ctx), toggle);
  function paint() {
    const { footOpen } = ctx.local;
    el.classList.toggle('wb-closed', !footOpen);
    toggle.textContent = footOpen ? '▾' : '▴';
    toggle.setAttribute('aria-expanded', String(footOpen));
    toggle.setAttribute('aria-label', footOpen ? 'fold the lower part' : 'open the lower part');
    el.hidden = ctx.infos().length === 0;
  }
  ctx.watch(['local.footOpen', 'traces'], paint);
  paint();
  return el;
}

/** @param {Ctx} ctx */
function makeOutcome(ctx) {
  const el = h('section', { class: 'wb-outcome', 'aria-label': 'outcome' });
  let shown = '';
  function paint() {
    const fork = ctx.shown() || ctx.infos().length - 1;
    const info = ctx.infos()[fork];
    const key = JSON.stringify([fork, ctx.infos()]);
    // What is typed into the file's name stays while nothing changes.
    if (key === shown) return;
    shown = key;
    if (fork < 1 || !info) fill(el, findings(ctx));
    else fill(el, outcomeHead(ctx, info), outcomeButtons(ctx, fork, info), runsTable(ctx, fork));
  }
  ctx.watch(['traces', 'shown'], paint);
  paint();
  return el;
}

/** @param {Ctx} ctx @param {TraceInfo} info */
function outcomeHead(ctx, info) {
  const at = info.divergence;
  return h('div', { class: 'wb-outcome-head' },
    h('h2', null, `${info.parent ? ctx.infos()[info.parent]?.name : 'recorded'} → ${info.name}`), chip(info.headline || info.status, info.tone),
    at ? h('span', { class: 'wb-muted' }, 'first divergence: ', at.turn
      ? button(`turn ${at.turn}`, () => ctx.go(at.turn ?? 1), { class: 'wb-btn wb-quiet' }) : '', ` ${at.text.replace(/^turn \d+: /, '')}`)
      : h('span', { class: 'wb-muted' }, 'no divergence'));
}

/** All runs, one a line: which one ended how, after how much. @param {Ctx} ctx @param {number} fork */
function runsTable(ctx, fork) {
  const names = ['run', 'outcome', 'turns', 'tool calls', 'cost', 'time'];
  return h('table', { class: 'wb-table' },
    h('thead', null, h('tr', null, names.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', null, ctx.infos().map((info, trace) => h('tr', { class: trace === fork ? 'wb-tr-on' : null },
      h('th', { scope: 'row' }, button(trace ? info.name : 'recorded', () => ctx.show(trace), { class: 'wb-btn wb-quiet' })),
      h('td', { class: `wb-${info.tone}-text` }, info.headline || info.status),
      h('td', null, info.n_turns), h('td', { class: 'wb-mono wb-tools-cell', title: toolsText(info.tools_called) }, toolsText(info.tools_called, ctx.infos().map((each) => each.tools_called))),
      h('td', null, info.cost), h('td', null, duration(info.duration_s))))));
}

/**
 * How often each tool was called; beside other runs only those whose number differs.
 * @param {unknown} tools @param {unknown[]} [runs]
 */
function toolsText(tools, runs = []) {
  if (tools === null || tools === undefined) return '';
  if (typeof tools !== 'object' || Array.isArray(tools)) return inline(tools);
  const counts = runs.map((each) => /** @type {Record<string, number>} */ (each ?? {}));
  const all = [...new Set(counts.flatMap((each) => Object.keys(each)))];
  const names = all.filter((name) => new Set(counts.map((each) => each[name] ?? 0)).size > 1);
  const own = /** @type {Record<string, number>} */ (tools);
  const shown = names.length ? names : Object.keys(own);
  return shown.map((name) => [name, own[name] ?? 0]).sort(([, a], [, b]) => Number(b) - Number(a))
    .map(([name, n]) => `${name} ${n}×`).join(', ') || 'none';
}

/** @param {Ctx} ctx @param {number} fork @param {TraceInfo} info */
function outcomeButtons(ctx, fork, info) {
  const path = h('input', { class: 'wb-in wb-save-path', 'aria-label': 'file to save to', value: savePath(ctx, info) });
  const note = h('span', { class: 'wb-muted', role: 'status' });
  const save = button('Save fork', () => {
    save.disabled = true;
    ctx.client.ask({ do: 'save', trace: fork, path: path.value }).then(
      (answer) => { say(note, `saved as ${answer.path}`); },
      (error) => { save.disabled = false; say(note, error.message); });
  });
  if (info.saved) return h('div', { class: 'wb-inline' }, compareButton(ctx), h('span', { class: 'wb-muted' }, `saved as ${info.path}`));
  return h('div', { class: 'wb-inline' }, compareButton(ctx), save, path, note);
}

/** @param {Ctx} ctx */
function compareButton(ctx) {
  return button('Side by side', () => ctx.change({ tab: 'compare' }));
}

/** @param {Ctx} ctx @param {TraceInfo} info */
function savePath(ctx, info) {
  const parent = ctx.infos()[0]?.name ?? 'run';
  return `${parent}-${info.name}`.replace(/[^\w.-]+/g, '-') + '.trace.jsonl';
}

/** @param {Ctx} ctx */
function findings(ctx) {
  const info = ctx.infos()[0];
  const all = info?.findings ?? [];
  const tones = new Map([['error', 'bad'], ['bad', 'bad'], ['warning', 'warn'], ['warn', 'warn']]);
  return [
    h('div', { class: 'wb-outcome-head' }, h('h2', null, 'Findings'),
      h('span', { class: 'wb-muted' }, all.length ? plural(all.length, 'finding') : 'nothing that looks wrong')),
    h('ul', { class: 'wb-findings' }, all.slice(0, 100).map((each) => h('li', null,
      chip(each.severity, tones.get(each.severity) ?? 'plain'),
      each.turn ? button(`turn ${each.turn}`, () => ctx.show(0, each.turn ?? 1), { class: 'wb-btn wb-quiet' }) : null,
      h('span', null, each.text)))),
  ];
}

/** @param {Ctx} ctx */
function makeExtras(ctx) {
  const names = [['latency', 'Latency'], ['cost', 'Cost'], ['python', 'Python']];
  const panel = h('div', { class: 'wb-extra', role: 'tabpanel', id: ctx.id('extra') });
  const tabs = names.map(([name, text]) => h('button', {
    class: 'wb-tab', role: 'tab', 'aria-controls': ctx.id('extra'), onclick: () => ctx.change({ foot: name ?? 'latency' }),
  }, text));
  const python = makePython(ctx);
  let ends = new AbortController();

  function paint() {
    names.forEach(([name], index) => tabs[index]?.setAttribute('aria-selected', String(name === ctx.local.foot)));
    ends.abort();
    ends = new AbortController();
    if (ctx.local.foot === 'python') return fill(panel, python);
    const mine = ends.signal;
    if (!ctx.infos().length) return;
    ctx.source.summary(ctx.shown()).then((summary) => {
      if (!mine.aborted) fill(panel, ctx.local.foot === 'cost' ? costChart(summary) : latencyChart(ctx, summary, mine));
    }, (error) => { if (!mine.aborted && !isClosed(error)) fill(panel, h('p', { class: 'wb-none' }, error.message)); });
  }
  ctx.watch(['local.foot', 'shown', 'local.versions'], paint);
  ctx.signal.addEventListener('abort', () => ends.abort());
  queueMicrotask(paint);
  return h('section', { class: 'wb-extras', 'aria-label': 'summaries' },
    h('div', { class: 'wb-tabs', role: 'tablist', 'aria-label': 'summaries' }, tabs), panel);
}

/** @param {Ctx} ctx */
function makePython(ctx) {
  const code = h('pre', { class: 'wb-pre wb-python' });
  const copy = copyButton(() => String(ctx.model.get('python') ?? ''), 'the Python');
  const paint = () => say(code, String(ctx.model.get('python') || 'nothing was clicked yet'));
  ctx.watch(['python'], paint);
  paint();
  return h('div', { class: 'wb-python-box' }, code, copy);
}
