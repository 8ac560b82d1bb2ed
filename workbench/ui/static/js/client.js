/** Requests to the kernel: each has an id and is answered or refused with the same id. */

/** @import { Model } from './types.js' */

/** After this time without an answer the page says that the kernel does not respond. */
export const PATIENCE_MS = 8000;

/** Requests that only read, so that asking a second time changes nothing. */
export const READS = new Set([
  'rows', 'timeline', 'turn', 'turns', 'text', 'raw', 'search', 'next', 'preview', 'plan', 'compare', 'summary',
]);

/** The kernel refused a request; the message is for people. */
export class Refused extends Error {}

/**
 * @typedef {{
 *   message: Record<string, unknown>, resolve: (data: any) => void,
 *   reject: (error: Error) => void, timer: ReturnType<typeof setTimeout>,
 *   binary: boolean,
 * }} Waiting
 *
 * @typedef {{
 *   ask: (message: { do: string, [key: string]: unknown }, how?: { binary?: boolean }) => Promise<any>,
 *   onSilence: (callback: (silent: boolean) => void) => void,
 *   retry: () => void,
 * }} Client
 */

/**
 * @param {Model} model @param {string} prefix makes ids that no other view uses
 * @param {AbortSignal} signal ends it
 * @returns {Client}
 */
export function makeClient(model, prefix, signal) {
  /** @type {Map<string, Waiting>} */
  const waiting = new Map();
  /** @type {(silent: boolean) => void} */
  let tell = () => {};
  let next = 0;

  /** @param {string} id @param {Waiting} entry */
  function post(id, entry) {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => tell(true), PATIENCE_MS);
    model.send({ ...entry.message, id });
  }

  /** @type {Client['ask']} */
  function ask(message, how = {}) {
    if (signal.aborted) return Promise.reject(new DOMException('the view is closed', 'AbortError'));
    const id = `${prefix}-${(next += 1)}`;
    return new Promise((resolve, reject) => {
      /** @type {Waiting} */
      const entry = {
        message, resolve, reject, timer: setTimeout(() => {}), binary: how.binary ?? false,
      };
      waiting.set(id, entry);
      post(id, entry);
    });
  }

  /** @param {any} answer @param {DataView[]} [buffers] */
  function receive(answer, buffers) {
    const entry = waiting.get(answer?.id);
    if (!entry) return;
    waiting.delete(answer.id);
    clearTimeout(entry.timer);
    tell(false);
    settle(entry, answer, buffers?.[0]);
  }

  function retry() {
    for (const [id, entry] of waiting) if (READS.has(String(entry.message.do))) post(id, entry);
  }

  model.on('msg:custom', receive);
  signal.addEventListener('abort', () => {
    model.off('msg:custom', receive);
    for (const entry of waiting.values()) {
      clearTimeout(entry.timer);
      entry.reject(new DOMException('the view is closed', 'AbortError'));
    }
    waiting.clear();
  });
  return { ask, retry, onSilence: (callback) => { tell = callback; } };
}

/** @param {Waiting} entry @param {any} answer @param {DataView} [buffer] */
function settle(entry, answer, buffer) {
  if (answer.ok !== true) {
    entry.reject(new Refused(String(answer.error ?? 'the kernel refused without a reason')));
  } else if (!buffer) {
    entry.resolve(answer.data);
  } else if (entry.binary) {
    entry.resolve(buffer);
  } else {
    try {
      entry.resolve(JSON.parse(new TextDecoder().decode(buffer)));
    } catch (error) {
      entry.reject(new Refused(`the kernel's answer is not JSON: ${String(error)}`));
    }
  }
}

/** Whether an error only says that the view was closed meanwhile. @param {unknown} error */
export function isClosed(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}
