/** A turn: what the model saw, what it said, its tool calls beside their results. */

import { h, chip, copyButton } from './dom.js';
import { duration, hasLongNumber, plural } from './text.js';
import { copyText, tableOf, textBlock } from './values.js';
import { fold, messageBox, messageKey, sectionHead } from './message.js';

/** @import { Ctx } from './context.js' */
/** @import { Call, Turn } from './types.js' */

const SOURCES = new Map([
  ['live', 'live'], ['edited', 'edit'], ['fault', 'warn'],
]);

/** @param {Ctx} ctx @param {Turn} turn @returns {Node[]} */
export function turnView(ctx, turn) {
  return [alerts(turn), saw(ctx, turn), said(ctx, turn), about(turn)].flat();
}

/** @param {Turn} turn */
function alerts(turn) {
  const lines = [];
  if (turn.error) lines.push(['bad', 'error', turn.error]);
  if (turn.fault) lines.push(['warn', 'fault', turn.fault]);
  if (turn.open) lines.push(['warn', 'open', 'the run ended before this call had an answer']);
  return lines.map(([tone, word, text]) =>
    h('p', { class: `wb-line wb-line-${tone}` }, chip(word ?? '', tone ?? ''), h('span', null, text)));
}

/** @param {Ctx} ctx @param {Turn} turn */
function saw(ctx, turn) {
  const { total, shared, tokens, messages } = turn.saw;
  const notes = [plural(total, 'message')];
  const fresh = messages.filter((each) => each.change !== 'dropped').length;
  if (turn.saw.shared_with) notes.push(`${fresh} new since turn ${turn.saw.shared_with}`);
  if (tokens !== null && tokens !== undefined) notes.push(plural(tokens, 'token'));
  const folded = turn.folded ?? shared;
  return h('section', { class: 'wb-sec' },
    sectionHead('What the model saw', h('span', { class: 'wb-muted' }, notes.join(' · '))),
    folded > 0 && foldedMessages(ctx, turn, folded),
    messages.map((message) => messageBox(ctx, message)),
    messages.length === 0 && h('p', { class: 'wb-none' }, 'nothing new'));
}

/** The messages of earlier turns, fetched when they are opened. @param {Ctx} ctx @param {Turn} turn @param {number} folded */
function foldedMessages(ctx, turn, folded) {
  const trace = ctx.shown();
  return fold(`${plural(folded, 'message')} unchanged`, () => {
    const place = h('div', null, h('p', { class: 'wb-none' }, 'loading…'));
    ctx.client.ask({ do: 'turn', trace, n: turn.n, all: true }).then((/** @type {Turn} */ whole) => {
      const known = new Set(turn.saw.messages.map(messageKey));
      const rest = whole.saw.messages.filter((message) => !known.has(messageKey(message)));
      place.replaceChildren(...rest.map((message) => messageBox(ctx, { ...message, change: null })));
    }, (error) => {
      place.replaceChildren(h('p', { class: 'wb-line wb-line-bad' }, String(error.message)));
    });
    return [place];
  });
}

/** @param {Ctx} ctx @param {Turn} turn */
function said(ctx, turn) {
  const { text, reasoning, refusal, calls } = turn.said;
  const nothing = !text?.text && !refusal?.text && !calls.length && !turn.error;
  return h('section', { class: 'wb-sec' },
    sectionHead('What it said', sourceChip(turn), turn.findings.map((line) => chip(line, 'bad'))),
    reasoning?.text && fold(`reasoning, ${plural(reasoning.total, 'character')}`, () => [textBlock(ctx, reasoning)]),
    text?.text && textBox(ctx, 'text', text),
    refusal?.text && textBox(ctx, 'refusal', refusal),
    calls.map((call) => pair(ctx, call)),
    nothing && h('p', { class: 'wb-none' }, turn.open ? 'no answer yet' : 'an empty reply'));
}

/** @param {Turn} turn */
function sourceChip(turn) {
  const tone = SOURCES.get(turn.source);
  return tone ? chip(turn.source, tone, { title: turn.reason ?? '' }) : null;
}

/** @param {Ctx} ctx @param {string} what @param {import('./types.js').Clip} text */
function textBox(ctx, what, text) {
  return h('article', { class: `wb-msg ${what === 'refusal' ? 'wb-msg-dropped' : ''}` },
    h('header', null, h('b', null, what), h('span', { class: 'wb-grow' }), copyText(ctx, text, `the ${what}`)),
    textBlock(ctx, text));
}

/** A tool call and, beside it, what came back. @param {Ctx} ctx @param {Call} call */
function pair(ctx, call) {
  return h('div', { class: 'wb-pair' }, callBox(call), resultBox(ctx, call));
}

/** @param {Call} call */
function callBox(call) {
  const readable = call.arguments && !hasLongNumber(call.raw ?? '');
  return h('article', { class: 'wb-msg' },
    h('header', null, h('b', null, 'tool call'), h('span', { class: 'wb-mono' }, call.name),
      h('span', { class: 'wb-grow' }),
      call.again && chip(typeof call.again === 'number' ? `again, ${call.again}×` : 'again', 'bad', { title: 'called before with the same arguments' }),
      call.effect === 'write' && chip('write', 'warn', { title: 'this tool changes the world' }),
      copyButton(() => call.raw || JSON.stringify(call.arguments, null, 2), 'the arguments')),
    readable ? tableOf(call.arguments) : h('pre', { class: 'wb-pre' }, call.raw || 'no arguments'),
    call.error && h('p', { class: 'wb-line wb-line-bad' }, call.error),
    call.key && h('p', { class: 'wb-foot' }, 'key ', h('code', null, call.key)));
}

/** @param {Ctx} ctx @param {Call} call */
function resultBox(ctx, call) {
  const tone = SOURCES.get(call.source ?? '');
  return h('article', { class: `wb-msg ${call.result_error ? 'wb-msg-dropped' : ''}` },
    h('header', null, h('b', null, call.result_error ? 'error' : 'result'),
      tone && chip(call.source ?? '', tone), h('span', { class: 'wb-grow' }),
      h('span', { class: 'wb-mono' }, duration(call.duration_s)),
      call.result?.text && copyText(ctx, call.result, 'the result')),
    call.result_error && h('pre', { class: 'wb-pre wb-bad-text' }, call.result_error),
    call.result ? textBlock(ctx, call.result, { tree: true })
      : !call.result_error && h('p', { class: 'wb-none' }, 'no result in the trace'));
}

/** @param {Turn} turn */
function about(turn) {
  const first = turn.first_s === null || turn.first_s === undefined ? '' : `first token ${duration(turn.first_s)}`;
  const facts = [
    turn.model, turn.finish_reason && `finish: ${turn.finish_reason}`, duration(turn.duration_s), first,
    turn.cost, usageLine(turn.usage), turn.step && `step ${turn.step}`,
    turn.origin && `origin ${turn.origin}`, turn.reason, moment(turn.started), turn.where,
  ].filter(Boolean);
  return h('p', { class: 'wb-about' }, facts.map((fact) => h('span', null, fact)));
}

/** A time of day without its fraction. @param {string | null} iso */
function moment(iso) {
  return iso ? iso.replace('T', ' ').replace(/\.\d+/, '').replace('+00:00', ' UTC') : '';
}

/** @param {Turn['usage']} usage */
function usageLine(usage) {
  if (!usage) return '';
  return Object.entries(usage).filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([key, value]) => `${key.replaceAll('_', ' ')} ${value}`).join(', ');
}
