import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainerStatus } from '../../../test/builders/create-status-input.ts'
import type { ContainerState } from '../../model/generated/core-v1.ts'
import { computeTerminatedStatuses } from './compute-terminated-statuses.ts'

const states = {
  waits: { state: { waiting: {} } },
  waitsAgain: { state: { waiting: {} }, lastState: { terminated: { exitCode: 1 } } },
  runs: { state: { running: {} } },
  done: { state: { terminated: { exitCode: 0 } } },
} as const satisfies Record<string, { state: ContainerState; lastState?: ContainerState }>
type Name = keyof typeof states
const make = (names: readonly Name[]) => names.map((name) => createContainerStatus({ name, ...states[name] }))

interface Row {
  readonly init?: readonly Name[]
  readonly regular?: readonly Name[]
  readonly initialized?: boolean
  /** Exit codes afterwards; a dash where there is none. */
  readonly codes: string
}

const rows: Readonly<Record<string, Row>> = {
  'what ended stays': { init: ['done'], regular: ['done'], initialized: true, codes: '0 0' },
  'what should have ended is lost': { regular: ['runs', 'waits', 'waitsAgain'], codes: '137 137 137' },
  'regular containers that were never due stay': { init: ['runs'], regular: ['waits'], codes: '137 -' },
  'the first init container was due': { init: ['waits', 'waits'], regular: ['waits'], codes: '137 - -' },
  'so was every one up to the last that started': {
    init: ['done', 'waits', 'waitsAgain', 'waits'],
    codes: '0 137 137 -',
  },
  'all were due in a pod that had begun': {
    init: ['done', 'runs'],
    regular: ['runs'],
    initialized: true,
    codes: '0 137 137',
  },
}

describe('computeTerminatedStatuses()', () => {
  for (const [name, { init = [], regular = [], initialized = false, codes }] of Object.entries(rows)) {
    test(name, () => {
      const after = computeTerminatedStatuses({ init: make(init), regular: make(regular), initialized })
      const found = [...after.init, ...after.regular].map(({ state }) => state?.terminated?.exitCode ?? '-')
      assert.equal(found.join(' '), codes)
    })
  }

  test('says what happened', () => {
    const [status] = computeTerminatedStatuses({ init: [], regular: make(['runs']), initialized: true }).regular
    assert.deepEqual(status?.state, {
      terminated: {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: 'The container could not be located when the pod was terminated',
      },
    })
  })
})
