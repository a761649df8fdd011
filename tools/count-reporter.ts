/** A node:test reporter that writes one line per finished test: how it ended, and where if badly; run-node-tests.ts adds them up. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

export default async function* countReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    if (event.data.details.type === 'suite') continue
    if (event.type === 'test:fail') yield `fail ${relative('.', event.data.file ?? '')}\n`
    else yield event.data.skip === undefined && event.data.todo === undefined ? 'pass\n' : 'skip\n'
  }
}
