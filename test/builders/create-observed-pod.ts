import { containerHash } from '../../src/model/pod/container-hash.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../src/model/pod/observed-pod.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import { createContainer } from './create-pod.ts'

/** What the runtime has of the pod of createPod(): one sandbox that is ready, and these instances, newest first. */
export function createObservedPod(parts: Partial<ObservedPod> = {}): ObservedPod {
  return {
    uid: parsePodUid('u-1'),
    name: 'web',
    namespace: 'shop',
    sandboxes: [createObservedSandbox()],
    containers: [],
    ...parts,
  }
}

export function createObservedSandbox(parts: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return { id: 's0', attempt: 0, ready: true, createdAt: 0, hostNetwork: false, ips: ['10.0.0.2'], ...parts }
}

/** An instance of the container of createContainer(); its id is its name with its number: "main-0". */
export function createInstance(parts: Partial<ObservedContainer> = {}): ObservedContainer {
  const { name = 'main', restartCount = 0, state = 'running' } = parts
  const hasEnded = state === 'exited'
  const exitCode = parts.exitCode ?? 0
  return {
    id: `${name}-${restartCount}`,
    name,
    sandboxId: 's0',
    state,
    hash: containerHash(createContainer({ name })),
    restartCount,
    createdAt: restartCount * 1000,
    startedAt: state === 'created' ? 0 : restartCount * 1000 + 1,
    runsSince: state === 'running' ? (parts.startedAt ?? restartCount * 1000 + 1) : 0,
    finishedAt: hasEnded ? restartCount * 1000 + 2 : 0,
    endSeenAt: hasEnded ? (parts.finishedAt ?? restartCount * 1000 + 2) : 0,
    exitCode,
    reason: hasEnded ? (exitCode === 0 ? 'Completed' : 'Error') : '',
    message: '',
    image: 'registry.test/app:1',
    imageRef: 'sha256:1',
    logPath: '',
    terminationLog: '',
    ...parts,
  }
}
