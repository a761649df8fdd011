import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../test/builders/create-pod.ts'
import { computeKillGrace } from './compute-kill-grace.ts'
import type { KillCause } from './pod-actions.ts'

const probed = createContainer({
  livenessProbe: { terminationGracePeriodSeconds: 7 },
  startupProbe: { terminationGracePeriodSeconds: 60 },
})
const spec = { containers: [probed], terminationGracePeriodSeconds: 30 }

describe('computeKillGrace()', () => {
  const rows: readonly (readonly [
    name: string,
    pod: Parameters<typeof createPod>[0],
    cause: KillCause,
    grace: number,
  ])[] = [
    ["the liveness probe's own", { spec }, 'liveness', 7],
    ["the startup probe's own, also when it is longer", { spec }, 'startup', 60],
    ["the pod's for other causes", { spec }, 'changed', 30],
    [
      "the pod's when the probe has none",
      { spec: { ...spec, containers: [createContainer({ livenessProbe: {} })] } },
      'liveness',
      30,
    ],
    ['that of the deletion before all', { spec, metadata: { deletionGracePeriodSeconds: 3 } }, 'liveness', 3],
    ['two seconds when nobody says anything', {}, 'liveness', 2],
    ["a sidecar's", { spec: { initContainers: [probed], containers: [] } }, 'liveness', 7],
  ]
  for (const [name, pod, cause, grace] of rows) {
    test(name, () => assert.equal(computeKillGrace(createPod(pod), 'main', cause), grace))
  }
})
