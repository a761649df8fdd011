import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { joinPlacement } from './join-placement.ts'

const keeper = {
  hints: () => new Map(),
  podHints: () => new Map(),
  allocate: () => undefined,
  release: () => {},
  adopt: () => {},
  adoptRunning: async () => {},
  sourcesReady: () => {},
  wake: () => {},
  run: async () => {},
}
const cpus = { cpus: '2-3', exclusive: true }
const rows = [
  ['nothing, for a container that may run anywhere', undefined, '', undefined],
  ['CPUs alone', cpus, '', { ...cpus, mems: '' }],
  ['memory alone, with CPUs that others use too', undefined, '0', { cpus: '', exclusive: false, mems: '0' }],
  ['both', cpus, '0,1', { ...cpus, mems: '0,1' }],
] as const

for (const [what, own, mems, expected] of rows) {
  test(`joinPlacement() prepares ${what}`, async () => {
    const placement = joinPlacement({
      policy: undefined,
      others: [],
      cpus: { ...keeper, prepare: async () => own, hasExclusive: () => false },
      memory: { ...keeper, prepare: async () => mems },
      metrics: { podPlaced() {}, placementAligned() {} },
      clock: new FakeClock(),
    })
    assert.deepEqual(await placement.prepare(parsePodUid('u-1'), 'main'), expected)
  })
}
