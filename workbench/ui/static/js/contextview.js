/** Everything that went into a turn's request: all messages, tools and settings. */

import { h, chip } from './dom.js';
import { plural } from './text.js';
import { tableOf } from './values.js';
import { fold, jsonBox, messageBox, messageKey, sectionHead } from './message.js';

/** @import { Ctx } from './context.js' */
/** @import { ToolSpec, Turn } from './types.js' */

const AT_ONCE = 60;

/** @param {Ctx} ctx @param {Turn} turn the turn with all of its messages
 * @param {Turn} fresh the same with only those that are new or differ @returns {Node[]} */
export function contextView(ctx, turn, fresh) {
  return [messages(ctx, turn, fresh), tools(turn), settings(turn)].filter((part) => part !== null);
}

/** @param {Ctx} ctx @param {Turn} turn @param {Turn} fresh */
function messages(ctx, turn, fresh) {
  const known = new Set(fresh.saw.messages.map(messageKey));
  const all = turn.saw.messages.map((message) => (
    message.change === null && known.has(messageKey(message)) ? { ...message, change: 'new' } : message));
  const by = ['new', 'injected', 'changed', 'dropped', 'truncated']
    .map((change) => [change, all.filter((message) => message.change === change).length])
    .filter(([, n]) => n).map(([change, n]) => `${n} ${change}`);
  const note = [plural(turn.saw.total, 'message'), ...by].join(' · ');
  const early = all.slice(0, Math.max(0, all.length - AT_ONCE));
  return h('section', { class: 'wb-sec' },
    sectionHead('Messages', h('span', { class: 'wb-muted' }, note)),
    systemBox(ctx, turn),
    early.length > 0 && fold(`${plural(early.length, 'earlier message')}`,
      () => early.map((message) => messageBox(ctx, message))),
    all.slice(early.length).map((message) => messageBox(ctx, message)));
}

/** A system prompt that is no message, as some providers have it. @param {Ctx} ctx @param {Turn} turn */
function systemBox(ctx, turn) {
  if (!turn.system?.text || turn.saw.messages.some((message) => message.role === 'system')) return null;
  return messageBox(ctx, {
    n: 0, role: 'system', name: null, change: null, text: turn.system, calls: [],
    tool_call_id: null, images: null, words: null,
  });
}

/** @param {Turn} turn */
function tools(turn) {
  return h('section', { class: 'wb-sec' },
    sectionHead('Tools offered', h('span', { class: 'wb-muted' }, turn.tools.length || 'none')),
    turn.tools.map(toolBox));
}

/** @param {ToolSpec} tool */
function toolBox(tool) {
  return h('article', { class: 'wb-msg' },
    h('header', null, h('b', { class: 'wb-mono' }, tool.name)),
    tool.description && h('p', { class: 'wb-text' }, tool.description),
    parameters(tool));
}

/** @param {ToolSpec} tool */
function parameters(tool) {
  const properties = Object.entries(tool.schema?.properties ?? {});
  if (!properties.length) return h('p', { class: 'wb-none' }, tool.schema ? 'no parameters' : 'no schema');
  const needed = new Set(tool.schema?.required ?? []);
  return h('dl', { class: 'wb-kv' }, properties.flatMap(([name, schema]) => [
    h('dt', null, name),
    h('dd', null, h('span', { class: 'wb-leaf' }, schema.type ? String(schema.type) : 'any'), ' ',
      needed.has(name) && chip('required', 'plain'), ' ', schema.description ?? ''),
  ]));
}

/** @param {Turn} turn */
function settings(turn) {
  const settings = turn.parameters ?? {};
  if (!Object.keys(settings).length) return null;
  return h('section', { class: 'wb-sec' }, sectionHead('Settings'),
    jsonBox('settings', settings), turn.usage && h('div', null, sectionHead('Usage'), tableOf(turn.usage)));
}
