/**
 * The shapes that the page and the kernel exchange (docs/ui-protocol.md), as types.
 *
 * @typedef {{ text: string, ref: string | null, total: number }} Clip
 *   A text, clipped at its start when `total` is larger than what is here.
 *
 * @typedef {'ok' | 'bad' | 'warn'} Tone
 *
 * @typedef {{
 *   name: string, status: string, headline: string, tone: Tone, n_turns: number,
 *   duration_s: number | null, cost: string, model: string, path: string | null,
 *   saved: boolean, findings: { turn: number | null, severity: string, text: string }[],
 *   cut: number | null, edited_turns: number[],
 *   divergence: { turn: number | null, text: string } | null, output: unknown,
 *   tools_called: unknown, spent: string, parent?: number | null,
 * }} TraceInfo
 *
 * @typedef {{ index: number, kind: string, turn: number | null, text: string }} EditInfo
 * @typedef {{ undo: boolean, redo: boolean, run: boolean, agent: boolean }} Can
 *
 * @typedef {{
 *   id: string, tool: string, arguments: unknown, key: string | null,
 *   turn: number | null, text: string,
 * }} Question
 * @typedef {{
 *   turn: number | null, kind: string, name: string, how: string, reason: string, summary: string,
 * }} TailCall
 * @typedef {{
 *   state: string, done: number, expected: number | null, message: string,
 *   question: Question | null, tail: TailCall[],
 * }} RunState
 *
 * @typedef {{
 *   n: number, label: string, summary: string, step: string | null, duration_s: number | null,
 *   tone: string, marks: string[], source: string, open: boolean,
 * }} Row
 *
 * @typedef {{
 *   id: string | null, name: string, arguments: Record<string, unknown> | null, raw: string,
 *   error: string | null, effect: string | null, schema: Schema | null, entry: string | null,
 *   result: Clip | null, result_error: string | null, duration_s: number | null,
 *   source: string | null, again: boolean | number, key: string | null,
 * }} Call
 *
 * @typedef {{ name: string, arguments?: unknown, raw?: string, id?: string | null }} SaidCall
 *
 * @typedef {{
 *   n: number, role: string, name: string | null, change: string | null, text: Clip | null,
 *   calls: SaidCall[] | null, tool_call_id: string | null, images: number | unknown[] | null,
 *   words: [string, string][] | null,
 * }} Message
 *
 * @typedef {{ name: string, description: string | null, schema: Schema | null }} ToolSpec
 *
 * @typedef {{
 *   n: number, step: string | null, model: string | null, duration_s: number | null,
 *   first_s: number | null, cost: string | null, usage: Record<string, unknown> | null,
 *   source: string, origin: string | null, reason: string | null, started: string | null,
 *   where: string | null, error: string | null, fault: string | null, open: boolean,
 *   finish_reason: string | null,
 *   saw: {
 *     total: number, shared: number, shared_with: number | null, tokens: number | null,
 *     messages: Message[],
 *   },
 *   folded: number,
 *   said: {
 *     text: Clip | null, reasoning: Clip | null, refusal: Clip | null, calls: Call[],
 *   },
 *   parameters: Record<string, unknown> | null, system: Clip | null, tools: ToolSpec[],
 *   findings: string[],
 * }} Turn
 *
 * @typedef {{
 *   text: string, lines: string[], served: number, edited: number | number[], live: number | null,
 *   cost: string | null, cut: number | null, problems: string[],
 * }} Plan
 * @typedef {{ tools_before: string, tools_after: string, ripple: boolean }} RunOptions
 *
 * @typedef {{
 *   kind: string, a: number | null, b: number | null, text_a: string | null,
 *   text_b: string | null, what: string | null,
 * }} CompareRow
 * @typedef {{
 *   name: string, outcome: string, tone: string, turns: number, tools: unknown,
 *   cost: string, time: string | number | null,
 * }} CompareLine
 * @typedef {{ headline: string, rows: CompareRow[], table: CompareLine[] }} Comparison
 *
 * @typedef {{
 *   cost: { key: string, value: number | null, text: string }[],
 *   latency: { turn: number, duration_s: number | null, source: string, first_s: number | null }[],
 *   p50_s: number | null, p95_s: number | null,
 * }} Summary
 *
 * @typedef {{ [key: string]: any }} Schema
 *   A JSON Schema, as far as it is read here.
 *
 * @typedef {{
 *   get: (name: string) => any,
 *   set: (name: string, value: unknown) => void,
 *   save_changes: () => void,
 *   on: (name: string, callback: (...args: any[]) => void) => void,
 *   off: (name?: string | null, callback?: ((...args: any[]) => void) | null) => void,
 *   send: (content: any, callbacks?: any, buffers?: any) => void,
 * }} Model
 *   What the widget host offers.
 *
 * @typedef {Float32Array} Quads
 *   The timeline: start_s, duration_s, turn, code for each call.
 */
export {};
