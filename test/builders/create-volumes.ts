import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { Container, Volume } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { Volumes } from '../../src/pods/volumes/volumes.ts'
import type { VolumesDeps } from '../../src/pods/volumes/volumes.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakeVolumeNode } from '../fakes/fake-volume-node.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { createContainer, createPod } from './create-pod.ts'

const never = new AbortController().signal

/** A pod whose one container mounts volumes of these names: empty directories, unless others are given. */
export function createVolumePod(
  names: readonly string[],
  parts: { readonly uid?: string; readonly volumes?: readonly Volume[] } = {},
): Pod {
  const volumes = parts.volumes ?? names.map((name) => ({ name, emptyDir: {} }))
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }))
  return createPod({
    metadata: { uid: parsePodUid(parts.uid ?? 'u-1') },
    spec: { volumes, containers: [createContainer({ volumeMounts })] },
  })
}

function createLife() {
  const shutdown = new AbortController()
  return { clock: new FakeClock(), shutdown, group: new TaskGroup(shutdown.signal) }
}

/** Volumes of a fake node, with everything that they report. */
export function createVolumes(
  parts: Partial<VolumesDeps> = {},
  node = new FakeVolumeNode(),
  life: { readonly clock: FakeClock; readonly group: TaskGroup; readonly shutdown: AbortController } = createLife(),
) {
  const { clock, group, shutdown } = life
  const events: string[] = []
  const steps: string[] = []
  const counted: string[] = []
  const deps: VolumesDeps = {
    ...node.deps,
    events: {
      record: (_, { type, reason, message, about }) =>
        void events.push(`${type} ${reason} ${message}${about === undefined ? '' : ` (${about.kind} ${about.name})`}`),
    },
    metrics: {
      storageOperation: ({ plugin, operation, failed, isMigrated }) =>
        void counted.push(`${plugin} ${operation} ${failed}${isMigrated === true ? ' migrated' : ''}`),
      foreignVolumeCleaned: (failed) => void counted.push(`foreign ${failed}`),
      volumeFound: (isKnown) => void counted.push(`found ${isKnown}`),
    },
    clock,
    log: silentLogger,
    ...parts,
  }
  const noteStep = async <T>(name: string, work: () => Promise<T>) => {
    steps.push(name)
    return await work()
  }
  const volumes = new Volumes(deps, group)
  return {
    node,
    clock,
    group,
    shutdown,
    events,
    steps,
    counted,
    volumes,
    keep: (pod: Pod) => volumes.keep({ pod, noteStep }),
    ensure: (pod: Pod, signal = never) => volumes.ensure({ pod, noteStep }, signal),
    release: (uid = 'u-1', signal = never) => volumes.release({ uid: parsePodUid(uid), noteStep }, signal),
    mountsOf: async (container: Container, pod: Pod) =>
      await volumes.containerVolumes(
        { pod, container, images: new Map(), environment: () => new Map(), recursiveReadOnlyMounts: false, noteStep },
        never,
      ),
    assertClean: () => {
      assert.equal(clock.sleeping, 0)
      assert.equal(group.size, 0)
      assert.equal(getEventListeners(group.signal, 'abort').length, 0)
    },
  }
}
