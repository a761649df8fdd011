/** A node:test reporter for run-node-tests.ts: a line of JSON for each finished test, and one at the end of all. */
import { relative, resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

export interface TestResult {
  readonly outcome: 'pass' | 'fail' | 'skip'
  /** Where the test is written. */
  readonly file: string
  readonly ms: number
  /** Why it was skipped, where it says so. */
  readonly reason?: string
}

/** How the reason of a skipped test begins that showed a refusal: what the runtime cannot do, and the agent says so. */
export const REFUSED = 'refused: '

/** The last line: without it the process left in the middle. */
export const END = 'end'

export default async function* resultReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type === 'test:summary') yield `${END}\n`
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file = '', name, skip, todo, details } = event.data
    // One that is skipped has no tests to report.
    if (details.type === 'suite' && skip === undefined) continue
    // A file without a test counts as one with node:test.
    if (event.type === 'test:pass' && resolve(name) === file) continue
    const passed = skip === undefined && todo === undefined ? 'pass' : 'skip'
    const outcome = event.type === 'test:fail' ? 'fail' : passed
    const reason = typeof skip === 'string' ? { reason: skip } : {}
    const result: TestResult = { outcome, file: relative('.', file), ms: details.duration_ms, ...reason }
    yield `${JSON.stringify(result)}\n`
  }
}
