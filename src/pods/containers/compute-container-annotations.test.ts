import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computeContainerAnnotations, containerLabels } from './compute-container-annotations.ts'

test('containerLabels() are exactly four', () => {
  assert.deepEqual(containerLabels(createPod({ metadata: { labels: { app: 'shop' } } }), 'main'), {
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'shop',
    'io.kubernetes.pod.uid': 'u-1',
    'io.kubernetes.container.name': 'main',
  })
})

describe('computeContainerAnnotations()', () => {
  test('the ones that are always there', () => {
    const container = createContainer({ name: 'test_container', image: 'foo/image:v1' })
    assert.deepEqual(computeContainerAnnotations(createPod(), container, 0), {
      'io.kubernetes.container.hash': '8e45cbd0',
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '',
      'io.kubernetes.container.terminationMessagePolicy': '',
    })
  })

  test('the ones that depend on the spec', () => {
    const pod = createPod({
      metadata: { deletionGracePeriodSeconds: 0 },
      spec: { terminationGracePeriodSeconds: 30 },
    })
    const container = createContainer({
      name: 'foo',
      image: 'bar',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      lifecycle: { preStop: { exec: { command: ['sh', '-c', 'a && b <c'] } } },
      ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
    })
    assert.deepEqual(computeContainerAnnotations(pod, container, 12), {
      'io.kubernetes.container.hash': '11a6d6d6',
      'io.kubernetes.container.restartCount': '12',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.deletionGracePeriod': '0',
      'io.kubernetes.pod.terminationGracePeriod': '30',
      'io.kubernetes.container.preStopHandler': String.raw`{"exec":{"command":["sh","-c","a \u0026\u0026 b \u003cc"]}}`,
      'io.kubernetes.container.ports': '[{"name":"http","containerPort":80,"protocol":"TCP"}]',
    })
  })
})
