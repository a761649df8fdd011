import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { notInCluster, StandaloneNode } from '../support/standalone-node.ts'
import { isReady } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

const configMap = (name: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

interface TokenReview {
  readonly status: { readonly authenticated?: boolean; readonly user?: { readonly username?: string } }
}

function condition(pod: Pod, type: string): string | undefined {
  return pod.status?.conditions?.find((each) => each.type === type)?.status
}

function container(pod: Pod) {
  const [status] = pod.status?.containerStatuses ?? []
  assert.ok(status, JSON.stringify(pod.status))
  return status
}

describe('pods of the API', { concurrency: 4 }, () => {
  let node: StandaloneNode
  let nodeName = ''
  before(async () => {
    node = await StandaloneNode.start({ hasAddress: true })
    nodeName = (await node.node()).metadata?.name ?? ''
  })
  after(async () => await node[Symbol.asyncDispose]())

  test('run, and the API shows their status', async () => {
    await node.apply(testPod('web'))
    const { metadata, spec, status } = await node.ready('web')
    assert.equal(spec.nodeName, nodeName)
    assert.deepEqual([status?.phase, status?.qosClass, status?.hostIP], ['Running', 'BestEffort', '10.99.0.1'])
    assert.match(status?.podIP ?? '', /^10\.88\./)
    assert.deepEqual(
      status?.conditions?.map(({ type, status: value }) => `${type}=${value}`).toSorted(),
      ['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'PodScheduled', 'Ready'].map(
        (type) => `${type}=True`,
      ),
    )
    const [main] = status?.containerStatuses ?? []
    assert.deepEqual([main?.name, main?.ready, main?.started, main?.restartCount], ['main', true, true, 0])
    assert.deepEqual(await node.labels((main?.containerID ?? '').replace(/^\w+:\/\//, '')), {
      'io.kubernetes.container.name': 'main',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': metadata.uid,
    })
    await node.waitFor('the events of the pod', async () => {
      const reasons = (await node.events('web')).map(({ reason }) => reason)
      return ['Pulled', 'Created', 'Started'].every((reason) => reasons.includes(reason))
    })
  })

  test('get values of ConfigMaps, Secrets and Services in their environment', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' }, stringData: { user: 'ann' } }
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'the-shop' },
      spec: { ports: [{ port: 8080 }], selector: { app: 'shop' } },
    }
    await node.apply(configMap('colors', { wall: 'red' }), secret, service)
    const main = testContainer('main', 'env', {
      env: [
        { name: 'WALL', valueFrom: { configMapKeyRef: { name: 'colors', key: 'wall' } } },
        { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      ],
      envFrom: [{ prefix: 'LOGIN_', secretRef: { name: 'login' } }],
    })
    await node.apply(testPod('environment', { restartPolicy: 'Never', enableServiceLinks: true, containers: [main] }))
    const pod = await node.podIs('environment', 'done', ({ status }) => status?.phase === 'Succeeded')
    const lines = await node.logLines(pod)
    for (const line of ['WALL=red', 'NODE_IP=10.99.0.1', 'LOGIN_user=ann', 'THE_SHOP_SERVICE_PORT=8080']) {
      assert.ok(lines.includes(line), `${line} in ${lines.join('\n')}`)
    }
    const { spec } = (await node.get<{ spec: { clusterIP: string } }>('/api/v1/namespaces/default/services/the-shop'))!
    assert.ok(lines.includes(`THE_SHOP_SERVICE_HOST=${spec.clusterIP}`))
  })

  test('wait for an object that is missing, and say so', async () => {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'late', key: 'a' } } }]
    await node.apply(testPod('waiting', { containers: [testContainer('main', scripts.obedient, { env })] }))
    const pod = await node.podIs('waiting', 'held up', ({ status }) => {
      return status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError'
    })
    assert.match(container(pod).state?.waiting?.message ?? '', /"late"/)
    await node.apply(configMap('late', { a: '1' }))
    await node.ready('waiting')
  })

  test('see ConfigMaps, Secrets, tokens and their own fields as files, and changes of them', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'door' }, stringData: { key: '4711' } }
    await node.apply(configMap('menu', { soup: 'tomato' }), secret)
    const token = { serviceAccountToken: { path: 'token', audience: 'shop', expirationSeconds: 600 } }
    const volumes = [
      { name: 'menu', configMap: { name: 'menu' } },
      { name: 'door', secret: { secretName: 'door', defaultMode: 0o400 } },
      { name: 'token', projected: { sources: [token] } },
      { name: 'self', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ]
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
    const main = testContainer('main', scripts.obedient, { volumeMounts })
    await node.apply(testPod('files', { volumes, containers: [main] }, { labels: { tier: 'front' } }))
    const pod = await node.ready('files')
    const read = (file: string) => node.runIn(pod, 'cat', file)
    assert.equal(await read('/menu/soup'), 'tomato')
    assert.equal(await read('/door/key'), '4711')
    assert.equal(await read('/self/labels'), 'tier="front"')
    const review = async (audience: string) => {
      const spec = { token: (await read('/token/token')).trim(), audiences: [audience] }
      const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }
      const path = '/apis/authentication.k8s.io/v1/tokenreviews'
      return (await node.create<TokenReview>(path, { ...kind, spec })).status
    }
    const { authenticated, user } = await review('shop')
    assert.deepEqual([authenticated, user?.username], [true, 'system:serviceaccount:default:default'])
    assert.notEqual((await review('bank')).authenticated, true)
    await node.apply(configMap('menu', { soup: 'leek' }))
    await node.kubectl('label', 'pod', 'files', '--overwrite', 'tier=back')
    await node.waitFor('the changed files', async () => {
      return (await read('/menu/soup')) === 'leek' && (await read('/self/labels')) === 'tier="back"'
    })
  })

  test('keep data in a claimed volume', async () => {
    const path = `${node.lab.folder}/disk`
    await mkdir(path)
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        resources: { requests: { storage: '1Gi' } },
      },
    }
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }]
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk-1' },
      spec: {
        capacity: { storage: '2Gi' },
        accessModes: ['ReadWriteOnce'],
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    }
    await node.apply(volume, claim)
    const main = testContainer('main', 'echo kept > /data/file', {
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    })
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await node.apply(testPod('writer', { restartPolicy: 'Never', volumes, containers: [main] }))
    await node.podIs('writer', 'done', ({ status }) => status?.phase === 'Succeeded')
    await node.kubectl('delete', 'pod', 'writer')
    assert.equal(await readFile(`${path}/file`, 'utf8'), 'kept\n')
  })

  test('end with their grace and their preStop hook', async () => {
    const path = `${node.lab.folder}/last-words`
    await mkdir(path)
    const main = testContainer('main', `trap 'echo term >> /words/all' TERM; while :; do sleep 1000 & wait $!; done`, {
      lifecycle: { preStop: { exec: { command: ['sh', '-c', 'echo hook >> /words/all'] } } },
      volumeMounts: [{ name: 'words', mountPath: '/words' }],
    })
    const volumes = [{ name: 'words', hostPath: { path } }]
    await node.apply(testPod('leaver', { terminationGracePeriodSeconds: 300, volumes, containers: [main] }))
    const { metadata } = await node.ready('leaver')
    await node.kubectl('delete', 'pod', 'leaver', '--grace-period=2', '--wait=false')
    const leaving = await node.get<Pod>('/api/v1/namespaces/default/pods/leaver')
    assert.equal(leaving?.metadata.deletionGracePeriodSeconds, 2)
    assert.notEqual(leaving?.metadata.deletionTimestamp, undefined)
    await node.gone('leaver')
    assert.equal(await readFile(`${path}/all`, 'utf8'), 'hook\nterm\n')
    // The object goes last.
    assert.deepEqual(await node.running(metadata.uid), [])
  })

  test('are ended when they are deleted by force', async () => {
    await node.apply(
      testPod('forced', {
        terminationGracePeriodSeconds: 2,
        containers: [testContainer('main', scripts.stubborn)],
      }),
    )
    const { metadata } = await node.ready('forced')
    await node.kubectl('delete', 'pod', 'forced', '--grace-period=0', '--force')
    assert.equal(await node.get('/api/v1/namespaces/default/pods/forced'), undefined)
    await node.waitFor('its container to end', async () => (await node.running(metadata.uid)).length === 0)
  })

  test('keep the exit codes they ended with', async () => {
    for (const [name, code] of [
      ['good', 0],
      ['bad', 3],
    ] as const) {
      const containers = [testContainer('main', scripts.exits(code))]
      await node.apply(testPod(name, { restartPolicy: 'Never', containers }))
    }
    const good = await node.podIs('good', 'done', ({ status }) => status?.phase === 'Succeeded')
    const bad = await node.podIs('bad', 'done', ({ status }) => status?.phase === 'Failed')
    assert.deepEqual(
      [good, bad].map((pod) => [container(pod).state?.terminated?.exitCode, container(pod).state?.terminated?.reason]),
      [
        [0, 'Completed'],
        [3, 'Error'],
      ],
    )
    assert.equal(condition(good, 'Ready'), 'False')
    assert.equal((await node.logLines(bad)).length, 1)
  })

  test('are rejected when they were given the node in spite of no room, no match or no port for them', async () => {
    const ports = [{ containerPort: 80, hostPort: 18_080 }]
    await node.apply(testPod('port-owner', { containers: [testContainer('main', scripts.obedient, { ports })] }))
    await node.ready('port-owner')
    const large = { resources: { requests: { cpu: '1000' } } }
    // Past any scheduler, which would let them wait.
    await node.apply(
      testPod('large', { nodeName, containers: [testContainer('main', scripts.obedient, large)] }),
      testPod('elsewhere', { nodeName, nodeSelector: { disk: 'fast' } }),
      testPod('port-taker', { nodeName, containers: [testContainer('main', scripts.obedient, { ports })] }),
    )
    for (const [name, reason] of [
      ['large', 'OutOfcpu'],
      ['elsewhere', 'NodeAffinity'],
      ['port-taker', 'NodePorts'],
    ] as const) {
      const pod = await node.podIs(name, 'rejected', ({ status }) => status?.phase === 'Failed')
      assert.equal(pod.status?.reason, reason)
      assert.deepEqual(await node.running(pod.metadata.uid), [])
    }
  })

  test('of manifests are shown by mirror pods, and may use ConfigMaps on the standalone node', async () => {
    await node.apply(configMap('for-static', { word: 'hello' }))
    const isAllowed = notInCluster('static pods of clusters may not') === false
    const fromMap = { configMapKeyRef: { name: 'for-static', key: 'word' } }
    const env = [{ name: 'WORD', ...(isAllowed ? { valueFrom: fromMap } : { value: 'hello' }) }]
    const containers = [testContainer('main', `echo $WORD; ${scripts.obedient}`, { env })]
    await node.writeManifest('static', testPod('static', { containers }))
    const name = `static-${nodeName}`
    const mirror = await node.ready(name)
    const staticUid = mirror.metadata.annotations?.['kubernetes.io/config.mirror']
    assert.match(staticUid ?? '', /^[0-9a-f]{32}$/)
    const text = await node.kubectl('logs', name)
    assert.match(text, /^hello\nstarted /)
    // The next one may be there before kubectl begins to wait for the end of this one.
    await node.kubectl('delete', 'pod', name, '--wait=false')
    const next = await node.podIs(name, 'back', (pod) => pod.metadata.uid !== mirror.metadata.uid && isReady(pod))
    assert.equal(container(next).containerID, container(mirror).containerID)
    await node.removeManifest('static')
    await node.gone(name)
  })

  test('are ready only when their gates are open', async () => {
    const type = 'example.com/warm'
    await node.apply(testPod('gated', { readinessGates: [{ conditionType: type }] }))
    const closed = await node.podIs('gated', 'running', (pod) => condition(pod, 'ContainersReady') === 'True')
    assert.equal(condition(closed, 'Ready'), 'False')
    const path = '/api/v1/namespaces/default/pods/gated'
    // The agent may write at the same time, and then this gets a conflict.
    await node.waitFor('the gate to be opened', async () => {
      const pod = await node.get<Pod>(path)
      const conditions = [...(pod?.status?.conditions ?? []), { type, status: 'True' }]
      await node.replace(`${path}/status`, { ...pod, status: { ...pod?.status, conditions } })
      return true
    })
    const open = await node.ready('gated')
    assert.equal(condition(open, type), 'True')
  })
})
