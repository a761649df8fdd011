import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountPointsBelow, parseMountTable } from '../../../src/system/mounts/mount-table.ts'
import type { Volume, VolumeMount } from '../../../src/model/generated/core-v1.ts'
import type { LabAgent } from '../lab/lab-agent.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import { TestObjects } from './test-objects.ts'
import { scripts, testContainer, testPod } from './test-pod.ts'

const GROUP = 2000
const PRECIOUS = 'only its owner removes this\n'

const VOLUMES: readonly Volume[] = [
  { name: 'scratch', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  { name: 'settings', configMap: { name: 'settings', defaultMode: 0o644 } },
  { name: 'login', secret: { secretName: 'login', defaultMode: 0o600 } },
  { name: 'self', downwardAPI: { items: [{ path: 'uid', fieldRef: { fieldPath: 'metadata.uid' } }] } },
  {
    name: 'all',
    projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'login' } }] },
  },
]

const MOUNTS: readonly VolumeMount[] = [
  ...['scratch', 'memory', 'settings', 'login', 'self', 'all', 'host', 'data'].map((name) => ({
    name,
    mountPath: `/${name}`,
  })),
  { name: 'scratch', mountPath: '/part', subPath: 'parts/a' },
  { name: 'settings', mountPath: '/one', subPath: 'color' },
]

// A container that is started twice would leave two lines.
const MARK = 'for d in scratch memory part host data; do echo "mark of $UID" >> /$d/mark; done;'

/** Pods with a volume of every kind, each with data of the node that no agent may ever touch. */
export class VolumePods implements AsyncDisposable {
  readonly folder: string
  readonly objects: TestObjects

  private constructor(folder: string, objects: TestObjects) {
    this.folder = folder
    this.objects = objects
  }

  static async create(): Promise<VolumePods> {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-volumes-'))
    const objects = await TestObjects.create(join(folder, 'objects'))
    await objects.write('ConfigMap', 'settings', { data: { color: 'red' } })
    await objects.write('Secret', 'login', { data: { user: Buffer.from('ann').toString('base64') } })
    return new VolumePods(folder, objects)
  }

  /** A directory of the node that belongs to a pod: "host" for its hostPath, "disk" for its local volume. */
  directory(uid: string, name: 'host' | 'disk'): string {
    return join(this.folder, uid, name)
  }

  /** Makes what a pod finds on the node, and its manifest. */
  async prepare(uid: string) {
    for (const name of ['host', 'disk'] as const) {
      await mkdir(join(this.directory(uid, name), 'deep'), { recursive: true })
      await writeFile(join(this.directory(uid, name), 'deep', 'precious'), PRECIOUS)
    }
    const claimUid = `claim-${uid}`
    const claim = { spec: { volumeName: `pv-${uid}` }, status: { phase: 'Bound' } }
    await this.objects.write('PersistentVolumeClaim', uid, claim, { uid: claimUid })
    await this.objects.write('PersistentVolume', `pv-${uid}`, {
      spec: {
        local: { path: this.directory(uid, 'disk') },
        accessModes: ['ReadWriteOncePod'],
        claimRef: { namespace: 'default', name: uid, uid: claimUid },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] }] },
            ],
          },
        },
      },
    })
    const main = testContainer('main', `${MARK}${scripts.obedient}`, {
      volumeMounts: [...MOUNTS],
      env: [{ name: 'UID', value: uid }],
    })
    const host = { name: 'host', hostPath: { path: this.directory(uid, 'host'), type: 'Directory' } }
    const data = { name: 'data', persistentVolumeClaim: { claimName: uid } }
    // The network of the node: a pod of its own would only cost time.
    const spec = {
      hostNetwork: true,
      securityContext: { fsGroup: GROUP },
      volumes: [...VOLUMES, host, data],
      containers: [main],
    }
    return testPod(uid, { terminationGracePeriodSeconds: 2, ...spec }, { uid })
  }

  /** Takes the claim of a pod and its volume from the objects; the data stays. */
  async forget(uid: string): Promise<void> {
    await this.objects.remove('PersistentVolumeClaim', uid)
    await this.objects.remove('PersistentVolume', `pv-${uid}`)
  }

  /** What is in the volumes that a pod writes to, from the directory of the volume; the pod is there. */
  async written(uid: string, { pid, rootDir }: LabAgent): Promise<readonly string[]> {
    // The agent sees mounts that we do not.
    const volumes = `/proc/${pid}/root${rootDir}/pods/${uid}/volumes`
    const emptyDirs = `${volumes}/kubernetes.io~empty-dir`
    const paths = [
      ...['scratch', 'memory', 'scratch/parts/a'].map((name) => `${emptyDirs}/${name}`),
      `${volumes}/kubernetes.io~local-volume/pv-${uid}`,
      this.directory(uid, 'host'),
    ]
    return await Promise.all(paths.map(async (path) => await readFile(`${path}/mark`, 'utf8')))
  }

  /** What the node has of a pod's data. */
  async data(uid: string) {
    const read = async (name: 'host' | 'disk') => {
      const directory = this.directory(uid, name)
      const names = (await readdir(directory, { recursive: true })).toSorted()
      const contents = ['mark', 'deep/precious'].map((file) => readFile(join(directory, file), 'utf8').catch(() => ''))
      return { names, contents: await Promise.all(contents) }
    }
    return { host: await read('host'), disk: await read('disk') }
  }

  /** The data after the pod has started so many times. */
  expectedData(uid: string, starts = 1): Awaited<ReturnType<VolumePods['data']>> {
    const names = ['deep', 'deep/precious', ...(starts === 0 ? [] : ['mark'])]
    const contents = [`mark of ${uid}\n`.repeat(starts), PRECIOUS]
    return { host: { names, contents }, disk: { names, contents } }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true })
  }
}

/** What is mounted in the directory of a pod, relative to it, one entry for each mount. */
export async function mountsOfPod({ pid, rootDir }: LabAgent, uid: string): Promise<readonly string[]> {
  const directory = `${rootDir}/pods/${uid}`
  const table = parseMountTable(await readFile(`/proc/${pid}/mountinfo`, 'utf8'))
  return mountPointsBelow(table, directory)
    .map((point) => point.slice(directory.length + 1))
    .toSorted()
}
