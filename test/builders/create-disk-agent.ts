import { setTimeout } from 'node:timers/promises'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import type { PersistentVolumeSpec } from '../../src/model/generated/core-v1.ts'
import type { VolumeSource } from '../../src/pods/volumes/desired-volume.ts'
import type { DiskKindDeps } from '../../src/pods/volumes/disks/disk-kind.ts'
import { createFcKind } from '../../src/pods/volumes/kinds/fc.ts'
import { createIscsiKind } from '../../src/pods/volumes/kinds/iscsi.ts'
import type { VolumesDeps } from '../../src/pods/volumes/volumes.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakeSan } from '../fakes/fake-san.ts'
import { createVolumes } from './create-volumes.ts'

/** An agent on a node with a storage network. Claims lead to persistent volumes of the same name. */
export function createDiskAgent(
  claims: Readonly<Record<string, PersistentVolumeSpec>> = {},
  {
    san = new FakeSan(),
    parts = {},
    kind: kindParts = {},
  }: { readonly san?: FakeSan; readonly parts?: Partial<VolumesDeps>; readonly kind?: Partial<DiskKindDeps> } = {},
) {
  const clock = new FakeClock()
  const shutdown = new AbortController()
  const group = new TaskGroup(shutdown.signal)
  const { deps } = san.disks
  const attached = new Set<string>()
  let announce = () => {}
  const secret = { data: { 'node.session.auth.username': Buffer.from('me').toString('base64') } }
  const common = {
    ...deps,
    admin: san.admin,
    scsi: san.scsi,
    diskFiles: san.diskFiles,
    // They are the pods' own, and an agent that starts finds them.
    volumeFiles: {
      makeDirectory: async (path: string, mode: number) => {
        if (path.startsWith('/k/pods/')) san.places.set(path, undefined)
        return await deps.volumeFiles.makeDirectory(path, mode)
      },
      removeDirectory: async (path: string) => {
        await deps.volumeFiles.removeDirectory(path)
        san.places.delete(path)
      },
    },
    deviceFiles: {
      ...deps.deviceFiles,
      makeLink: async (link: string, target: string) => {
        san.places.set(link, target)
        await deps.deviceFiles.makeLink(link, target)
      },
      removeLink: async (link: string) => {
        await deps.deviceFiles.removeLink(link)
        san.places.delete(link)
      },
    },
    objects: { driverSecret: async () => secret },
    attachments: {
      isInUse: (name: string) => iscsi.inUse()?.includes(name) === true || fc.inUse()?.includes(name) === true,
      isAttached: (name: string) => attached.has(name),
      changed: async (ms: number, signal: AbortSignal) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        announce = resolve
        await Promise.race([promise, clock.sleep(ms, signal)])
      },
    },
    controllerAttaches: false,
    onInUse: () => {},
    group,
    clock,
    log: silentLogger,
    ...kindParts,
  }
  const iscsi = createIscsiKind(common)
  const fc = createFcKind(common)
  const agent = createVolumes(
    {
      rootDirectory: '/k',
      kinds: [iscsi, fc],
      findSource: async (_, { volume }): Promise<VolumeSource> => {
        const name = volume.persistentVolumeClaim?.claimName
        if (name === undefined) return { kind: 'inline', volume }
        const spec = claims[name] ?? {}
        return { kind: 'persistent', volume: { metadata: { name }, spec }, claim: { namespace: 'shop', name } }
      },
      mounter: deps.mounter,
      folders: {
        listVolumes: async () =>
          [...san.places].flatMap(([path, link]) => {
            const [, , , uid = '', , pluginDirectory = '', specName = ''] = path.split('/')
            const use = link === undefined ? ('files' as const) : ('device' as const)
            return path.startsWith('/k/pods/') ? [{ uid, use, pluginDirectory, specName, path }] : []
          }),
        listPods: async () => [],
        makeFolder: async () => {},
        holdsAnything: async () => false,
        removeEmptyFolders: async () => [],
      },
      ...parts,
    },
    undefined,
    { clock, group, shutdown },
  )
  return {
    ...agent,
    san,
    iscsi,
    fc,
    /** The cluster lets this node have a disk. */
    attach: (name: string) => {
      attached.add(name)
      announce()
    },
    kill: async () => {
      shutdown.abort(new Error('killed'))
      await group.join()
    },
  }
}

/** Time passes until something is done. */
export async function whilePassing(clock: FakeClock, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const ended = work.finally(() => done.abort())
  while (!done.signal.aborted) {
    await clock.advance(1000)
    await setTimeout(1)
  }
  await ended
}

/** All that goes on in the background has ended, or waits to be tried again. */
export async function settled({ clock, group }: ReturnType<typeof createDiskAgent>): Promise<void> {
  do {
    await clock.advance(0)
    await setTimeout(1)
  } while (group.size > 0 && clock.sleeping === 0)
}
