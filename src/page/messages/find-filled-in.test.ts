import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../model/generated/core-v1.ts'
import { findFilledIn } from './find-filled-in.ts'

const api = { name: 'kube-api-access-abcde', mountPath: '/var/run/secrets' }
const pod: Pod = {
  metadata: { name: 'web' },
  spec: {
    restartPolicy: 'Always',
    dnsPolicy: 'None',
    securityContext: {},
    containers: [
      {
        name: 'main',
        image: 'r.example:5000/web',
        imagePullPolicy: 'Always',
        terminationMessagePath: '/dev/termination-log',
        resources: {},
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        readinessProbe: { httpGet: { port: 80, scheme: 'HTTP' }, periodSeconds: 5, timeoutSeconds: 1 },
        volumeMounts: [{ name: 'data', mountPath: '/data' }, api],
      },
      { name: 'second', image: 'web:1', imagePullPolicy: 'Always' },
    ],
    volumes: [
      { name: 'data', configMap: { name: 'c', defaultMode: 420 } },
      { name: 'kube-api-access-abcde', projected: { sources: [] } },
    ],
    tolerations: [
      { key: 'own', operator: 'Exists' },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  },
}
const main = 'spec/containers/0'

describe('findFilledIn()', () => {
  test('finds what is as it would be by default, where it is not known what was written', () => {
    assert.deepEqual(findFilledIn(pod), {
      by: 'defaults',
      paths: new Set([
        'spec/restartPolicy',
        'spec/securityContext',
        `${main}/imagePullPolicy`,
        `${main}/terminationMessagePath`,
        `${main}/resources`,
        `${main}/ports/0/protocol`,
        `${main}/readinessProbe/httpGet/scheme`,
        `${main}/readinessProbe/timeoutSeconds`,
        `${main}/volumeMounts/1`,
        'spec/volumes/0/configMap/defaultMode',
        'spec/volumes/1',
        'spec/tolerations/1',
      ]),
    })
  })

  test('finds all that is not in what kubectl applied', () => {
    const given = { spec: { restartPolicy: 'Always', containers: [{ name: 'main', image: 'r.example:5000/web' }] } }
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(given) }
    const { by, paths } = findFilledIn({ ...pod, metadata: { annotations } })
    assert.equal(by, 'applied')
    assert.deepEqual(
      [
        'spec/restartPolicy',
        'spec/dnsPolicy',
        `${main}/name`,
        `${main}/ports`,
        'spec/containers/1',
        'spec/volumes',
      ].map((path) => paths.has(path)),
      [false, true, false, true, true, true],
    )
  })

  test('finds all that no client applied on the server', () => {
    const fieldsV1 = {
      'f:spec': {
        'f:containers': {
          'k:{"name":"main"}': {
            '.': {},
            'f:name': {},
            'f:image': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
        'f:dnsPolicy': {},
      },
    }
    const managedFields = [
      { operation: 'Apply', manager: 'me', fieldsV1 },
      { operation: 'Update', manager: 'kubelet', subresource: 'status', fieldsV1: {} },
    ]
    const { paths } = findFilledIn({ ...pod, metadata: { managedFields: managedFields } })
    assert.deepEqual(
      [
        'spec/dnsPolicy',
        'spec/restartPolicy',
        `${main}/image`,
        `${main}/ports/0/containerPort`,
        `${main}/ports/0/protocol`,
        'spec/containers/1',
      ].map((path) => paths.has(path)),
      [false, true, false, false, true, true],
    )
  })

  test('does not trust what it cannot read', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{' }
    assert.equal(findFilledIn({ ...pod, metadata: { annotations } }).by, 'defaults')
  })
})
