import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'
import { mountsOfPod, VolumePods } from '../support/volume-pods.ts'
import { waitFor } from '../support/wait-for.ts'

const PRECIOUS = 'only its owner removes this\n'
const EMPTY_DIR = 'volumes/kubernetes.io~empty-dir'
const LOCAL = 'volumes/kubernetes.io~local-volume'

/** Whatever goes wrong on the node, no data goes with it. */
describe('data of the node', () => {
  let pods: VolumePods
  let node: TestNode
  before(async () => {
    pods = await VolumePods.create()
    node = await TestNode.start(pods.objects.agent)
  })
  after(async () => {
    await node[Symbol.asyncDispose]()
    await pods[Symbol.asyncDispose]()
  })

  const podDirectory = (uid: string) => `${node.agent.rootDir}/pods/${uid}`

  /** A directory outside of the agent's, with something in it at two levels. */
  async function makePrecious(name: string): Promise<string> {
    const directory = join(pods.folder, 'precious', name)
    await mkdir(join(directory, 'deep'), { recursive: true })
    for (const file of ['file', 'deep/file']) await writeFile(join(directory, file), PRECIOUS)
    return directory
  }

  async function assertPrecious(directory: string): Promise<void> {
    assert.deepEqual((await readdir(directory, { recursive: true })).toSorted(), ['deep', 'deep/file', 'file'])
    for (const file of ['file', 'deep/file']) assert.equal(await readFile(join(directory, file), 'utf8'), PRECIOUS)
  }

  async function inside(...argv: readonly string[]): Promise<void> {
    const { exitCode, stderr } = await node.lab.runInside(argv)
    assert.equal(exitCode, 0, stderr)
  }

  async function bind(source: string, target: string): Promise<void> {
    await inside('mkdir', '-p', target)
    await inside('mount', '--bind', source, target)
  }

  /** A process that keeps a mount busy. */
  async function sitIn(directory: string): Promise<AsyncDisposable> {
    const file = join(pods.folder, 'sitter')
    const script = `cd "$0" && echo $$ > ${file}.new && mv ${file}.new ${file} && exec sleep 1000`
    const sitter = await node.lab.startInside(['sh', '-c', script, directory], join(pods.folder, 'sitter.log'))
    await waitFor('a process to hold the mount', async () => existsSync(file))
    const pid = (await readFile(file, 'utf8')).trim()
    await inside('rm', file)
    return {
      async [Symbol.asyncDispose]() {
        await inside('kill', '-KILL', pid)
        await sitter.exited
      },
    }
  }

  async function restart(meanwhile: () => Promise<void>): Promise<void> {
    await node.agent.kill('SIGKILL')
    await meanwhile()
    await node.startAgent()
    await node.agent.healthy()
  }

  async function run(uid: string): Promise<void> {
    await node.lab.manifests.write(uid, await pods.prepare(uid))
    await node.ready(uid)
  }

  async function gone(uid: string): Promise<void> {
    await node.waitFor(`nothing of "${uid}" to be left`, async () => {
      return !existsSync(podDirectory(uid)) && (await mountsOfPod(node.agent, uid)).length === 0
    })
  }

  test('a volume that is busy is neither removed nor forgotten, also when the agent dies meanwhile', async () => {
    const uid = 'volumed-busy'
    await run(uid)
    {
      await using _ = await sitIn(`${podDirectory(uid)}/${LOCAL}/pv-${uid}`)
      await node.lab.manifests.remove(uid)
      await node.logged('target is busy', uid)
      // Each agent reports it once.
      const complaints = async () => (await node.agent.log()).filter((line) => line.includes('target is busy')).length
      let before = 0
      await restart(async () => void (before = await complaints()))
      await node.waitFor('the next agent to report it too', async () => (await complaints()) > before)
      await node.waitFor('only the busy volume to be left', async () => {
        return (await mountsOfPod(node.agent, uid)).join() === `${LOCAL}/pv-${uid}`
      })
      assert.deepEqual(await pods.data(uid), pods.expectedData(uid))
    }
    await gone(uid)
    assert.deepEqual(await pods.data(uid), pods.expectedData(uid))
  })

  test('what a user bound into or onto an emptyDir of a pod stays when the pod goes', async () => {
    const uid = 'volumed-bound'
    const [over, nested, busy] = [await makePrecious('over'), await makePrecious('nested'), await makePrecious('busy')]
    await run(uid)
    await bind(nested, `${podDirectory(uid)}/${EMPTY_DIR}/scratch/nested`)
    await bind(busy, `${podDirectory(uid)}/${EMPTY_DIR}/memory/busy`)
    await bind(over, `${podDirectory(uid)}/volumes/kubernetes.io~configmap/settings`)
    {
      await using _ = await sitIn(`${podDirectory(uid)}/${EMPTY_DIR}/memory/busy`)
      await node.lab.manifests.remove(uid)
      await node.logged('target is busy', `${EMPTY_DIR}/memory/busy`)
      await assertPrecious(busy)
    }
    await gone(uid)
    for (const directory of [over, nested, busy]) await assertPrecious(directory)
    assert.deepEqual(await pods.data(uid), pods.expectedData(uid))
  })

  test('an agent that starts unmounts what is bound in place of volumes of pods that are gone, nothing else, and removes no content', async () => {
    const uid = 'orphan-bound'
    const places = [
      `${EMPTY_DIR}/over`,
      `${EMPTY_DIR}/around/nested`,
      'volumes/kubernetes.io~configmap/settings',
      'volumes/kubernetes.io~nfs/share',
      `${LOCAL}/pv`,
      'volumes/kubernetes.io~csi/pv/mount',
      'volumes/example.org~flex/disk',
      'volume-subpaths/pv/main/0',
    ]
    // The agent mounts nothing for a hostPath either.
    const foreign = ['containers/main', 'elsewhere', 'volumes/kubernetes.io~host-path/host']
    const all = await Promise.all(
      [...places, ...foreign].map((place) => makePrecious(`orphan/${place.replaceAll('/', '-')}`)),
    )
    await restart(async () => {
      for (const [index, place] of [...places, ...foreign].entries())
        await bind(all[index] ?? '', join(podDirectory(uid), place))
      await writeFile(join(podDirectory(uid), EMPTY_DIR, 'around', 'own'), 'of the pod')
      await writeFile(join(podDirectory(uid), 'volumes/kubernetes.io~csi/pv/vol_data.json'), '{}')
    })
    await node.waitFor('only foreign mounts to be left', async () => {
      return (await mountsOfPod(node.agent, uid)).toSorted().join() === foreign.join()
    })
    for (const place of foreign) await node.logged('it stays', `${uid}/${place} (mounted)`)
    // Who wrote this knows what to do with it: the agent does not.
    await node.logged('they stay', 'kubernetes.io~csi/pv')
    assert.equal(existsSync(join(podDirectory(uid), EMPTY_DIR)), false)
    const aside = join(podDirectory(uid), 'volumes/kubernetes.io~csi/pv/vol_data.json.broken')
    assert.equal(await readFile(aside, 'utf8'), '{}')
    for (const directory of all) await assertPrecious(directory)
    for (const place of foreign) await inside('umount', join(podDirectory(uid), place))
  })

  test('files in the directory of a volume whose mount is gone stay, and their place is reported', async () => {
    const places = { 'orphan-local': `${LOCAL}/pv`, 'orphan-nfs': 'volumes/kubernetes.io~nfs/share' }
    const foreign = { 'orphan-csi': 'volumes/kubernetes.io~csi/pv', 'orphan-flex': 'volumes/example.org~flex/disk' }
    const paths = Object.entries({ ...places, ...foreign }).map(([uid, place]) => join(podDirectory(uid), place))
    await restart(async () => {
      for (const path of paths) {
        await mkdir(join(path, 'deep'), { recursive: true })
        for (const file of ['file', 'deep/file']) await writeFile(join(path, file), PRECIOUS)
      }
    })
    for (const [uid, place] of Object.entries(places)) await node.logged('not empty', `${uid}/${place}`)
    for (const [uid, place] of Object.entries(foreign)) await node.logged('they stay', `${uid}/${place}`)
    for (const path of paths) await assertPrecious(path)
  })

  test('a link in place of a volume or of the directories above it leads the agent nowhere', async () => {
    const places = {
      'orphan-link-a': `${EMPTY_DIR}/data`,
      'orphan-link-b': `${LOCAL}/data`,
      'orphan-link-c': 'volumes/kubernetes.io~configmap/data',
      'orphan-link-d': EMPTY_DIR,
      'orphan-link-e': 'volumes',
      'orphan-link-f': 'containers/main',
      'orphan-link-g': 'plugins/kubernetes.io~empty-dir',
      'orphan-link-h': 'containers',
      'orphan-link-i': '',
    }
    const all = await Promise.all(Object.keys(places).map((uid) => makePrecious(`links/${uid}`)))
    // Below the link it looks like a directory of emptyDir volumes.
    const below = join(pods.folder, 'precious/links/orphan-link-e/kubernetes.io~empty-dir/data')
    await mkdir(below, { recursive: true })
    await writeFile(join(below, 'file'), PRECIOUS)
    await restart(async () => {
      for (const [index, [uid, place]] of Object.entries(places).entries()) {
        const path = join(podDirectory(uid), place)
        await mkdir(dirname(path), { recursive: true })
        await symlink(all[index] ?? '', path)
      }
    })
    for (const letter of ['a', 'b', 'c', 'd', 'g']) await node.logged('they stay', `orphan-link-${letter}`)
    for (const letter of ['e', 'h', 'i']) await node.logged('it stays', `orphan-link-${letter}`)
    await node.waitFor('the link of a container to be gone', async () => !existsSync(podDirectory('orphan-link-f')))
    assert.equal(await readFile(join(below, 'file'), 'utf8'), PRECIOUS)
    await rm(dirname(below), { recursive: true })
    for (const directory of all) await assertPrecious(directory)
  })

  test('a bind in the directory of a pod keeps the directory, until it is gone', async () => {
    const uid = 'volumed-plain'
    const precious = await makePrecious('plain')
    await node.lab.manifests.write(uid, testPod(uid, { terminationGracePeriodSeconds: 1 }, { uid }))
    await node.ready(uid)
    await bind(precious, `${podDirectory(uid)}/containers/other`)
    await node.lab.manifests.remove(uid)
    await node.logged(`${podDirectory(uid)}/containers/other (mounted)`, 'PodDirectoryKept')
    await assertPrecious(precious)
    await inside('umount', `${podDirectory(uid)}/containers/other`)
    await gone(uid)
    await assertPrecious(precious)
  })
})
