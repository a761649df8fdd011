import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../../src/system/processes/run-process.ts'
import type { PersistentVolumeSpec, Volume, VolumeMount } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { standInForNfs } from '../support/nfs-stand-in.ts'
import type { NfsStandIn } from '../support/nfs-stand-in.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'
import { TestObjects } from '../support/test-objects.ts'

const MEGABYTE = 1024 * 1024
const DISK_BYTES = 32 * MEGABYTE

// "<path>=<kind> <file system> <rw or ro>", as the container itself sees it.
const REPORT = `
for path in $(ls /v); do
  echo "$path=$(stat -c '%F' /v/$path) $(awk -v p=/v/$path '$5 == p { split($6, o, ","); t = $0; sub(/.* - /, "", t); split(t, f, " "); print f[1], o[1] }' /proc/self/mountinfo)"
done
`
const WRITE = `dd if=/dev/zero of=/dev/raw bs=512 count=1 2> /dev/null && echo raw=written || echo raw=refused`
const READ = `dd if=/dev/raw of=/dev/null bs=512 count=1 2> /dev/null && echo read=read || echo read=refused`

describe('volumes of the node, of disks and of servers', () => {
  let node: TestNode
  let objects: TestObjects
  let nfs: NfsStandIn
  let folder: string
  const cleanup = new AsyncDisposableStack()
  const left: Pod[] = []
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deckhand-paths-'))
    cleanup.defer(() => rm(folder, { recursive: true }))
    for (const name of ['directory', 'shared', 'export', 'single']) await mkdir(join(folder, name))
    await writeFile(join(folder, 'file'), 'text')
    await writeFile(join(folder, 'export', 'served'), 'by a stand-in')
    const server = createServer().listen(join(folder, 'socket'))
    cleanup.defer(() => void server.close())
    await once(server, 'listening')
    objects = await TestObjects.create(join(folder, 'objects'))
    node = await TestNode.start(objects.agent)
    cleanup.use(node)
    nfs = await standInForNfs(node.lab, join(folder, 'export'))
  })
  after(async () => {
    for (const pod of left) await node.gone(pod)
    await cleanup.disposeAsync()
  })

  /** A disk that has nothing on it. */
  async function createDisk(name: string): Promise<string> {
    const image = join(folder, name)
    await using file = await open(image, 'w')
    await file.truncate(DISK_BYTES)
    const run = async (...argv: readonly string[]) =>
      (await runProcessOrThrow(systemClock, { argv, deadlineMs: 10_000 }, new AbortController().signal)).stdout.trim()
    const device = await run('losetup', '--find', '--show', image)
    cleanup.defer(() => void run('losetup', '--detach', device))
    return device
  }

  /** A volume with a claim that is bound to it, both of this name. */
  async function bind(name: string, spec: PersistentVolumeSpec): Promise<void> {
    const claimRef = { namespace: 'default', name, uid: `${name}-claim` }
    await objects.write('PersistentVolume', name, { spec: { ...spec, claimRef } })
    const fields = { spec: { volumeName: name }, status: { phase: 'Bound' } }
    await objects.write('PersistentVolumeClaim', name, fields, { uid: claimRef.uid })
  }

  const claim = (name: string): Volume => ({ name, persistentVolumeClaim: { claimName: name } })
  const hostPath = (name: string, path: string, type?: string): Volume => ({
    name,
    hostPath: { path: path.startsWith('/') ? path : join(folder, path), ...(type === undefined ? {} : { type }) },
  })
  const mountsOf = (volumes: readonly Volume[]): readonly VolumeMount[] =>
    volumes.map(({ name }) => ({ name, mountPath: `/v/${name}` }))

  /** A pod that can only wait. */
  async function waiting(name: string, volumes: readonly Volume[]): Promise<void> {
    const main = testContainer('main', scripts.obedient, { volumeMounts: [...mountsOf(volumes)] })
    await node.lab.manifests.write(name, testPod(name, { volumes: [...volumes], containers: [main] }))
  }

  /** Ends a pod; nothing of it may be there at the end of all tests. */
  async function leave(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const pod = await node.agent.pod(name)
      if (pod !== undefined) left.push(pod)
      await node.lab.manifests.remove(name)
    }
  }

  test('paths of the node by type, disks as files and as devices, and what a server exports', async () => {
    const [disk, raw] = [await createDisk('disk'), await createDisk('raw')]
    await bind('disk', { local: { path: disk } })
    await bind('raw', { local: { path: raw }, volumeMode: 'Block' })
    await bind('raw-again', { local: { path: raw }, volumeMode: 'Block' })
    await bind('node-path', { hostPath: { path: join(folder, 'directory') } })
    await bind('served', { nfs: { server: 'files.example', path: '/b', readOnly: true }, mountOptions: ['nolock'] })
    const volumes = [
      hostPath('any', 'made-by-runtime'),
      hostPath('or-directory', 'made/deep', 'DirectoryOrCreate'),
      hostPath('directory', 'directory', 'Directory'),
      hostPath('or-file', 'made-file', 'FileOrCreate'),
      hostPath('file', 'file', 'File'),
      hostPath('socket', 'socket', 'Socket'),
      hostPath('character', '/dev/null', 'CharDevice'),
      hostPath('block', disk, 'BlockDevice'),
      claim('disk'),
      claim('node-path'),
      claim('served'),
      { name: 'inline', nfs: { server: '::1', path: '/a' } },
    ]
    const volumeMounts: readonly VolumeMount[] = [
      ...mountsOf(volumes),
      { name: 'disk', mountPath: '/v/part', subPathExpr: 'of/$(POD)' },
    ]
    const env = [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]
    const main = testContainer('main', `${REPORT}${WRITE}; ${READ}; ${scripts.obedient}`, {
      volumeMounts: [...volumeMounts],
      volumeDevices: [{ name: 'raw', devicePath: '/dev/raw' }],
      env,
    })
    const reader = testContainer('reader', `${WRITE}; ${READ}; ${scripts.obedient}`, {
      volumeDevices: [{ name: 'reader', devicePath: '/dev/raw' }],
    })
    const readOnly: Volume = { name: 'reader', persistentVolumeClaim: { claimName: 'raw-again', readOnly: true } }
    const spec = { volumes: [...volumes, claim('raw'), readOnly], containers: [main, reader] }
    await node.lab.manifests.write('paths', testPod('paths', spec))
    const pod = await node.ready('paths')
    const seen = await node.report(pod)
    const [, here] = seen['any']?.split(' ') ?? []
    assert.deepEqual(seen, {
      any: `directory ${here} rw`,
      'or-directory': `directory ${here} rw`,
      directory: `directory ${here} rw`,
      'or-file': `regular empty file ${here} rw`,
      file: `regular file ${here} rw`,
      socket: `socket ${here} rw`,
      character: seen['character'],
      block: seen['block'],
      disk: 'directory ext4 rw',
      part: 'directory ext4 rw',
      'node-path': `directory ${here} rw`,
      served: `directory ${here} ro`,
      inline: `directory ${here} rw`,
      raw: 'written',
      read: 'read',
    })
    assert.match(seen['character'] ?? '', /^character special file /)
    assert.match(seen['block'] ?? '', /^block special file /)
    assert.deepEqual(await node.report(pod, 'reader'), { raw: 'refused', read: 'read' })
    assert.equal(await node.runIn('paths', ['cat', '/v/inline/served'], 'main'), 'by a stand-in')
    const at = `${node.agent.rootDir}/pods/${pod.metadata.uid}/volumes/kubernetes.io~nfs`
    assert.deepEqual((await nfs.calls()).toSorted(), [
      `[::1]:/a ${at}/inline -o rw`,
      `files.example:/b ${at}/served -o ro,nolock`,
    ])
    assert.ok((await readdir(join(folder, 'made'))).includes('deep'))
    await leave('paths')
    await node.gone(pod)
    assert.equal(await readFile(join(folder, 'export', 'served'), 'utf8'), 'by a stand-in')
  })

  test('a path of another type, a claim that is not there or not bound, and kinds that are not supported are reported', async () => {
    await objects.write('PersistentVolumeClaim', 'unbound', { spec: {}, status: { phase: 'Pending' } })
    const wrong: readonly (readonly [type: string, path: string, kind: string])[] = [
      ['Directory', 'file', 'directory'],
      ['DirectoryOrCreate', 'file', 'directory'],
      ['File', 'directory', 'file'],
      ['FileOrCreate', 'directory', 'file'],
      ['Socket', 'file', 'socket file'],
      ['CharDevice', 'file', 'character device'],
      ['BlockDevice', 'absent', 'block device'],
    ]
    await waiting(
      'wrong',
      wrong.map(([type, path]) => hostPath(type.toLowerCase(), path, type)),
    )
    await waiting('claims', [claim('missing'), claim('unbound')])
    await waiting('kinds', [
      { name: 'csi', csi: { driver: 'x.example' } },
      { name: 'cloud', awsElasticBlockStore: { volumeID: 'aws://z/d' } },
      { name: 'flex', flexVolume: { driver: 'x.example/y' } },
      { name: 'git', gitRepo: { repository: 'r' } },
      { name: 'old', rbd: { image: 'i', monitors: ['m'] } },
    ])
    for (const [type, path, kind] of wrong) {
      const message = `hostPath type check failed: ${join(folder, path)} is not a ${kind}`
      const name = type.toLowerCase()
      await node.logged('wrong-lab', 'FailedMount', `MountVolume.SetUp failed for volume \\"${name}\\" : ${message}`)
    }
    await node.logged(
      'claims-lab',
      'FailedMount',
      'failed to process volumes=[missing unbound]',
      'error processing PVC default/missing: failed to fetch PVC from API server: persistentvolumeclaims \\"missing\\" not found',
      'error processing PVC default/unbound: PVC is not bound',
    )
    await node.logged(
      'kinds-lab',
      'FailedMount',
      'failed to process volumes=[cloud flex git old]',
      'failed to translate in-tree pv to CSI: Invalid format for AWS volume (aws://z/d)',
      'volume \\"flex\\" of kind flexVolume: drivers of this kind are not run here',
      'volume \\"git\\" of kind gitRepo: Kubernetes has switched this kind of volume off',
      'volume \\"old\\" of kind rbd: Kubernetes no longer has this kind of volume',
    )
    const mode = 'volume mode \\"Ephemeral\\" not supported by driver x.example'
    await node.logged('kinds-lab', 'FailedMount', `MountVolume.SetUp failed for volume \\"csi\\" : ${mode}`)
    for (const name of ['missing', 'unbound']) await bind(name, { hostPath: { path: folder } })
    await leave('wrong', 'kinds')
  })

  test('a volume for one pod only is not shared, and goes to the next pod when the first has ended', async () => {
    await bind('single', { local: { path: join(folder, 'single') }, accessModes: ['ReadWriteOncePod'] })
    await waiting('first', [claim('single')])
    await node.ready('first')
    await waiting('second', [claim('single')])
    await node.logged(
      'second-lab',
      'FailedMount',
      'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    )
    await leave('first')
    await node.ready('second', 15_000)
    await leave('second')
  })

  test('later mounts are seen as the propagation says; read-only also below them where the runtime can', async () => {
    const volumes = [hostPath('shared', 'shared', 'Directory')]
    const container = (name: string, mount: Partial<VolumeMount>, fields = {}) =>
      testContainer(name, scripts.obedient, {
        volumeMounts: [{ name: 'shared', mountPath: '/v', ...mount }],
        ...fields,
      })
    // Docker gives a privileged container every capability of the kernel, and fails where the machine lacks one.
    const hasMaker = node.lab.runtime.name !== 'docker'
    const maker = container('maker', { mountPropagation: 'Bidirectional' }, { securityContext: { privileged: true } })
    const containers = [
      ...(hasMaker ? [maker] : []),
      container('later', { mountPropagation: 'HostToContainer' }),
      container('closed', {}),
      container('locked', { readOnly: true, recursiveReadOnly: 'IfPossible' }),
    ]
    await node.lab.manifests.write('mounts', testPod('mounts', { volumes, containers }))
    const strict = container('main', { readOnly: true, recursiveReadOnly: 'Enabled' })
    await node.lab.manifests.write('strict', testPod('strict', { volumes, containers: [strict] }))
    await node.ready('mounts')
    const list = async (name: string) => (await node.runIn('mounts', ['ls', '/v/host', '/v/own'], name)).split(/\s+/)
    for (const name of ['host', 'own']) await mkdir(join(folder, 'shared', name))
    await node.lab.runInside(['mount', '-t', 'tmpfs', 'later', join(folder, 'shared', 'host')])
    await node.lab.runInside(['touch', join(folder, 'shared', 'host', 'from-host')])
    if (hasMaker) {
      await node.runIn('mounts', ['mount', '-t', 'tmpfs', 'own', '/v/own'], 'maker')
      await node.runIn('mounts', ['touch', '/v/own/from-pod'], 'maker')
    }
    const made = hasMaker ? ['from-pod'] : []
    const both = ['/v/host:', 'from-host', '/v/own:', ...made]
    if (hasMaker) assert.deepEqual(await list('maker'), both)
    assert.deepEqual(await list('later'), both)
    assert.deepEqual(await list('closed'), ['/v/host:', '/v/own:'])
    const { stdout } = await node.lab.runInside(['ls', join(folder, 'shared', 'own')])
    assert.equal(stdout.trim(), made.join())
    const touched = await node.runIn('mounts', ['sh', '-c', 'touch /v/x 2> /dev/null && echo yes || echo no'], 'locked')
    assert.equal(touched, 'no')
    await strictOrRefused()
    for (const name of hasMaker ? ['host', 'own'] : ['host'])
      await node.lab.runInside(['umount', join(folder, 'shared', name)])
    await leave('mounts', 'strict')
  })

  test('a pod whose claims were bound later starts with its next try', async () => {
    await node.ready('claims')
    await leave('claims')
  })

  /** containerd 1 cannot make mounts inside a mount read-only and says so; a runtime that can runs the pod. */
  async function strictOrRefused(): Promise<void> {
    const pod = await node.podIs('strict', 'refused or running', ({ status }) => {
      const { waiting: waits, running } = status?.containerStatuses?.[0]?.state ?? {}
      return running !== undefined || waits?.reason === 'CreateContainerConfigError'
    })
    const message = pod.status?.containerStatuses?.[0]?.state?.waiting?.message
    if (message === undefined) return
    assert.equal(
      message,
      'failed to resolve recursive read-only mode: volume "shared" requested recursive read-only mode, but it is not supported by the runtime',
    )
  }
})
