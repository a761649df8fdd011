/** A node:test reporter for long suites: a line per file, the whole story of what failed. */
import { relative } from 'node:path'
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'

export default async function* quietReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const passed = new Map<string, { count: number; ms: number }>()
  for await (const event of source) {
    switch (event.type) {
      case 'test:pass': {
        if (event.data.details.type === 'suite') break
        const file = fileOf(event.data.file)
        const seen = passed.get(file) ?? { count: 0, ms: 0 }
        passed.set(file, { count: seen.count + 1, ms: seen.ms + event.data.details.duration_ms })
        break
      }
      case 'test:fail': {
        if (event.data.details.type === 'suite') break
        const { error } = event.data.details
        yield `not ok  ${fileOf(event.data.file)}: ${event.data.name}\n${inspect(error.cause ?? error)}\n`
        break
      }
      case 'test:stderr':
      case 'test:stdout':
        yield event.data.message
        break
      default:
    }
  }
  for (const [file, { count, ms }] of passed) yield `    ${file}: ${count} passed (${Math.round(ms)} ms)\n`
}

function fileOf(file: string | undefined): string {
  return file === undefined ? '?' : relative('.', file)
}
