import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadFields } from '../../../test/fakes/load-settings.ts'
import { toPodLevel } from './to-pod-level.ts'

const ON = { featureGates: { PodLevelResourceManagers: true } }

describe('toPodLevel()', () => {
  for (const [name, fields, expected] of [
    ['nothing without the gate', { topologyManagerPolicy: 'restricted', topologyManagerScope: 'pod' }, 'off'],
    ['containers where nothing is placed', { ...ON, topologyManagerScope: 'pod' }, 'container'],
    ['containers in their scope', { ...ON, topologyManagerPolicy: 'best-effort' }, 'container'],
    ['pods in theirs', { ...ON, topologyManagerPolicy: 'best-effort', topologyManagerScope: 'pod' }, 'pod'],
  ] as const) {
    test(name, async () => assert.equal(toPodLevel(await loadFields(fields)), expected))
  }
})
