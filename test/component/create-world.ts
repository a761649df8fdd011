import { ContainerState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import type { Clock } from '../../src/base/async/clock.ts'
import type { CriMethod } from '../../src/protocols/cri/cri-methods.ts'
import type { Container, PodSpec } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createContainer, createPod } from '../builders/create-pod.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakePodCgroups } from '../fakes/fake-pod-cgroups.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import { FakeJournalFiles } from '../fakes/fake-journal-files.ts'
import { FakeUserNamespaceRecords } from '../fakes/fake-user-namespace-records.ts'
import { FakeVolumeNode } from '../fakes/fake-volume-node.ts'
import { FakeCri } from '../fakes/fake-cri.ts'
import type { FakeCriOptions } from '../fakes/fake-cri.ts'
import type { World } from './create-agent.ts'
import { FakePodFiles } from './fake-pod-files.ts'

/** A machine on which nothing runs yet; the image of plain pods is there unless the test says otherwise. */
export async function createWorld({
  runtimeAheadMs = 0,
  ...options
}: FakeCriOptions & {
  /** How far its time of day is ahead of ours. */ readonly runtimeAheadMs?: number
} = {}): Promise<World & AsyncDisposable> {
  const clock = new FakeClock()
  const runtimeClock: Clock = {
    now: () => clock.now() + runtimeAheadMs,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  }
  const cri = await FakeCri.start({ clock: runtimeClock, images: ['registry.test/app:1'], ...options })
  const disk = {
    files: new FakePodFiles(),
    journalFiles: new FakeJournalFiles(),
    cgroups: new FakePodCgroups(),
    stateFiles: {
      allocated: new FakeStateFile('allocated_pods_state'),
      actuated: new FakeStateFile('actuated_pods_state'),
    },
    otherFiles: new Map(),
    deviceFile: new FakeStateFile('kubelet_internal_checkpoint'),
    userNamespaces: new FakeUserNamespaceRecords(),
    volumeNode: new FakeVolumeNode(),
  }
  return { clock, cri, ...disk, [Symbol.asyncDispose]: () => cri[Symbol.asyncDispose]() }
}

/** A pod as the sources give it: decoded and defaulted. */
export function createWantedPod(uid = 'u-1', spec: Partial<PodSpec> = {}, name = `pod-${uid}`): Pod {
  return createPod({
    metadata: { uid, name, namespace: 'shop' },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'Default',
      containers: [createWantedContainer()],
      ...spec,
    },
  })
}

export function createWantedContainer(parts: Partial<Container> = {}): Container {
  return createContainer({ imagePullPolicy: 'IfNotPresent', ...parts })
}

const CHANGING: readonly CriMethod[] = [
  'runPodSandbox',
  'pullImage',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'stopPodSandbox',
  'removePodSandbox',
]

/** What the agent asked the runtime to change, in order, such as "startContainer main". */
export function changes({ cri }: World): string[] {
  const nameOf = (id: string) => cri.runtime.containers.get(id)?.config.metadata?.name ?? 'gone'
  return cri.called.flatMap(({ method, request }) => {
    if (!CHANGING.some((changing) => changing === method)) return []
    const { containerId, config, timeout } = request as {
      containerId?: string
      config?: { metadata?: { name?: string } }
      timeout?: bigint
    }
    const what =
      containerId === undefined
        ? method === 'createContainer'
          ? (config?.metadata?.name ?? '')
          : ''
        : nameOf(containerId)
    return [[method, what, timeout === undefined ? '' : `${timeout}s`].filter((part) => part !== '').join(' ')]
  })
}

/** Names of the containers that run, sorted. */
export function running({ cri }: World): string[] {
  return cri.runtime.containers
    .values()
    .filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)
    .map(({ config }) => config.metadata?.name ?? '')
    .toArray()
    .sort()
}

/** The id of the newest instance of a container, by name. */
export function instanceOf({ cri }: World, name = 'main'): string {
  const found = [...cri.runtime.containers.values()].findLast(({ config }) => config.metadata?.name === name)
  if (found === undefined) throw new Error(`Cannot find a container "${name}": the runtime has none`)
  return found.id
}

/** Lets the calls of a method that arrive until the returned function is called hang for good, and no later ones. */
export function hangNext(
  { cri }: World,
  method: CriMethod,
): { readonly stop: () => void; readonly release: () => void } {
  const release = cri.script.hold(method)
  return {
    // A second hold takes the place of the first, and its end lets later calls through; the first ones still wait.
    stop: () => cri.script.hold(method)(),
    release,
  }
}
