import { basename } from 'node:path'
import { rootCgroupPath } from '../model/resources/cgroup-names.ts'
import { hasCgroup, removeCgroup } from '../system/cgroups/cgroup-tree.ts'
import { mountPointsBelow, readMountTable } from '../system/mounts/mount-table.ts'
import { runProcess, runProcessOrThrow } from '../system/processes/run-process.ts'
import {
  listFolder,
  readTextIfPresent,
  realFolder,
  removeLinksInto,
  removeTree,
} from '../system/files/files-and-folders.ts'
import { stopAgent } from './node/agent/agent-process.ts'
import { checkRoot } from './node/check-requirements.ts'
import { canConnect, findContainerd, hasPodsLeft, startContainerd, stopContainerd } from './node/runtime/containerd.ts'
import { findNoted, stopProcess } from './node/known-process.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout, ownPaths } from './node/node-layout.ts'
import type { NodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'
import type { NodeRecord } from './node/node-record.ts'
import { findOwnMounts } from './node/own-mounts.ts'
import { removeServiceNetwork } from './node/network/service-network.ts'
import { stopPods } from './node/stop-pods.ts'
import type { PodStopper } from './node/stop-pods.ts'
import { isUpLocked } from './node/up-lock.ts'
import { errorMessage } from '../base/telemetry/error-text.ts'

export interface DownDeps extends StandaloneDeps {
  openRuntime(endpoint: string, signal: AbortSignal): Promise<PodStopper & Disposable>
}

// The agent links the logs of running containers here, where log collectors find them.
const CONTAINER_LOG_LINKS = '/var/log/containers'
const UP_GRACE_MS = 30_000
const COMMAND_DEADLINE_MS = 10_000
// systemd itself waits as long for what is inside to end.
const SLICE_DEADLINE_MS = 90_000
// One that ends removes its note a moment before it is gone.
const LEAVING_MS = 3000
const POLL_MS = 20

/** Stops all that "up" started, and pods before their runtime; what is not there any more is no fault. */
export async function runDown(
  deps: DownDeps,
  options: { readonly state: string; readonly purge: boolean },
  signal: AbortSignal,
): Promise<void> {
  checkRoot(deps.userId)
  const layout = computeNodeLayout(await realFolder(options.state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) {
    const up = await findNoted(layout.upIdentity)
    if (up !== undefined) throw new NodeError(describeLostRecord(layout.state, up.pid), exitCodes.failed)
    deps.say(`There is no node in ${layout.state}.`)
    return
  }
  if (await stopProcess(deps.clock, { file: layout.upIdentity, graceMs: UP_GRACE_MS }, signal))
    deps.say('"deckhand up" ended')
  await checkNoUp(deps, layout, signal)
  if (await stopAgent(deps.clock, { layout, nodeName: record.nodeName }, signal)) deps.say('agent stopped')
  await stopAllPods(deps, layout, record, signal)
  if (await hasPrivateRuntime(layout)) await takeRuntimeDown(deps, layout, signal)
  await removeServiceNetwork(deps.clock, layout, signal)
  await removeCgroup(deps.clock, record.cgroupRoot, signal)
  await removeSlice(deps, record.cgroupRoot, signal)
  await removeLinksInto(CONTAINER_LOG_LINKS, layout.podLogs)
  await unmountOwn(deps, layout, signal)
  deps.say(
    options.purge
      ? `Everything is stopped and ${await purge(layout)}.`
      : `Everything is stopped; ${layout.state} is kept.`,
  )
}

/** An "up" that a full disk kept from noting its pid would start again what we stop. */
async function checkNoUp(deps: DownDeps, layout: NodeLayout, signal: AbortSignal): Promise<void> {
  const end = deps.clock.monotonic() + LEAVING_MS
  while (await isUpLocked(layout.upIdentity)) {
    if (deps.clock.monotonic() > end) {
      const message = `Cannot stop the node: "deckhand up" runs, and "${layout.upIdentity}" does not say where; end it first`
      throw new NodeError(message, exitCodes.failed)
    }
    await deps.clock.sleep(POLL_MS, signal)
  }
}

async function stopAllPods(deps: DownDeps, layout: NodeLayout, record: NodeRecord, signal: AbortSignal): Promise<void> {
  if (record.runtime !== undefined) {
    // A runtime of the user's may run pods of others too: ours have a log folder here, "<namespace>_<name>_<uid>".
    const uids = new Set((await listFolder(layout.podLogs)).map(uidOf))
    if (await canConnect(record.runtime.replace('unix://', ''))) await stopPodsOf(deps, record.runtime, uids, signal)
    else if (uids.size > 0) throw createAwayError(record.runtime)
  }
  if (!(await hasPrivateRuntime(layout))) return
  try {
    if ((await findContainerd(layout.containerd)) === undefined) {
      if (!(await hasPodsLeft(layout.containerd))) return
      // Containers outlive a containerd that was killed; only a containerd can stop them in good order.
      await startContainerd(deps.clock, { paths: layout.containerd, enter: [] }, signal)
    }
    await stopPodsOf(deps, `unix://${layout.containerd.socket}`, undefined, signal)
  } catch (error) {
    if (signal.aborted) throw error
    // A full disk above all; what runs in the node's cgroup is killed with it.
    deps.say(`Cannot stop pods in good order, they are killed: ${errorMessage(error)}`)
  }
}

/** A client would wait for minutes. The pods go on meanwhile, and only their runtime can stop them. */
function createAwayError(endpoint: string): NodeError {
  const advice = 'start it and run "deckhand down" again'
  const message = `Cannot stop the pods: their runtime is away, nothing listens at "${endpoint}"; ${advice}`
  return new NodeError(message, exitCodes.failed)
}

/** True when a private containerd was ever started, whatever runtime the last "up" used. */
async function hasPrivateRuntime(layout: NodeLayout): Promise<boolean> {
  return (await readTextIfPresent(layout.containerd.config)) !== undefined
}

async function stopPodsOf(
  deps: DownDeps,
  endpoint: string,
  uids: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  using runtime = await deps.openRuntime(endpoint, signal)
  deps.say('stopping pods; each gets its own grace period to end')
  const { stopped, failures } = await stopPods(runtime, uids, signal)
  for (const failure of failures) deps.say(failure)
  deps.say(stopped === 1 ? '1 pod stopped' : `${stopped} pods stopped`)
}

function uidOf(logFolder: string): string {
  return logFolder.slice(logFolder.lastIndexOf('_') + 1)
}

async function takeRuntimeDown(deps: DownDeps, layout: NodeLayout, signal: AbortSignal): Promise<void> {
  if (await stopContainerd(deps.clock, layout.containerd, signal)) deps.say('containerd stopped')
  const argv = ['ip', 'link', 'delete', 'dev', layout.bridge]
  // Fails when no pod ever made the bridge.
  await runProcess(deps.clock, { argv, deadlineMs: COMMAND_DEADLINE_MS }, signal)
}

/** Removes the slice of a runtime that has systemd make its cgroups. A slice that only loses its folder would still be there to systemd, with all that are below it. */
async function removeSlice(deps: DownDeps, cgroupRoot: string, signal: AbortSignal): Promise<void> {
  const path = rootCgroupPath({ driver: 'systemd', root: cgroupRoot, perQos: true })
  if (!(await hasCgroup(path))) return
  const argv = ['systemctl', 'stop', basename(path)]
  await runProcessOrThrow(deps.clock, { argv, deadlineMs: SLICE_DEADLINE_MS }, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    deps.say(`Cannot have systemd stop the slice of the pods, only its cgroup is removed: ${errorMessage(error)}`)
  })
  await removeCgroup(deps.clock, path, signal)
}

/** Again until none is left that would go: mounts stand on one another. */
async function unmountOwn(deps: DownDeps, layout: NodeLayout, signal: AbortSignal): Promise<void> {
  const run = async (...argv: string[]) =>
    (await runProcess(deps.clock, { argv, deadlineMs: COMMAND_DEADLINE_MS }, signal)).exitCode === 0
  for (let isDone = false; !isDone;) {
    isDone = true
    for (const point of findOwnMounts(await readMountTable(), layout)) {
      // What lies in it may be a shared mount of the user's, and would go with ours everywhere.
      await run('mount', '--make-rprivate', point)
      if (await run('umount', '--lazy', point)) isDone = false
    }
  }
}

/** Removes the state folder; of one that is a mount only the node's own files, since the rest is the user's. Says what it did. */
async function purge(layout: NodeLayout): Promise<string> {
  const points = mountPointsBelow(await readMountTable(), layout.state)
  const left = points.find((point) => point !== layout.state)
  // Removing through a mount would remove what is not the node's.
  if (left !== undefined) {
    throw new NodeError(
      `Cannot remove "${layout.state}": "${left}" is still mounted there; unmount it first`,
      exitCodes.failed,
    )
  }
  if (points.length === 0) {
    await removeTree(layout.state)
    return `${layout.state} removed`
  }
  for (const path of ownPaths(layout)) await removeTree(path)
  return `the node's files removed; ${layout.state} is kept, it is a mount of its own`
}

/** Somebody removed files below a node that runs: what else it has on the machine is not known without them. */
function describeLostRecord(state: string, pid: number): string {
  return `${state} has lost files of the node that runs from it: end its "deckhand up" (kill ${pid}), then "deckhand up" and "deckhand down --purge" with the same options take away what it has left`
}
