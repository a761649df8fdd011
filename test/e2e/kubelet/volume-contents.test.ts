import assert from 'node:assert/strict'
import { watch } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PodSpec } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'
import { TestObjects } from '../support/test-objects.ts'

const USER = 1000
const UPDATES = 1000
// A pod with a UID of its own keeps it when its manifest changes.
const UID = '7a0f0f9e-64c1-4c5b-9f0e-0d6a2a6e0001'

const CONTENTS: Partial<PodSpec> = {
  serviceAccountName: 'default',
  securityContext: { runAsUser: USER, runAsGroup: USER },
  volumes: [
    {
      name: 'map',
      configMap: {
        name: 'settings',
        defaultMode: 0o400,
        items: [
          { key: 'color', path: 'deep/color', mode: 0o444 },
          { key: 'blob', path: 'blob' },
        ],
      },
    },
    { name: 'whole', configMap: { name: 'settings' } },
    { name: 'login', secret: { secretName: 'login', defaultMode: 0o440 } },
    { name: 'self', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'all',
      projected: {
        defaultMode: 0o444,
        sources: [
          { configMap: { name: 'settings', items: [{ key: 'color', path: 'color' }] } },
          { secret: { name: 'login', items: [{ key: 'user', path: 'deep/user' }] } },
          { configMap: { name: 'missing', optional: true } },
          { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o404 }] } },
          { serviceAccountToken: { path: 'token' } },
        ],
      },
    },
    { name: 'no-map', configMap: { name: 'missing', optional: true } },
    { name: 'no-secret', secret: { secretName: 'missing', optional: true } },
    { name: 'no-key', configMap: { name: 'settings', optional: true, items: [{ key: 'missing', path: 'x' }] } },
  ],
}

const MOUNTS = [
  ...(CONTENTS.volumes ?? []).map(({ name }) => ({ name, mountPath: `/v/${name}` })),
  { name: 'whole', mountPath: '/v/copy', subPath: 'color' },
]

// Each line is "<path>=<mode> <user> <group> <content>", as the container itself sees it; content only where it may read.
const REPORT = `
for file in map/deep/color map/blob whole/color whole/blob copy login/user self/labels all/color all/deep/user all/name all/token; do
  echo "$file=$(stat -L -c '%a %u %g' /v/$file) $(cat /v/$file 2> /dev/null | tr '\\n' ';')"
done
for folder in map no-map no-secret no-key; do echo "$folder=$(ls /v/$folder | tr '\\n' ' ')"; done
echo "COLOR=$COLOR"; echo "USER_NAME=$USER_NAME"; echo "ALL_color=$ALL_color"; echo "NOTHING=$NOTHING"
`

/** Counts versions of two files that always say the same, through a directory that is held, until SIGTERM and once more. */
const READER = `
reads=0 versions=0 mixed=0 last= stopped=0 ends=0
trap 'stopped=1' TERM
echo started
while [ $ends = 0 ]; do
  ends=$stopped
  { cd /v/..data && read -r a < a && read -r b < d/b; } 2> /dev/null || { ends=0; continue; }
  reads=$((reads + 1))
  [ "$a" = "$b" ] || mixed=$((mixed + 1))
  [ "$a" = "$last" ] || { versions=$((versions + 1)); last=$a; }
done
echo "reads=$reads"; echo "versions=$versions"; echo "mixed=$mixed"; echo "last=$last"`

describe('contents of volumes', () => {
  let node: TestNode
  let objects: TestObjects
  let folder: string
  const left: Pod[] = []
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deckhand-contents-'))
    objects = await TestObjects.create(join(folder, 'objects'))
    await writeSettings('red')
    await objects.write('Secret', 'login', { data: { user: Buffer.from('ann').toString('base64') } })
    node = await TestNode.start(objects.agent)
  })
  after(async () => {
    for (const pod of left) await node.gone(pod)
    await node[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  async function writeSettings(color: string): Promise<void> {
    await objects.write('ConfigMap', 'settings', { data: { color }, binaryData: { blob: 'AQI=' } })
  }

  /** Ends a pod; nothing of it may be there at the end of all tests. */
  async function leave(name: string, pod: Pod): Promise<void> {
    await node.lab.manifests.remove(name)
    left.push(pod)
  }

  function contents(labels: Readonly<Record<string, string>>) {
    const ref = { name: 'settings', key: 'color' }
    const main = testContainer('main', `${REPORT}${scripts.obedient}`, {
      volumeMounts: MOUNTS,
      envFrom: [{ prefix: 'ALL_', configMapRef: { name: 'settings' } }],
      env: [
        { name: 'COLOR', valueFrom: { configMapKeyRef: ref } },
        { name: 'USER_NAME', valueFrom: { secretKeyRef: { name: 'login', key: 'user' } } },
        { name: 'NOTHING', valueFrom: { secretKeyRef: { name: 'missing', key: 'x', optional: true } } },
      ],
    })
    return testPod('contents', { ...CONTENTS, containers: [main] }, { uid: UID, labels })
  }

  test('items, modes, owners, what is optional, tokens and variables; changes reach the container in one step', async () => {
    await node.lab.manifests.write('contents', contents({ app: 'shop' }))
    const pod = await node.ready('contents')
    const { 'all/token': token = '', ...seen } = await node.report(pod)
    assert.deepEqual(seen, {
      'map/deep/color': '444 0 0 red',
      'map/blob': '400 0 0',
      'whole/color': '644 0 0 red',
      'whole/blob': '644 0 0 \u0001\u0002',
      copy: '644 0 0 red',
      'login/user': '440 0 0',
      'self/labels': '644 0 0 app="shop"',
      'all/color': '444 0 0 red',
      'all/deep/user': '444 0 0 ann',
      'all/name': '404 0 0 contents-lab',
      map: 'blob deep',
      'no-map': '',
      'no-secret': '',
      'no-key': '',
      COLOR: 'red',
      USER_NAME: 'ann',
      ALL_color: 'red',
      NOTHING: '',
    })
    assert.match(token, new RegExp(`^600 ${USER} 0 default\\.default\\.`))
    await changesReachIt(pod)
    await leave('contents', pod)
  })

  async function changesReachIt(pod: Pod): Promise<void> {
    const [container] = await node.running('contents')
    const swaps: string[] = []
    const volume = `${node.agent.rootDir}/pods/${pod.metadata.uid}/volumes/kubernetes.io~configmap/whole`
    const watcher = watch(volume, (_, file) => void swaps.push(file ?? ''))
    const cat = (file: string) => node.runIn('contents', ['cat', `/v/${file}`])
    await writeSettings('blue')
    await node.waitFor('the new color', async () => (await cat('whole/color')) === 'blue', 2000)
    await node.waitFor('the new color of items', async () => (await cat('map/deep/color')) === 'blue', 2000)
    await node.lab.manifests.write('contents', contents({ app: 'bar' }))
    await node.waitFor('the new label', async () => (await cat('self/labels')) === 'app="bar"', 2000)
    watcher.close()
    assert.equal(swaps.filter((file) => file === '..data').length, 1)
    assert.equal(await cat('copy'), 'red', 'a subPath of a volume is not updated')
    assert.deepEqual(
      (await node.running('contents')).map(({ id }) => id),
      [container?.id],
    )
  }

  test('what is missing is reported within a second, and the pod starts as soon as it is there, in volumes and in variables', async () => {
    const main = testContainer('main', `echo "value=$VALUE"; ${scripts.obedient}`, {
      volumeMounts: [{ name: 'late', mountPath: '/late' }],
      env: [{ name: 'VALUE', valueFrom: { configMapKeyRef: { name: 'late', key: 'value' } } }],
    })
    const spec = { volumes: [{ name: 'late', configMap: { name: 'late' } }], containers: [main] }
    const writtenAt = await node.lab.manifests.write('waits', testPod('waits', spec))
    await node.logged('default/waits-lab', 'FailedMount', 'configmap \\"late\\" not found')
    const ms = performance.timeOrigin + performance.now() - writtenAt
    assert.ok(ms < 1000, `it took ${ms} ms to report`)
    await objects.write('ConfigMap', 'late', { data: { other: 'x' } })
    const stuck = await node.podIs('waits', 'without its variable', ({ status }) => {
      return status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError'
    })
    assert.equal(
      stuck.status?.containerStatuses?.[0]?.state?.waiting?.message,
      `couldn't find key value in ConfigMap default/late`,
    )
    await objects.write('ConfigMap', 'late', { data: { value: 'here' } })
    const pod = await node.ready('waits', 3000)
    assert.deepEqual(await node.report(pod), { value: 'here' })
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0)
    await leave('waits', pod)
  })

  test(`a reader sees the old or the new, never a mix, during ${UPDATES} updates`, async (t) => {
    const write = (n: number) => objects.write('ConfigMap', 'fast', { data: { a: `${n}\n`, b: `${n}\n` } })
    const items = [
      { key: 'a', path: 'a' },
      { key: 'b', path: 'd/b' },
    ]
    const spec: Partial<PodSpec> = {
      volumes: [{ name: 'v', configMap: { name: 'fast', items } }],
      containers: [testContainer('main', READER, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
    }
    await write(0)
    await node.lab.manifests.write('reads', testPod('reads', spec))
    const pod = await node.ready('reads')
    for (let n = 1; n <= UPDATES; n += 1) {
      await write(n)
      await sleep(3)
    }
    await node.waitFor('the last', async () => (await node.runIn('reads', ['cat', '/v/a'])) === `${UPDATES}`)
    const [container] = await node.running('reads')
    // Its log goes with the pod, so it is ended behind the agent's back.
    await node.runtime.stopContainer({ containerId: container?.id ?? '', timeout: 30n }, new AbortController().signal)
    const { reads, versions, mixed, last } = await node.waitFor('what it counted', async () => {
      const report = await node.report(pod)
      return report['last'] !== undefined && report
    })
    t.diagnostic(`${reads} reads saw ${versions} of ${UPDATES} versions`)
    assert.deepEqual([mixed, last], ['0', `${UPDATES}`])
    assert.ok(Number(versions) > 20, `only ${versions} versions were seen`)
    await leave('reads', pod)
  })
})
