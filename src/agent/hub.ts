import type { PodUid } from '../model/pod/pod.ts'

/** What parts report to those that are built after them. A hint says what to read again, never what is there. */
export interface Hints {
  /** The runtime has something else of this pod. */
  podObserved(uid: PodUid): void
  /** An object that this pod refers to changed. */
  objectsChanged(uid: PodUid): void
  /** The status of this pod may have changed. */
  statusChanged(uid: PodUid): void
  /** The runtime, or its network, became ready or stopped being so. */
  runtimeChanged(): void
  /** What the Node object says, or should say, may have changed. */
  nodeChanged(): void
  /** A pod of this node has become smaller. */
  roomChanged(): void
  /** A CSI driver came or went, or the cluster says something else of one. */
  driversChanged(): void
}

export interface Hub extends Hints {
  /** From now on the listeners get the hints, first those that were kept. */
  connect(listeners: Hints): void
}

/** Keeps each hint, once, until a part listens. */
export function createHub(): Hub {
  let listeners: Hints | undefined
  const kept = new Map<string, (listeners: Hints) => void>()
  const hint = (what: string, deliver: (listeners: Hints) => void) => {
    if (listeners === undefined) kept.set(what, deliver)
    else deliver(listeners)
  }
  return {
    podObserved: (uid) => hint(`observed ${uid}`, (to) => to.podObserved(uid)),
    objectsChanged: (uid) => hint(`objects ${uid}`, (to) => to.objectsChanged(uid)),
    statusChanged: (uid) => hint(`status ${uid}`, (to) => to.statusChanged(uid)),
    runtimeChanged: () => hint('runtime', (to) => to.runtimeChanged()),
    nodeChanged: () => hint('node', (to) => to.nodeChanged()),
    roomChanged: () => hint('room', (to) => to.roomChanged()),
    driversChanged: () => hint('drivers', (to) => to.driversChanged()),
    connect(to) {
      listeners = to
      for (const deliver of kept.values()) deliver(to)
      kept.clear()
    },
  }
}
