import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatAge, formatBytes, formatCores, shortenWhy, toVisible } from '../../../src/page/client/format.ts'

describe('what is shown', () => {
  test('numbers as Kubernetes writes them', () => {
    assert.deepEqual([formatCores(0.25), formatCores(1.5)], ['250m', '1.50'])
    assert.deepEqual([formatBytes(0), formatBytes(1536), formatBytes(5 * 1024 ** 3)], ['0 B', '1.5 KiB', '5.0 GiB'])
    const now = Date.parse('2026-01-10T00:00:00Z')
    const age = (seconds: number) => formatAge(new Date(now - seconds * 1000).toISOString(), now)
    assert.deepEqual([age(5), age(185), age(7500), age(260_000)], ['5s', '3m5s', '2h5m', '3d'])
  })

  test('of a crash loop the cause comes first, where there is one line', () => {
    const start = 'Waits: container "main" CrashLoopBackOff: '
    const wait = 'back-off 20s restarting failed container=main pod=crash_default(054ca405-7d2d): '
    const cause = 'restarted 2 times, last exited with 3, 14 s ago; next check in 6.7 s'
    assert.equal(shortenWhy(`${start}${wait}${cause}`), `"main" ${cause}`)
    assert.equal(shortenWhy('Runs and is ready'), 'Runs and is ready')
    assert.equal(shortenWhy(`${start}${cause}`), `${start}${cause}`)
  })

  test('nothing of a container moves or hides other text', () => {
    assert.equal(toVisible('\u001B[31mred\u001B[0m \u001B]0;title\u0007ok'), 'red ok')
    assert.equal(toVisible('a\u202Eb\u0008c\u009B'), 'a·b·c·')
  })
})
