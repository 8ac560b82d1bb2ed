import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isClosed, makeClient, PATIENCE_MS, Refused } from '../../workbench/ui/static/js/client.js';
import { fakeModel, utf8 } from './support/fake.js';

const silentKernel = () => fakeModel({}, { rows: () => undefined, edit: () => undefined, turn: () => undefined });

describe('requests', () => {
  beforeEach(() => { vi.useFakeTimers(); });
  afterEach(() => { vi.useRealTimers(); });

  /** Each answer reaches the one who asked, in whatever order the answers come. */
  it('pairs answers with requests by id', async () => {
    const model = silentKernel();
    const client = makeClient(model, 'v', new AbortController().signal);
    const first = client.ask({ do: 'rows', trace: 0 });
    const second = client.ask({ do: 'rows', trace: 1 });
    const [a, b] = model.sent;
    expect(a?.id).not.toBe(b?.id);
    model.answer({ id: b?.id, ok: true, data: 'second' });
    model.answer({ id: a?.id, ok: true, data: 'first' });
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });

  /** Two views of one model get only their own answers. */
  it('ignores answers to others', async () => {
    const model = silentKernel();
    const client = makeClient(model, 'v1', new AbortController().signal);
    const answer = client.ask({ do: 'rows' });
    model.answer({ id: 'v2-1', ok: true, data: 'of another view' });
    model.answer({ id: 'v1-1', ok: true, data: 'mine' });
    expect(await answer).toBe('mine');
  });

  /** A refusal carries the kernel's own words. */
  it('rejects what the kernel refuses', async () => {
    const model = fakeModel({}, { edit: () => { throw new Error('the call id is used twice'); } });
    const client = makeClient(model, 'v', new AbortController().signal);
    const refused = client.ask({ do: 'edit' }).catch((error) => error);
    await vi.runAllTimersAsync();
    expect(await refused).toBeInstanceOf(Refused);
    expect((await refused).message).toBe('the call id is used twice');
  });

  /** Large answers come as bytes; a text in them survives, lone surrogates too. */
  it('reads UTF-8 JSON from a buffer', async () => {
    const model = silentKernel();
    const client = makeClient(model, 'v', new AbortController().signal);
    const answer = client.ask({ do: 'turn' });
    model.answer({ id: 'v-1', ok: true, data: null }, [utf8({ text: 'né 👩‍👩‍👧 \ud800' })]);
    expect(await answer).toEqual({ text: 'né 👩‍👩‍👧 \ud800' });
  });

  /** Bytes that are no JSON are an error that says so, not a hang. */
  it('refuses bytes that are not JSON', async () => {
    const model = silentKernel();
    const client = makeClient(model, 'v', new AbortController().signal);
    const answer = client.ask({ do: 'turn' }).catch((error) => error);
    model.answer({ id: 'v-1', ok: true, data: null }, [new DataView(new TextEncoder().encode('{"a":').buffer)]);
    expect((await answer).message).toMatch(/^the kernel's answer is not JSON/);
  });

  /** A dead kernel is noticed after eight seconds, and a late answer takes it back. */
  it('says that the kernel is silent, until it speaks', async () => {
    const model = silentKernel();
    const client = makeClient(model, 'v', new AbortController().signal);
    /** @type {boolean[]} */
    const told = [];
    client.onSilence((silent) => told.push(silent));
    const answer = client.ask({ do: 'rows' });
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual([true]);
    model.answer({ id: 'v-1', ok: true, data: 'late' });
    expect(told).toEqual([true, false]);
    expect(await answer).toBe('late');
  });

  /** Asking again repeats only what changes nothing: an edit is never made twice. */
  it('asks again for readings only', () => {
    const model = silentKernel();
    const client = makeClient(model, 'v', new AbortController().signal);
    void client.ask({ do: 'rows' });
    void client.ask({ do: 'edit' });
    client.retry();
    expect(model.sent.map((each) => each.do)).toEqual(['rows', 'edit', 'rows']);
    expect(model.sent[2]?.id).toBe(model.sent[0]?.id);
  });

  /** A closed view listens to nothing, leaves no timer, and says why it gave up. */
  it('ends with its view', async () => {
    const model = silentKernel();
    const ends = new AbortController();
    const client = makeClient(model, 'v', ends.signal);
    const answer = client.ask({ do: 'rows' }).catch((error) => error);
    ends.abort();
    expect(isClosed(await answer)).toBe(true);
    expect(model.listeners.get('msg:custom')?.size).toBe(0);
    await vi.runAllTimersAsync();
    expect(vi.getTimerCount()).toBe(0);
    expect(isClosed(await client.ask({ do: 'rows' }).catch((error) => error))).toBe(true);
  });
});
