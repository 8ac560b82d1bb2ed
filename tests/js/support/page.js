/** Opening the page in jsdom, which lays nothing out and draws nothing. */

import widget from '../../../workbench/ui/static/js/widget.js';
import { fakeModel, requestsUnderWay } from './fake.js';

/** @import { Bag, FakeModel, Handler } from './fake.js' */

class NoResize {
  observe() {}

  unobserve() {}

  disconnect() {}
}
globalThis.ResizeObserver ??= /** @type {any} */ (NoResize);
HTMLCanvasElement.prototype.getContext = /** @type {any} */ (() => null);
HTMLElement.prototype.scrollIntoView ??= () => {};

/**
 * @param {Bag} [traits] @param {Record<string, Handler>} [handlers] @param {FakeModel} [model]
 */
export async function openPage(traits, handlers, model = fakeModel(traits, handlers)) {
  const el = document.createElement('div');
  document.body.append(el);
  const close = widget.render({ model, el });
  await settled();
  const root = /** @type {HTMLElement} */ (el.querySelector('.wb'));
  return { model, el, root, close, ...lookups(root) };
}

/** Answers and repaints that are under way come to rest. @param {number} [ms] wait this long first */
export async function settled(ms = 0) {
  const tick = (/** @type {number} */ wait) => new Promise((resolve) => { setTimeout(resolve, wait); });
  await tick(ms);
  for (let quiet = 0; quiet < 3; quiet += 1) {
    await tick(0);
    if (requestsUnderWay()) quiet = 0;
  }
}

/** @param {HTMLElement} root */
function lookups(root) {
  /** @param {string} selector @returns {HTMLElement} */
  const one = (selector) => {
    const found = root.querySelector(selector);
    if (!(found instanceof HTMLElement)) throw new Error(`no ${selector} in the page`);
    return found;
  };
  /** @param {string} text @returns {HTMLButtonElement} */
  const buttonOf = (text) => {
    const found = [...root.querySelectorAll('button')].find(
      (each) => each.textContent === text || each.getAttribute('aria-label') === text,
    );
    if (!found) throw new Error(`no button '${text}'`);
    return found;
  };
  /** @param {string} name @param {KeyboardEventInit & { on?: Element }} [init] */
  const press = (name, init = {}) => {
    const { on = one('.wb-list-scroll'), ...rest } = init;
    const event = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...rest });
    on.dispatchEvent(event);
    return event;
  };
  return { one, buttonOf, press };
}

/** The requests of one kind that a model was sent. @param {FakeModel} model @param {string} what */
export function requestsOf(model, what) {
  return model.sent.filter((request) => request.do === what);
}

/** Type into a field as a person does. @param {Element | null} field @param {string} text */
export function type(field, text) {
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement)) {
    throw new Error('no such field');
  }
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}
