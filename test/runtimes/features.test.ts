/** What newer runtimes bring, as pods see it. On a runtime that has it not, the pod is refused with the reason, or the case does not apply. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { connect } from 'node:tls'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import type { Container, PodSpec } from '../../src/model/generated/core-v1.ts'
import type { RuntimeFeatures } from '../../src/model/pod/runtime-features.ts'
import { machineArchitecture, readNodeImages } from '../../src/standalone/images/import-images.ts'
import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { createOciArchive } from '../../src/standalone/images/oci-archive.ts'
import { FakeDevicePlugin } from '../fakes/fake-device-plugin.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { assertRejected, hasMethod, notApplicable, refused } from './outcomes.ts'

const never = new AbortController().signal
const GROUPED_IMAGE = 'deckhand.local/grouped:1'
const GPU = 'example.com/gpu'
const gates = { ContainerStopSignals: true, CRIListStreaming: true, PodAndContainerStatsFromCRI: true }

describe('what this runtime can do', () => {
  let node: TestNode
  let features: RuntimeFeatures

  before(async () => {
    node = await TestNode.start({ config: { featureGates: gates } })
    features = await node.features()
  })
  after(() => node[Symbol.asyncDispose]())

  async function write(name: string, spec: Partial<PodSpec>): Promise<void> {
    await node.lab.manifests.write(name, testPod(name, spec))
  }

  const withVolume = (volumeMount: object, fields: Partial<Container> = {}) => [
    testContainer('main', scripts.obedient, {
      volumeMounts: [{ name: 'data', mountPath: '/data', ...volumeMount }],
      ...fields,
    }),
  ]

  const imageVolume = [{ name: 'data', image: { reference: BUSYBOX_IMAGE, pullPolicy: 'Never' } }]

  test('an image is a volume', async (t) => {
    await write('image', { volumes: imageVolume, containers: withVolume({}) })
    if (features.imageVolumes === 'none')
      return await assertRejected(
        t,
        node,
        'image',
        /spec\.volumes\[0\]\.image: the container runtime cannot mount images/,
      )
    await node.ready('image')
    assert.match(await node.runIn('image', ['cat', '/data/etc/group']), /^root:x:0:/)
    const touched = await node.runIn('image', ['sh', '-c', 'touch /data/x 2> /dev/null && echo yes || echo no'])
    assert.equal(touched, 'no')
  })

  test('a part of an image is a volume', async (t) => {
    await write('part', { volumes: imageVolume, containers: withVolume({ subPath: 'etc' }) })
    if (features.imageVolumes !== 'parts') return await assertRejected(t, node, 'part', /image/)
    await node.ready('part')
    assert.match(await node.runIn('part', ['cat', '/data/group']), /^root:x:0:/)
  })

  test('a pod has users of its own', async (t) => {
    const containers = withVolume({}, { command: ['sh', '-c', `echo mine > /data/file; ${scripts.obedient}`] })
    await write('users', { hostUsers: false, volumes: [{ name: 'data', emptyDir: {} }], containers })
    if (features.handlers.get('')?.userNamespaces !== true)
      return await assertRejected(
        t,
        node,
        'users',
        /spec\.hostUsers: the container runtime does not support user namesp/,
      )
    const pod = await node.ready('users')
    const [container] = await node.running('users')
    const { pid } = await node.inspect(container?.id ?? '')
    const outside = await node.lab.outerPid(pid)
    const uids = /^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${outside}/status`, 'utf8'))
    assert.ok(Number(uids?.[1]) >= 65_536, `uid ${uids?.[1]} outside`)
    const map = await node.runIn('users', ['cat', '/proc/self/uid_map'])
    assert.deepEqual(map.trim().split(/\s+/), ['0', uids?.[1], '65536'])
    assert.equal(await node.runIn('users', ['stat', '-c', '%u:%g', '/data/file']), '0:0')
    // The mount translates: on the node it belongs to whom the volume belongs to.
    const file = `${node.agent.rootDir}/pods/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/data/file`
    assert.equal(statSync(file).uid, 0)
    const other = testPod('more-users', { hostUsers: false })
    await node.lab.manifests.write('more-users', other)
    await node.ready('more-users')
    assert.notEqual(await node.runIn('more-users', ['cat', '/proc/self/uid_map']), map)
  })

  test('a device of a plugin comes by its CDI name', async (t) => {
    const { runtimeVersion } = await node.runtime.version({ version: '0.1.0' }, never)
    if (/^v?1\.[0-6]\./.test(runtimeVersion)) return notApplicable(t, 'containerd has CDI from 1.7 on')
    const edits = { env: ['CDI=yes'], deviceNodes: [{ path: '/dev/gpu', hostPath: '/dev/zero' }] }
    await writeCdiSpec('a', edits)
    const folder = `${node.agent.rootDir}/device-plugins`
    await node.waitFor('the socket for plugins', async () => existsSync(`${folder}/kubelet.sock`))
    using plugin = await FakeDevicePlugin.start({
      folder,
      ids: ['a'],
      allocation: (ids) => ({ cdiDevices: ids.map((id) => ({ name: `${GPU}=${id}` })) }),
    })
    await plugin.register()
    await node.waitFor('the plugin', async () => plugin.asked.includes('list'))
    const amounts = { [GPU]: '1' }
    const resources = { limits: amounts, requests: amounts }
    await write('gpu', { containers: [testContainer('main', scripts.obedient, { resources })] })
    await node.ready('gpu')
    assert.equal(await node.runIn('gpu', ['sh', '-c', 'echo $CDI; head -c 2 /dev/gpu | wc -c']), 'yes\n2')
  })

  /** As a vendor's tool leaves it on the machine. */
  async function writeCdiSpec(device: string, containerEdits: object): Promise<void> {
    const spec = { cdiVersion: '0.5.0', kind: GPU, devices: [{ name: device, containerEdits }] }
    const file = `${node.lab.folder}/cdi.json`
    await writeFile(file, JSON.stringify(spec))
    await node.lab.runInside(['mkdir', '-p', '/run/cdi'])
    await node.lab.runInside(['cp', file, '/run/cdi/example.json'])
  }

  test('events come from CRI', async (t) => {
    const line = await node.logged('runtime events are streaming')
    if (!line.includes('source="cri"'))
      return notApplicable(t, 'the runtime has no events of CRI; those of containerd are used')
    await write('short', { restartPolicy: 'Never', containers: [testContainer('main', scripts.exits(3))] })
    const pod = await node.podIs('short', 'Failed', ({ status }) => status?.phase === 'Failed', 10_000)
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3)
  })

  test('read-only mounts are so below them too', async (t) => {
    const folder = `${node.lab.folder}/shared`
    await mkdir(`${folder}/below`, { recursive: true })
    await node.lab.runInside(['mount', '-t', 'tmpfs', 'below', `${folder}/below`])
    const volumes = [{ name: 'data', hostPath: { path: folder } }]
    await write('deep', { volumes, containers: withVolume({ readOnly: true, recursiveReadOnly: 'Enabled' }) })
    if (features.handlers.get('')?.recursiveReadOnlyMounts !== true) {
      const isWaiting = 'CreateContainerConfigError'
      const pod = await node.podIs('deep', 'refused', ({ status }) =>
        [status?.containerStatuses?.[0]?.state?.waiting?.reason].includes(isWaiting),
      )
      const message = pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? ''
      assert.match(message, /not supported by the runtime/)
      return refused(t, message)
    }
    const pod = await node.ready('deep')
    const touch = 'touch /data/below/x 2> /dev/null && echo yes || echo no'
    assert.equal(await node.runIn('deep', ['sh', '-c', touch]), 'no')
    const mount = pod.status?.containerStatuses?.[0]?.volumeMounts?.find(({ name }) => name === 'data')
    assert.equal(mount?.recursiveReadOnly, 'Enabled')
  })

  test('groups are those of the spec alone', async (t) => {
    await importGrouped()
    const containers = [testContainer('main', scripts.obedient, { image: GROUPED_IMAGE })]
    const user = { runAsUser: 65_534, runAsGroup: 65_534, supplementalGroups: [5000] }
    await write('merged', { containers, securityContext: user })
    await node.ready('merged')
    assert.equal(await node.runIn('merged', ['id', '-G']), '65534 4000 5000')
    await write('strict', { containers, securityContext: { ...user, supplementalGroupsPolicy: 'Strict' } })
    if (!features.supplementalGroupsPolicy)
      return await assertRejected(t, node, 'strict', /SupplementalGroupsPolicy=Strict is not supported in this node/)
    const pod = await node.ready('strict')
    assert.equal(await node.runIn('strict', ['id', '-G']), '65534 5000')
    const { supplementalGroups = [] } = pod.status?.containerStatuses?.[0]?.user?.linux ?? {}
    assert.deepEqual(
      supplementalGroups.toSorted((a, b) => Number(a) - Number(b)),
      [5000, 65_534],
    )
  })

  /** The usual image, whose user "nobody" is in one group more. */
  async function importGrouped(): Promise<void> {
    const busybox = (await readNodeImages(systemClock, never)).find(({ name }) => name === BUSYBOX_IMAGE)
    const files = (busybox?.files ?? []).map((file) =>
      file.path === 'etc/group'
        ? ({ ...file, content: Buffer.from('root:x:0:\nnogroup:x:65534:\nextra:x:4000:nobody\n') } as typeof file)
        : file,
    )
    const archive = `${node.lab.folder}/grouped.tar`
    await writeFile(archive, createOciArchive([{ ...busybox, name: GROUPED_IMAGE, files }], machineArchitecture))
    await node.lab.containerd.ctr('images', 'import', archive)
  }

  test('a container is ended by its own signal', async (t) => {
    const script = `trap 'echo usr1; exit 0' USR1; trap 'echo term; exit 0' TERM; echo started; while :; do sleep 1000 & wait $!; done`
    const lifecycle = { stopSignal: 'SIGUSR1' }
    const containers = [testContainer('main', script, { lifecycle })]
    await write('signalled', { os: { name: 'linux' }, containers })
    const pod = await node.ready('signalled')
    const stopSignal = pod.status?.containerStatuses?.[0]?.stopSignal
    const { namespace, name, uid } = pod.metadata
    const log = `${node.podLogs}/${namespace}_${name}_${uid}/main/0.log`
    await node.runtime.stopContainer(
      { containerId: (await node.running('signalled'))[0]?.id ?? '', timeout: 5n },
      never,
    )
    const last = (await readFile(log, 'utf8')).trimEnd().split(' ').at(-1)
    if (!features.stopSignals) {
      assert.deepEqual([last, stopSignal], ['term', undefined])
      const reason = 'the container runtime does not follow it'
      await node.logged('default/signalled-lab', 'reason="UnsupportedField"', 'stopSignal', reason)
      return refused(t, reason)
    }
    assert.equal(last?.split('\n').at(-1), 'usr1')
    assert.equal(stopSignal, 'SIGUSR1')
  })

  test('lists come in parts', async (t) => {
    await write('listed', {})
    await node.ready('listed')
    const log = await node.agent.log()
    if (log.some((line) => line.includes('the runtime has no streams of lists')))
      return notApplicable(t, 'the runtime has no streams of lists; whole ones are used')
    assert.ok((await node.containers('listed')).length > 0)
  })

  test('usage is what the runtime reports', async (t) => {
    await write('used', { containers: [testContainer('main', 'echo started; while :; do :; done')] })
    const pod = await node.ready('used')
    const isOffered = await hasMethod(() => node.runtime.listPodSandboxStats({}, never))
    const found = await node.waitFor('the usage of the pod', async () => {
      const { body } = await call('GET', '/stats/summary')
      const { pods } = JSON.parse(body) as {
        pods: { podRef: { uid: string }; cpu?: { usageCoreNanoSeconds?: number } }[]
      }
      const own = pods.find(({ podRef }) => podRef.uid === pod.metadata.uid)
      return (own?.cpu?.usageCoreNanoSeconds ?? 0) > 1e8 && own
    })
    assert.ok(found)
    await node.lab.manifests.remove('used')
    // The usage is there without the runtime too; that the runtime was asked for it shows where it comes from.
    const { body: metrics } = await call('GET', '/metrics')
    const asked = /^kubelet_runtime_operations_total\{operation_type="list_podsandbox_stats"\} (\d+)$/m.exec(metrics)
    assert.ok(Number(asked?.[1] ?? 0) > 0, 'the runtime was not asked')
    if (!isOffered) notApplicable(t, 'the runtime has no stats of pods; those of cgroups are used')
  })

  test('a running container is written to an archive', async (t) => {
    const isOffered = await hasMethod(() =>
      node.runtime.checkpointContainer({ containerId: 'none', location: '/none', timeout: 1n }, never),
    )
    await write('frozen', {})
    await node.ready('frozen')
    const { status, body } = await call('POST', '/checkpoint/default/frozen-lab/main')
    if (!isOffered) {
      assert.equal(status, 500)
      assert.match(body, /checkpointing of default\/frozen-lab\/main failed/)
      return refused(t, body)
    }
    assert.equal(status, 200, body)
    const [archive = ''] = (JSON.parse(body) as { items: string[] }).items
    assert.ok(statSync(archive).size > 1000)
    assert.equal(statSync(archive).mode & 0o077, 0)
    await node.ready('frozen')
    assert.equal((await node.running('frozen')).length, 1)
  })

  test('the cgroup driver is the one that the runtime uses', async (t) => {
    if (!(await hasMethod(() => node.runtime.runtimeConfig({}, never))))
      return notApplicable(t, 'the runtime does not report its cgroup driver; the configured one is used')
    await node.agent.kill()
    node.agent = await node.lab.startAgent({ config: { featureGates: gates, cgroupDriver: 'systemd' } })
    await node.agent.healthy()
    await write('driven', {})
    const { metadata } = await node.ready('driven')
    const cgroup = `/sys/fs/cgroup/memory${node.lab.cgroupRoot}/kubepods/besteffort/pod${metadata.uid}`
    assert.ok(readdirSync(cgroup).length > 0)
  })

  /** A request to the agent's own API. */
  function call(method: string, path: string): Promise<{ readonly status: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
      const createConnection = () =>
        connect({ socket: node.lab.network.connect('127.0.0.1', 10_250), rejectUnauthorized: false })
      const sent = request({ method, path, host: '127.0.0.1', createConnection }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      })
      sent.on('error', reject)
      sent.end()
    })
  }
})
