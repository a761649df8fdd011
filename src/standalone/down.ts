import { removeCgroup } from '../host/cgroup-tree.ts'
import { mountPointsBelow, readMountTable } from '../host/mount-table.ts'
import { runProcess } from '../host/run-process.ts'
import { listFolder, readTextIfPresent, realFolder, removeLinksInto, removeTree } from '../host/state-folder.ts'
import { checkRoot } from './check-machine.ts'
import { findContainerd, startContainerd, stopContainerd } from './containerd.ts'
import { stopProcess } from './known-process.ts'
import type { NodeDeps } from './node-deps.ts'
import { exitCodes, NodeError } from './node-error.ts'
import { computeNodeLayout } from './node-layout.ts'
import type { NodeLayout } from './node-layout.ts'
import { readNodeRecord } from './node-record.ts'
import type { NodeRecord } from './node-record.ts'
import { stopPods } from './stop-pods.ts'
import type { PodRuntime } from './stop-pods.ts'

export interface DownDeps extends NodeDeps {
  openRuntime(endpoint: string): PodRuntime & Disposable
}

// The agent links the logs of running containers here, where log collectors look.
const CONTAINER_LOG_LINKS = '/var/log/containers'
const UP_GRACE_MS = 30_000
const AGENT_GRACE_MS = 15_000
const COMMAND_DEADLINE_MS = 10_000

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
    deps.say(`There is no node in ${layout.state}.`)
    return
  }
  if (await stopProcess(deps.clock, { file: layout.upIdentity, graceMs: UP_GRACE_MS }, signal))
    deps.say('"deckhand up" ended')
  if (await stopProcess(deps.clock, { file: layout.agentIdentity, graceMs: AGENT_GRACE_MS }, signal))
    deps.say('agent stopped')
  await stopAllPods(deps, layout, record, signal)
  if (await hasPrivateRuntime(layout)) await takeRuntimeDown(deps, layout, signal)
  await removeCgroup(deps.clock, record.cgroupRoot, signal)
  await removeLinksInto(CONTAINER_LOG_LINKS, layout.podLogs)
  await unmountAll(deps, layout.state, signal)
  if (options.purge) await purge(layout)
  deps.say(
    options.purge
      ? `Everything is stopped and ${layout.state} removed.`
      : `Everything is stopped; ${layout.state} is kept.`,
  )
}

async function stopAllPods(deps: DownDeps, layout: NodeLayout, record: NodeRecord, signal: AbortSignal): Promise<void> {
  if (record.runtime !== undefined) {
    // A runtime of the user's may run pods of others too: ours have a log folder here, "<namespace>_<name>_<uid>".
    const uids = new Set((await listFolder(layout.podLogs)).map(uidOf))
    await stopPodsOf(deps, record.runtime, uids, signal)
  }
  if (!(await hasPrivateRuntime(layout))) return
  if ((await findContainerd(layout.containerd)) === undefined) {
    // Containers outlive a containerd that was killed; only a containerd can stop them in good order.
    await startContainerd(deps.clock, { paths: layout.containerd, enter: [] }, signal)
  }
  await stopPodsOf(deps, `unix://${layout.containerd.socket}`, undefined, signal)
}

/** True when a private containerd was ever started, whatever runtime the last "up" was told to use. */
async function hasPrivateRuntime(layout: NodeLayout): Promise<boolean> {
  return (await readTextIfPresent(layout.containerd.config)) !== undefined
}

async function stopPodsOf(
  deps: DownDeps,
  endpoint: string,
  uids: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  using runtime = deps.openRuntime(endpoint)
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

async function unmountAll(deps: DownDeps, folder: string, signal: AbortSignal): Promise<void> {
  for (const point of mountPointsBelow(await readMountTable(), folder)) {
    const argv = ['umount', '--lazy', point]
    await runProcess(deps.clock, { argv, deadlineMs: COMMAND_DEADLINE_MS }, signal)
  }
}

async function purge(layout: NodeLayout): Promise<void> {
  const [left] = mountPointsBelow(await readMountTable(), layout.state)
  // Removing through a mount would remove what is not the node's.
  if (left !== undefined) {
    throw new NodeError(`Cannot remove "${layout.state}": "${left}" is still mounted there`, exitCodes.failed)
  }
  await removeTree(layout.state)
}
