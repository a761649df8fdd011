import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeCallDeadline } from './compute-call-deadline.ts'
import { criServices } from './cri-methods.ts'
import type { CriMethod } from './cri-methods.ts'

const REQUEST_TIMEOUT_MS = 120_000

const special: Readonly<Record<string, readonly (readonly [request: object, expected: number | 'none'])[]>> = {
  runPodSandbox: [[{}, 240_000]],
  stopContainer: [
    [{ timeout: 0n }, 120_000],
    [{ timeout: 30n }, 150_000],
    [{ timeout: -5n }, 120_000],
  ],
  execSync: [
    [{ timeout: 0n }, 'none'],
    [{ timeout: 1n }, 121_000],
  ],
  checkpointContainer: [
    [{ timeout: 0n }, 120_000],
    [{ timeout: 300n }, 300_000],
  ],
  pullImage: [[{}, 'none']],
  getContainerEvents: [[{}, 'none']],
}

describe('computeCallDeadline()', () => {
  const all = [...Object.keys(criServices.runtime.methods), ...Object.keys(criServices.image.methods)] as CriMethod[]
  for (const method of all) {
    for (const [request, expected] of special[method] ?? [[{}, REQUEST_TIMEOUT_MS] as const]) {
      const shown = JSON.stringify(request, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
      test(`${method} ${shown} has ${expected}`, () => {
        assert.equal(computeCallDeadline(method, request as never, REQUEST_TIMEOUT_MS), expected)
      })
    }
  }

  test('all 41 calls have one', () => assert.equal(all.length, 41))
})
