import { describe, expect, it } from 'vitest';
import { clip, duration, hasLongNumber, parsedTree, visible } from '../../workbench/ui/static/js/text.js';
import { h } from '../../workbench/ui/static/js/dom.js';
import { tableOf, wordDiff } from '../../workbench/ui/static/js/values.js';

describe('texts', () => {
  /** What hides or reorders other text is shown by its name instead. */
  it('shows control, direction and surrogate characters', () => {
    expect(visible('\u001b[31mred')).toBe('⟨ESC⟩[31mred');
    expect(visible('a\u202eb\u0000\r')).toBe('a⟨RLO⟩b⟨NUL⟩⟨CR⟩');
    expect(visible('x\ud800y')).toBe('x⟨U+D800⟩y');
    expect(visible('y\udc00')).toBe('y⟨U+DC00⟩');
  });

  /** Ordinary text of any language stays as it is. */
  it('leaves the rest alone', () => {
    const text = 'tab\tline\n שלום 你好 👩‍👩‍👧 𝔘';
    expect(visible(text)).toBe(text);
  });

  /** A clipped text never ends in half of a character. */
  it('clips between characters', () => {
    expect(clip('ab👍', 3)).toBe('ab');
    expect(clip('ab👍', 4)).toBe('ab👍');
  });

  /** Markup in a trace stays text, wherever it is put. */
  it('never makes markup', () => {
    const evil = '<img src=x onerror=alert(1)></script>';
    const node = h('div', { title: evil }, evil, tableOf({ [evil]: evil }), wordDiff([['add', evil]]));
    expect(node.querySelectorAll('img, script')).toHaveLength(0);
    expect(node.textContent?.split(evil)).toHaveLength(5);
  });

  /** A number that JavaScript would round is shown as its text. */
  it('does not parse numbers that it would change', () => {
    expect(hasLongNumber('{"id": 12345678901234567890}')).toBe(true);
    expect(parsedTree('{"id": 12345678901234567890}')).toBeUndefined();
    expect(parsedTree('{"id": 12}')).toEqual({ id: 12 });
    expect(parsedTree('12')).toBeUndefined();
    expect(parsedTree('{broken')).toBeUndefined();
  });

  /** Times read well from a millisecond to hours. */
  it('writes durations', () => {
    expect([0.0001, 0.012, 0.44, 12.34, 125, 5410].map(duration))
      .toEqual(['<1 ms', '12 ms', '0.44 s', '12.3 s', '2 min 5 s', '1 h 30 min']);
    expect(duration(null)).toBe('');
  });

  /** Deep and long values end in a line or a button, and lose nothing. */
  it('folds large values', () => {
    const many = tableOf(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])));
    expect(many.querySelectorAll('dt')).toHaveLength(40);
    many.querySelector('button')?.click();
    many.querySelector('button')?.click();
    expect(many.querySelectorAll('dt')).toHaveLength(100);
    expect(tableOf({ a: { b: { c: { d: { e: 1 } } } } }).textContent).toContain('{"b":{"c":{"d":{"e":1}}}}');
    expect(tableOf({}).textContent).toBe('{ } no fields');
    expect(tableOf({ a: null, b: '', c: [] }).textContent).toBe('anullb""c[ ] empty list');
  });
});
