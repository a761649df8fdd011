/** A node:test reporter that writes one word per finished test; run-node-tests.ts adds them up. */
import type { TestEvent } from 'node:test/reporters'

export default async function* countReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    if (event.data.details.type === 'suite') continue
    if (event.type === 'test:fail') yield 'fail\n'
    else yield event.data.skip === undefined && event.data.todo === undefined ? 'pass\n' : 'skip\n'
  }
}
