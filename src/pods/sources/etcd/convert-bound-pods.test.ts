import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { convertBoundPods } from './convert-bound-pods.ts'

describe('convertBoundPods()', () => {
  test('gives the pods of the first kubelets the shape of today', () => {
    const web = {
      id: 'web',
      uid: 'u-1',
      namespace: 'shop',
      creationTimestamp: '2014-11-20T10:00:00Z',
      annotations: { team: 'a' },
      spec: {
        restartPolicy: { onFailure: {} },
        nodeSelector: { disk: 'ssd' },
        volumes: [
          { name: 'data', source: { hostDir: { path: '/srv' }, emptyDir: null } },
          { name: 'tmp', source: null },
        ],
        containers: [
          {
            name: 'main',
            image: 'busybox',
            command: ['httpd', '-f'],
            ports: [{ containerPort: 80, hostPort: 8080 }],
            env: [{ key: 'A', name: 'A', value: '1' }],
            memory: 1024,
            cpu: 250,
            privileged: true,
            imagePullPolicy: 'PullIfNotPresent',
            volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
            livenessProbe: { type: 'http', httpGet: { path: '/', port: 80 }, initialDelaySeconds: 5 },
          },
        ],
      },
    }
    assert.deepEqual(convertBoundPods({ kind: 'BoundPods', items: [web] }), [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', namespace: 'shop', uid: 'u-1', labels: undefined, annotations: { team: 'a' } },
        spec: {
          nodeSelector: { disk: 'ssd' },
          restartPolicy: 'OnFailure',
          volumes: [{ name: 'data', hostPath: { path: '/srv' } }, { name: 'tmp' }],
          containers: [
            {
              name: 'main',
              image: 'busybox',
              ports: [{ containerPort: 80, hostPort: 8080 }],
              volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
              args: ['httpd', '-f'],
              env: [{ name: 'A', value: '1' }],
              resources: { limits: { cpu: '250m', memory: '1024' } },
              securityContext: { privileged: true },
              imagePullPolicy: 'IfNotPresent',
              livenessProbe: { httpGet: { path: '/', port: 80 }, initialDelaySeconds: 5 },
            },
          ],
        },
      },
    ])
  })

  test('names pods without an id by their place, and takes the time of creation for a UID', () => {
    const [first, second] = convertBoundPods({ items: [{ creationTimestamp: '1970-01-01T00:01:00Z' }, { spec: {} }] })
    const names = [first, second].map((pod) => pod?.['metadata'] as { readonly name: string; readonly uid?: string })
    assert.deepEqual(
      names.map(({ name, uid }) => [name, uid]),
      [
        ['1', '60'],
        ['2', undefined],
      ],
    )
    assert.deepEqual(first?.['spec'], { containers: [], restartPolicy: 'Always' })
  })

  test('takes nonsense for no pods', () => {
    for (const items of [undefined, null, 7, 'x', [null, 7]]) assert.deepEqual(convertBoundPods({ items }), [])
  })
})
