import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computeContainerAnnotations } from '../containers/compute-container-annotations.ts'
import { parseKeptSpec } from './parse-kept-spec.ts'

describe('parseKeptSpec()', () => {
  test('reads what containers are made with', () => {
    const preStop = { exec: { command: ['bye', 'now'] } }
    const ports = [{ name: 'web', containerPort: 80, protocol: 'TCP' }]
    const pod = createPod({ metadata: { deletionGracePeriodSeconds: 3 }, spec: { terminationGracePeriodSeconds: 40 } })
    const annotations = computeContainerAnnotations(pod, createContainer({ lifecycle: { preStop }, ports }), 0)
    assert.deepEqual(parseKeptSpec(annotations), {
      deletionGracePeriodSeconds: 3,
      terminationGracePeriodSeconds: 40,
      preStop,
      ports,
    })
  })

  test('reads times that mean for ever', () => {
    const preStop = { sleep: { seconds: 9223372036854775807n } }
    const spec = { terminationGracePeriodSeconds: 9223372036854775807n }
    const annotations = computeContainerAnnotations(createPod({ spec }), createContainer({ lifecycle: { preStop } }), 0)
    assert.equal(annotations['io.kubernetes.pod.terminationGracePeriod'], '9223372036854775807')
    assert.equal(annotations['io.kubernetes.container.preStopHandler'], '{"sleep":{"seconds":9223372036854775807}}')
    assert.deepEqual(parseKeptSpec(annotations), { terminationGracePeriodSeconds: 2147483647, preStop })
  })

  test('leaves out what is not there or makes no sense', () => {
    assert.deepEqual(parseKeptSpec({}), {})
    assert.deepEqual(
      parseKeptSpec({
        'io.kubernetes.pod.deletionGracePeriod': '-1',
        'io.kubernetes.pod.terminationGracePeriod': 'soon',
        'io.kubernetes.container.preStopHandler': '{',
        'io.kubernetes.container.ports': '[1]',
      }),
      {},
    )
  })
})
