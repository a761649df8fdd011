import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Container, Pod } from '../../model/generated/core-v1.ts'
import { computeBounds, listPorts, listProbes, listVolumes } from './compute-pod-details.ts'

const container = (more: object = {}): Container => ({ name: 'main', image: 'a', ...more })
const podOf = (spec: object, more: object = {}): Pod => ({ spec: { containers: [container()], ...spec }, ...more })
const resources = (cpu: string, memory?: string) => ({
  requests: { cpu, ...(memory !== undefined && { memory }) },
  limits: { cpu },
})

describe('computeBounds()', () => {
  test('adds up containers and sidecars, not what runs before them', () => {
    const pod = podOf({
      containers: [container({ resources: resources('250m', '1Gi') }), container({ resources: resources('1') })],
      initContainers: [
        container({ resources: resources('7') }),
        container({ resources: resources('500m'), restartPolicy: 'Always' }),
      ],
    })
    assert.deepEqual(computeBounds(pod, 'cpu'), { request: 1.75, limit: 1.75 })
    assert.deepEqual(computeBounds(pod, 'memory'), { request: 1024 ** 3, limit: undefined })
  })

  test('has no limit where one container has none, and that of the pod where it has one', () => {
    const containers = [container({ resources: resources('1') }), container()]
    assert.deepEqual(computeBounds(podOf({ containers }), 'cpu'), { request: 1, limit: undefined })
    const own = { limits: { cpu: '3' } }
    assert.deepEqual(computeBounds(podOf({ containers, resources: own }), 'cpu'), { request: 1, limit: 3 })
  })
})

test('listProbes() says what is asked, and how often', () => {
  const probes = listProbes(
    podOf({
      containers: [
        container({
          livenessProbe: { httpGet: { port: 'web', path: '/healthz', scheme: 'HTTPS' }, initialDelaySeconds: 5 },
          readinessProbe: { exec: { command: ['sh', '-c', 'true'] }, periodSeconds: 3, successThreshold: 2 },
        }),
      ],
    }),
  )
  assert.deepEqual(
    probes.map(({ type, question, terms }) => [type, question, terms]),
    [
      ['readiness', 'runs sh -c true', 'every 3 s, at most 1 s, bad after 3, good after 2'],
      ['liveness', 'GET https://the pod:web/healthz', 'every 10 s, at most 1 s, from 5 s on, bad after 3'],
    ],
  )
})

test('listVolumes() says what volumes are made of, and who has them where', () => {
  const volumes = listVolumes(
    podOf({
      containers: [container({ volumeMounts: [{ name: 'c', mountPath: '/etc/c', readOnly: true, subPath: 'x' }] })],
      volumes: [
        { name: 'c', configMap: { name: 'settings' } },
        { name: 'e', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
        { name: 'p', persistentVolumeClaim: { claimName: 'data' } },
      ],
    }),
  )
  assert.deepEqual(
    volumes.map(({ source }) => source),
    ['configMap settings', 'emptyDir Memory at most 1Gi', 'persistentVolumeClaim data'],
  )
  assert.deepEqual(volumes[0]?.mounts, [{ container: 'main', path: '/etc/c', note: 'read-only, only x' }])
})

test('listPorts() finds host ports and services that lead to a port, by its number or its name', () => {
  const pod = podOf(
    { containers: [container({ ports: [{ name: 'web', containerPort: 80, hostPort: 8080 }] })] },
    { metadata: { labels: { app: 'web', tier: 'front' } }, status: { hostIP: 'fd00::1' } },
  )
  const service = (name: string, selector: Readonly<Record<string, string>>, port: object) => ({
    metadata: { name },
    spec: { clusterIP: '10.0.0.9', selector, ports: [{ port: 81, ...port }] },
  })
  const ports = listPorts(pod, [
    service('a', { app: 'web' }, { targetPort: 'web', nodePort: 30_080 }),
    service('other', { app: 'db' }, { targetPort: 80 }),
    service('nobody', {}, { targetPort: 80 }),
    service('b', { tier: 'front' }, { targetPort: 9000 }),
  ])
  assert.deepEqual(
    ports.map(({ port, links }) => [port, links.map(({ address, by }) => `${address} ${by}`)]),
    [
      [80, ['[fd00::1]:8080 host port', '[fd00::1]:30080 service a, node port', '10.0.0.9:81 service a']],
      [9000, ['10.0.0.9:81 service b']],
    ],
  )
})
