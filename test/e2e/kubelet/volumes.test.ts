import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { PodSpec, Volume, VolumeMount } from '../../../src/model/generated/core-v1.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestObjects } from '../support/test-objects.ts'
import { TestNode } from '../support/test-node.ts'

const USER = 1000
const GROUP = 2000

const VOLUMES: readonly Volume[] = [
  { name: 'scratch', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  { name: 'settings', configMap: { name: 'settings', defaultMode: 0o400 } },
  { name: 'login', secret: { secretName: 'login', items: [{ key: 'user', path: 'deep/name', mode: 0o440 }] } },
  {
    name: 'self',
    downwardAPI: {
      items: [
        { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
        { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu', divisor: '1m' } },
      ],
    },
  },
  {
    name: 'all',
    projected: {
      sources: [
        { configMap: { name: 'settings', items: [{ key: 'color', path: 'color' }] } },
        { secret: { name: 'login' } },
        { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
      ],
    },
  },
  { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
  { name: 'unused', persistentVolumeClaim: { claimName: 'does-not-exist' } },
]

const MOUNTS: readonly VolumeMount[] = [
  { name: 'scratch', mountPath: '/scratch' },
  { name: 'scratch', mountPath: '/part', subPathExpr: 'parts/$(POD)' },
  { name: 'scratch', mountPath: '/locked', readOnly: true },
  { name: 'memory', mountPath: '/memory' },
  { name: 'host', mountPath: '/host' },
  { name: 'settings', mountPath: '/settings' },
  { name: 'settings', mountPath: '/one', subPath: 'color' },
  { name: 'login', mountPath: '/login' },
  { name: 'self', mountPath: '/self' },
  { name: 'all', mountPath: '/all' },
  { name: 'data', mountPath: '/data' },
]

// Each line is "<path>=<mode> <user> <group> <file system> <rw or ro>", as the container itself sees it; then contents.
const REPORT = `
for path in scratch part locked memory host settings login self all data; do
  echo "/$path=$(stat -c '%a %u %g' /$path/.) $(awk -v p=/$path '$5 == p { split($6, o, ","); t = $0; sub(/.* - /, "", t); split(t, f, " "); print f[1], o[1] }' /proc/self/mountinfo)"
done
for file in settings/color one login/deep/name self/labels self/cpu all/color all/user all/token data/old scratch/made host/seen; do
  echo "/$file=$(stat -L -c '%a %u %g' /$file) $(cat /$file | tr '\\n' ';')"
done
echo "groups=$(id -G)"
echo "size=$(df -k /memory | tail -n 1 | awk '{ print $2 }')"
touch /settings/x 2> /dev/null && echo settings=writable || echo settings=read-only
touch /locked/x 2> /dev/null && echo locked=writable || echo locked=read-only
echo written > /part/file; echo written > /data/new; echo written > /memory/file
`

describe('volumes of a pod', () => {
  let node: TestNode
  let objects: TestObjects
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deckhand-volumes-'))
    for (const name of ['disk', 'host']) await mkdir(join(folder, name))
    await writeFile(join(folder, 'disk', 'old'), 'kept')
    await writeFile(join(folder, 'host', 'seen'), 'of the node')
    objects = await TestObjects.create(join(folder, 'objects'))
    await objects.write('ConfigMap', 'settings', { data: { color: 'red', size: '1' } })
    await objects.write('Secret', 'login', { data: { user: Buffer.from('ann').toString('base64') } })
    await objects.write(
      'PersistentVolumeClaim',
      'data',
      { spec: { volumeName: 'pv-data' }, status: { phase: 'Bound' } },
      { uid: 'claim-1' },
    )
    const here = { key: 'kubernetes.io/hostname', operator: 'In', values: ['lab'] }
    await objects.write('PersistentVolume', 'pv-data', {
      spec: {
        local: { path: join(folder, 'disk') },
        accessModes: ['ReadWriteOncePod'],
        claimRef: { namespace: 'default', name: 'data', uid: 'claim-1' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
      },
    })
    // Measuring starts processes, which one of the tests counts.
    node = await TestNode.start({ ...objects.agent, config: { volumeStatsAggPeriod: '-1s' } })
  })
  after(async () => {
    await node[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  function everything(script: string): Partial<PodSpec> {
    const host = { name: 'host', hostPath: { path: join(folder, 'host'), type: 'Directory' } }
    const volumeMounts = [...MOUNTS]
    const main = testContainer('main', `${script}${scripts.obedient}`, {
      volumeMounts,
      env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
      resources: { limits: { cpu: '250m' } },
    })
    const init = testContainer('init', 'echo from init > /scratch/made', {
      volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
    })
    return {
      serviceAccountName: 'default',
      securityContext: { runAsUser: USER, runAsGroup: USER, fsGroup: GROUP },
      volumes: [...VOLUMES, host],
      initContainers: [init],
      containers: [main],
    }
  }

  test('plain ones need no process of the agent', async () => {
    const volumeMounts = ['scratch', 'settings'].map((name) => ({ name, mountPath: `/${name}` }))
    const spec: Partial<PodSpec> = {
      securityContext: { fsGroup: GROUP },
      volumes: VOLUMES.filter(({ name }) => name === 'scratch' || name === 'settings'),
      containers: [testContainer('main', scripts.obedient, { volumeMounts })],
    }
    await node.lab.manifests.write('plain', testPod('plain', spec))
    const pod = await node.ready('plain')
    assert.equal(await node.runIn('plain', ['cat', '/settings/color']), 'red')
    const { pid } = node.agent
    assert.equal((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim(), '')
    await node.lab.manifests.remove('plain')
    await node.gone(pod)
  })

  test('all kinds: the container sees contents, modes, owners and flags; changes reach it; nothing stays', async () => {
    await node.lab.manifests.write('all', testPod('all', everything(REPORT), { labels: { app: 'shop' } }))
    const pod = await node.ready('all')
    const { '/all/token': token = '', ...seen } = await node.report(pod)
    const diskFileSystem = seen['/scratch']?.split(' ')[3] ?? ''
    const disk = `${diskFileSystem} rw`
    assert.deepEqual(seen, {
      '/scratch': `2777 0 ${GROUP} ${disk}`,
      '/part': `2777 0 ${GROUP} ${disk}`,
      '/locked': `2777 0 ${GROUP} ${diskFileSystem} ro`,
      '/memory': `3777 0 ${GROUP} tmpfs rw`,
      '/host': seen['/host'],
      '/settings': `2777 0 ${GROUP} ${diskFileSystem} ro`,
      '/login': `3777 0 ${GROUP} tmpfs ro`,
      '/self': `3777 0 ${GROUP} tmpfs ro`,
      '/all': `3777 0 ${GROUP} tmpfs ro`,
      '/data': seen['/data'],
      '/settings/color': `440 0 ${GROUP} red`,
      '/one': `440 0 ${GROUP} red`,
      '/login/deep/name': `440 0 ${GROUP} ann`,
      '/self/labels': `644 0 ${GROUP} app="shop"`,
      '/self/cpu': `644 0 ${GROUP} 250`,
      '/all/color': `644 0 ${GROUP} red`,
      '/all/user': `644 0 ${GROUP} ann`,
      '/data/old': `664 0 ${GROUP} kept`,
      '/scratch/made': `644 ${USER} ${GROUP} from init;`,
      '/host/seen': '644 0 0 of the node',
      groups: `${USER} ${GROUP}`,
      size: '1024',
      settings: 'read-only',
      locked: 'read-only',
    })
    assert.match(token, new RegExp(`^640 ${USER} ${GROUP} default\\.default\\.`))
    assert.match(seen['/host'] ?? '', /^755 0 0 \S+ rw$/)
    assert.match(seen['/data'] ?? '', new RegExp(`^2775 0 ${GROUP} \\S+ rw$`))
    assert.equal(await readFile(join(folder, 'disk', 'new'), 'utf8'), 'written\n')

    await objects.write('ConfigMap', 'settings', { data: { color: 'blue', size: '1' } })
    await node.waitFor(
      'the new content',
      async () => (await node.runIn('all', ['cat', '/settings/color'])) === 'blue',
      10_000,
    )
    assert.equal(await node.runIn('all', ['cat', '/one']), 'red', 'a subPath of a volume is not updated')
    await objects.write('ConfigMap', 'settings', { data: { color: 'red', size: '1' } })

    assert.ok((await node.mountsOf(pod)).length > 0)
    await node.lab.manifests.remove('all')
    await node.gone(pod)
    assert.deepEqual((await readdir(join(folder, 'disk'))).sort(), ['new', 'old'])
    assert.deepEqual(await readdir(join(folder, 'host')), ['seen'])
  })

  test('what is missing holds the pod up and is reported, and the pod starts as soon as it is there', async () => {
    const spec: Partial<PodSpec> = {
      volumes: [{ name: 'late', configMap: { name: 'late' } }],
      containers: [testContainer('main', scripts.obedient, { volumeMounts: [{ name: 'late', mountPath: '/late' }] })],
    }
    await node.lab.manifests.write('waits', testPod('waits', spec))
    await node.logged(
      'default/waits-lab',
      'FailedMount',
      'MountVolume.SetUp failed for volume \\"late\\" : configmap \\"late\\" not found',
    )
    const pod = await node.podIs('waits', 'pending', ({ status }) => status?.phase === 'Pending')
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating')
    await objects.write('ConfigMap', 'late', { data: { key: 'value' } })
    await node.ready('waits', 5000)
    assert.equal(await node.runIn('waits', ['cat', '/late/key']), 'value')
    await node.lab.manifests.remove('waits')
    await node.gone(pod)
  })

  test('an agent that is killed finds them again; what goes meanwhile is taken away by the next one', async () => {
    await node.lab.manifests.write('stays', testPod('stays', everything('')))
    const pod = await node.ready('stays')
    await node.runIn('stays', ['sh', '-c', 'echo kept > /scratch/kept; echo kept > /memory/kept'])
    const before = await node.processes()
    const mounts = await node.mountsOf(pod)
    await node.agent.kill('SIGKILL')
    await node.startAgent()
    await node.agent.healthy()
    await node.ready('stays')
    assert.deepEqual(await node.processes(), before)
    assert.equal(await node.runIn('stays', ['cat', '/scratch/kept', '/memory/kept']), 'kept\nkept')
    assert.deepEqual(await node.mountsOf(pod), mounts)
    assert.equal(await node.runIn('stays', ['cat', '/settings/color']), 'red')

    await node.agent.kill('SIGKILL')
    await node.lab.manifests.remove('stays')
    await node.startAgent()
    await node.agent.healthy()
    await node.gone(pod)
    assert.equal((await stat(join(folder, 'disk', 'old'))).isFile(), true)
  })
})
