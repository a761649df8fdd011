/** A node:test reporter for long suites: all details of what failed, and nothing else. */
import { relative } from 'node:path'
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'

export default async function* quietReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    switch (event.type) {
      case 'test:fail': {
        const { type, error } = event.data.details
        // A suite fails with its tests, which speak for themselves, or in a hook.
        if (type === 'suite' && 'failureType' in error && error.failureType === 'subtestsFailed') break
        yield `not ok  ${relative('.', event.data.file ?? '?')}: ${event.data.name}\n${inspect(error.cause ?? error)}\n`
        break
      }
      case 'test:diagnostic':
        // What went wrong after the end of its test, or outside of all.
        if (/^(Error|Warning): /.test(event.data.message)) yield `${event.data.message}\n`
        break
      case 'test:stderr':
      case 'test:stdout':
        yield event.data.message
        break
      default:
    }
  }
}
