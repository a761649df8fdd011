import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { unmapCode } from './unmap-code.ts'

const readFilePages = () => Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1])

test('unmapCode() gives up pages of files, and the process goes on', () => {
  unmapCode()
  const before = readFilePages()
  // Fills them again: constants and code that nothing has used for long.
  void new Intl.DateTimeFormat('de', { dateStyle: 'full', timeZone: 'Asia/Tokyo' }).format(0)
  JSON.stringify(readFileSync(process.execPath, { flag: 'r' }).length)
  const filled = readFilePages()
  unmapCode()
  assert.ok(readFilePages() < Math.max(before, filled), `${before} kB, then ${filled}, then ${readFilePages()}`)
  assert.equal(new Intl.NumberFormat('de').format(1234.5), '1.234,5')
})
