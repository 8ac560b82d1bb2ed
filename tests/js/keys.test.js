import { afterEach, describe, expect, it } from 'vitest';
import { KEYS } from '../../workbench/ui/static/js/keys.js';
import { openPage, requestsOf, settled } from './support/page.js';

afterEach(() => { document.body.replaceChildren(); });

describe('keys', () => {
  /** Each key does what the help says. */
  it.each([
    ['j', 5], ['ArrowDown', 5], ['k', 3], ['ArrowUp', 3], ['Home', 1], ['End', 9],
  ])('%s goes to turn %i', async (key, turn) => {
    const { model, press } = await openPage();
    expect(press(key).defaultPrevented).toBe(true);
    expect(model.get('selected')).toBe(turn);
  });

  /** Errors are looked for by the kernel, forward and back. */
  it('n and N look for errors', async () => {
    const { model, press } = await openPage();
    press('n');
    press('N', { shiftKey: true });
    expect(requestsOf(model, 'next')).toMatchObject([{ from: 4, direction: 1, what: 'error' }, { from: 4, direction: -1 }]);
    await settled();
    expect(model.get('selected')).toBe(3);
  });

  /** Tabs, search and forms are reached without a mouse. */
  it('moves the focus where work is', async () => {
    const { press, one } = await openPage();
    press('3');
    await settled();
    expect(one('.wb-panel').textContent).toContain('streamed in 14 chunks');
    press('/');
    expect(document.activeElement).toBe(one('.wb-search'));
    press('e', { on: one('.wb-list-scroll') });
    await settled(60);
    expect(one('.wb-change').contains(document.activeElement)).toBe(true);
  });

  /** The overlay lists every key, and Escape closes it. */
  it('? shows the help', async () => {
    const { press, one } = await openPage();
    press('?');
    await settled();
    const help = one('[role="dialog"]');
    expect(help.hidden).toBe(false);
    for (const { what } of KEYS) expect(help.textContent).toContain(what);
    press('Escape', { on: help });
    await settled();
    expect(help.hidden).toBe(true);
    expect(document.activeElement).toBe(one('.wb-list-scroll'));
  });

  /** What is typed in a field is text: it moves nothing. */
  it('leaves typing alone', async () => {
    const { model, press, root } = await openPage();
    for (const field of root.querySelectorAll('input, textarea, select')) {
      for (const key of ['j', 'n', 'e', '?', '1', 'Home']) expect(press(key, { on: field }).defaultPrevented).toBe(false);
    }
    expect(model.get('selected')).toBe(4);
    expect(requestsOf(model, 'next')).toEqual([]);
  });

  /** No key reaches the notebook, whose `a` and `b` would insert cells. */
  it('never leaks a key', async () => {
    const { press, root } = await openPage();
    /** @type {string[]} */
    const leaked = [];
    document.body.addEventListener('keydown', (event) => leaked.push(event.key));
    for (const on of [root, ...root.querySelectorAll('button, input, [tabindex]')]) {
      for (const key of ['a', 'b', 'x', 'j', 'Escape', 'Enter']) press(key, { on });
    }
    expect(leaked).toEqual([]);
    const bare = [...root.querySelectorAll('button, input, select, textarea, summary, [tabindex]')]
      .filter((each) => !each.hasAttribute('data-lm-suppress-shortcuts'));
    expect(bare).toEqual([]);
  });

  /** The browser's and the system's own shortcuts stay theirs. */
  it('leaves shortcuts with a modifier alone', async () => {
    const { model, press } = await openPage();
    for (const init of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) expect(press('j', init).defaultPrevented).toBe(false);
    expect(model.get('selected')).toBe(4);
  });

  /** Arrows scroll the turn while it has the focus; j and k still step. */
  it('lets the turn scroll', async () => {
    const { model, press, one } = await openPage();
    expect(press('ArrowDown', { on: one('.wb-panel') }).defaultPrevented).toBe(false);
    press('j', { on: one('.wb-panel') });
    expect(model.get('selected')).toBe(5);
  });
});
