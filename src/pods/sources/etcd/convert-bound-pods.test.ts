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
    assert.deepEqual(convertBoundPods([web]), [
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
    const [first, second] = convertBoundPods([{ creationTimestamp: '1970-01-01T00:01:00Z' }, { spec: {} }])
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

  test('passes on what makes no sense, so that it is reported', () => {
    const spec = (value: object) => convertBoundPods([{ id: 'a', spec: value }])[0]?.['spec'] as Record<string, unknown>
    const container = (value: object) => (spec({ containers: [value] })['containers'] as unknown[])[0]
    assert.deepEqual(
      convertBoundPods([null, 7]).map(({ metadata }) => metadata),
      [
        { name: '1', namespace: undefined, uid: undefined, labels: undefined, annotations: undefined },
        { name: '2', namespace: undefined, uid: undefined, labels: undefined, annotations: undefined },
      ],
    )
    assert.deepEqual(convertBoundPods([{ id: 'a', spec: 'x' }])[0]?.['spec'], 'x')
    assert.deepEqual(spec({ containers: 'x', volumes: 'y', restartPolicy: 7 }), {
      containers: 'x',
      volumes: 'y',
      restartPolicy: 7,
    })
    assert.deepEqual(spec({ containers: ['x', null], volumes: ['y'], restartPolicy: { sometimes: {} } }), {
      containers: ['x', null],
      volumes: ['y'],
      restartPolicy: 'sometimes',
    })
    assert.deepEqual(
      spec({
        volumes: [
          { name: 'v', source: 'x' },
          { name: 'w', source: { floppy: {} } },
        ],
      })['volumes'],
      [
        { name: 'v', source: 'x' },
        { name: 'w', floppy: {} },
      ],
    )
    const nonsense = { cpu: 'much', memory: -1, privileged: 'yes', env: 'x', livenessProbe: 'x', imagePullPolicy: 7 }
    assert.deepEqual(container(nonsense), nonsense)
    assert.deepEqual(container({ env: ['x', { key: 'A', value: '1', secret: 'b' }] }), {
      env: ['x', { name: 'A', value: '1', secret: 'b' }],
    })
  })

  test('takes null for what is not there', () => {
    const empty = { cpu: 0, memory: null, privileged: false, env: null, livenessProbe: null, imagePullPolicy: '' }
    const spec = { containers: [empty], volumes: null, restartPolicy: { always: {}, never: null } }
    assert.deepEqual(convertBoundPods([{ id: 'a', spec }])[0]?.['spec'], { containers: [{}], restartPolicy: 'Always' })
  })
})
