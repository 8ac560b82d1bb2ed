/** What "run from here" will do, before it does it. */

import { h, button, fill } from './dom.js';
import { isClosed } from './client.js';
import { plural } from './text.js';

/** @import { Ctx } from './context.js' */
/** @import { Can, Plan, RunOptions } from './types.js' */

const BUSY = new Set(['running', 'asking', 'cancelling']);
const AFTER = [['deny', 'deny'], ['ask', 'ask me'], ['allow', 'allow']];
const BEFORE = [['replay', 'serve their results'], ['verify', 'run and compare'], ['live', 'run live']];

/** @param {Ctx} ctx */
export function makePlan(ctx) {
  const box = h('div', { class: 'wb-plan', role: 'status' });
  const guards = ctx.model.get('guards') ?? {};
  const after = choice(ctx, 'after', 'tools that write', AFTER, guards.tools_after ?? 'ask');
  const before = choice(ctx, 'before', 'tools before the cut', BEFORE, guards.tools_before ?? 'replay');
  const ripple = h('input', { type: 'checkbox', id: ctx.id('ripple') });
  const go = button('Run from here', () => void run(), { class: 'wb-btn wb-primary', title: 'run from here (Ctrl or ⌘ + Enter)' });
  const why = h('p', { class: 'wb-hint' },
    'To run from here, give the agent: ', h('code', null, 'Workbench(trace, agent=my_agent)'), '. Changes can be made and saved without it.');
  let timer = 0;
  let asked = 0;

  /** @returns {RunOptions} */
  const options = () => ({ tools_before: before.input.value, tools_after: after.input.value, ripple: ripple.checked });

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), 120);
  }

  async function load() {
    clearTimeout(timer);
    const n = ctx.selected();
    const mine = (asked += 1);
    if (n === 0 || ctx.signal.aborted) return;
    try {
      const plan = await ctx.client.ask({ do: 'plan', n, ...options() });
      if (mine === asked) fill(box, planText(plan, n));
    } catch (error) {
      if (mine === asked && !isClosed(error)) fill(box, h('span', { class: 'wb-bad-text' }, /** @type {Error} */ (error).message));
    }
  }

  function paint() {
    /** @type {Partial<Can>} */
    const can = ctx.model.get('can') ?? {};
    const busy = BUSY.has(ctx.model.get('run')?.state);
    const here = ctx.selected() > 0;
    go.disabled = busy || !here || !can.agent || can.run === false;
    why.hidden = can.agent === true;
    box.hidden = !here;
  }

  async function run() {
    ctx.pace.settle();
    if (go.disabled) return;
    go.disabled = true;
    try {
      if (!(await ctx.apply())) return paint();
      await ctx.client.ask({ do: 'run', n: ctx.selected(), ...options(), repeat: 1 });
    } catch (error) {
      ctx.fail(error);
    }
    paint();
  }

  for (const input of [after.input, before.input, ripple]) input.addEventListener('change', soon);
  ctx.onKey.set('run', () => void run());
  ctx.watchCalmly(['selected'], () => { paint(); void load(); });
  ctx.watch(['shown', 'edits', 'traces'], soon);
  ctx.watch(['shown', 'can', 'run'], paint);
  ctx.signal.addEventListener('abort', () => clearTimeout(timer));
  paint();
  soon();
  return h('section', { class: 'wb-plan-box', 'aria-label': 'plan' }, box,
    h('div', { class: 'wb-options' }, after.el, before.el,
      h('label', { class: 'wb-check', for: ctx.id('ripple') }, ripple, ' only what the edit changed')),
    why, h('div', { class: 'wb-inline' }, go, h('kbd', null, isMac() ? '⌘ Enter' : 'Ctrl Enter')));
}

/** @param {Ctx} ctx @param {string} name @param {string} text @param {string[][]} choices @param {string} start */
function choice(ctx, name, text, choices, start) {
  const input = h('select', { class: 'wb-in', id: ctx.id(name) }, choices.map(([value, label]) => h('option', { value }, label)));
  input.value = start;
  return { input, el: h('div', { class: 'wb-option' }, h('label', { for: ctx.id(name) }, text), input) };
}

/** @param {Plan} plan @param {number} n */
function planText(plan, n) {
  const live = plan.live === null || plan.live === undefined ? 'the rest' : `about ${plan.live}`;
  const edited = Array.isArray(plan.edited) ? plan.edited.length : plan.edited;
  return [
    h('p', { class: 'wb-plan-line' }, h('b', null, plan.served), ` ${plan.served === 1 ? 'call' : 'calls'} from the trace · `,
      edited ? [h('b', null, edited), ' edited · '] : '', h('b', null, live), ' live'),
    h('p', { class: 'wb-muted' }, [`from turn ${plan.cut ?? n}`, plan.cost && `cost ${plan.cost}`].filter(Boolean).join(' · ')),
    (plan.problems ?? []).map((text) => h('p', { class: 'wb-line wb-line-bad' }, text)),
    plan.lines?.length > 0 && h('details', null, h('summary', null, plural(plan.lines.length, 'line')),
      h('pre', { class: 'wb-pre' }, plan.lines.join('\n'))),
  ].flat();
}

function isMac() {
  return /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');
}
