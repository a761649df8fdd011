import { dirname } from 'node:path'
import { makeCgroup } from '../../system/cgroups/cgroup-tree.ts'
import { readMachine } from '../../system/machine/read-machine.ts'
import { listFolder, readTextIfPresent, realFolder, removeTree } from '../../system/files/files-and-folders.ts'
import { inspectPath } from '../../system/files/read-bounded-file.ts'
import { computeNodeName } from '../node/compute-node-name.ts'
import { createAgentConfig } from '../node/agent/agent-config.ts'
import { DOCKER_ENDPOINT } from '../arguments/up-options.ts'
import type { UpOptions } from '../arguments/up-options.ts'
import {
  checkAddresses,
  checkIpv6,
  checkIngressPorts,
  checkPorts,
  checkPrograms,
  checkRuntime,
  toFolderError,
} from '../node/check-requirements.ts'
import { EXAMPLE_FILE, examplePod } from '../images/example-pod.ts'
import type { StandaloneDeps, UpDeps } from '../node/node-deps.ts'
import { computeNodeLayout } from '../node/node-layout.ts'
import type { NodeLayout } from '../node/node-layout.ts'
import { readNodeRecord } from '../node/node-record.ts'
import type { NodeRecord } from '../node/node-record.ts'
import { hasIngress } from '../node/network/ingress-refusal.ts'
import { checkServicePrograms } from '../node/network/service-network.ts'
import { takeUpLock } from '../node/up-lock.ts'
import { sandboxProfilePath } from '../../system/directories/sandbox-profile.ts'
import { createSandboxSeccompProfile } from '../node/runtime/sandbox-seccomp.ts'
import { makeFolder, writeFileDurably } from '../../system/files/state/durable-file.ts'
import { restrictMode } from '../../system/files/restrict-mode.ts'
import { stopAgent } from '../node/agent/agent-process.ts'

// For root and its group.
const FOLDER_MODE = 0o750

/** The folder of the node, made where it is missing, and held by this process alone until `cleanup`. */
export async function openStateFolder(
  deps: StandaloneDeps,
  state: string,
  cleanup: AsyncDisposableStack,
): Promise<NodeLayout> {
  try {
    const isNew = (await inspectPath(state)).kind === 'missing'
    await makeFolder(state)
    cleanup.defer(async () => {
      if (isNew && (await listFolder(state)).length === 0) await removeTree(state)
    })
    const layout = computeNodeLayout(await realFolder(state))
    cleanup.use(await takeUpLock(layout.upIdentity, deps.pid))
    return layout
  } catch (error) {
    throw toFolderError(state, error)
  }
}

/** Everything that the runtime and the agent find at their start. */
export async function prepareNode(
  deps: UpDeps,
  layout: NodeLayout,
  options: UpOptions & { readonly nftProblem: string | undefined },
  signal: AbortSignal,
): Promise<NodeRecord> {
  const before = await readNodeRecord(layout.record)
  const nodeName = before?.nodeName ?? computeNodeName(deps.hostname)
  if (before === undefined && nodeName !== deps.hostname.trim().toLowerCase())
    deps.say(`the host name "${deps.hostname}" cannot name a node: this one is called "${nodeName}"`)
  if (await stopAgent(deps.clock, { layout, nodeName }, signal))
    deps.say('stopped an agent that a killed "deckhand up" had left')
  await checkAddresses(options.addresses)
  if (options.isDualStack) checkIpv6()
  await checkPorts(options.ports, options.addresses)
  await checkIngressPorts(options.ingressPorts)
  await (options.runtime === undefined
    ? checkPrograms(deps.programPath, options.ociRuntime, DOCKER_ENDPOINT)
    : checkRuntime(options.runtime))
  // After those of a private runtime, which needs iptables in any case: what it advises would not be enough there.
  await checkServicePrograms(deps.programPath, options)
  const record: NodeRecord = {
    nodeName,
    cgroupRoot: options.cgroupRoot ?? layout.cgroupRoot,
    manifests: options.manifests ?? layout.manifests,
    ports: options.ports,
    ...(options.addresses.length === 0 ? {} : { addresses: options.addresses }),
    ...(options.runtime === undefined ? {} : { runtime: options.runtime }),
    ...(hasIngress(options) ? { ingressPorts: options.ingressPorts } : {}),
    ...(options.apply === undefined ? {} : { apply: options.apply }),
    ...(options.without.length === 0 ? {} : { without: options.without }),
  }
  if (before?.apply !== undefined && options.apply === undefined)
    deps.say(`What came from ${before.apply} stays as it is: for it to follow its files again, give --apply once more`)
  await writeNodeFiles(layout, record).catch((error: unknown) => {
    throw toFolderError(layout.state, error)
  })
  if (options.kubelet === undefined && (await listFolder(layout.settings)).length > 0) {
    // Loaded only here: most nodes have no settings of their own.
    const { checkSettings } = await import('../node/check-settings.ts')
    const odd = await checkSettings({ layout, record }, { ...readMachine(), hostname: nodeName })
    for (const warning of odd) deps.say(`warning: ${warning}`)
  }
  makeCgroup(record.cgroupRoot)
  return record
}

async function writeNodeFiles(layout: NodeLayout, record: NodeRecord): Promise<void> {
  await writeIfChanged(layout.record, `${JSON.stringify(record, undefined, 2)}\n`, 0o644)
  await writeIfChanged(layout.agentConfig, createAgentConfig(layout, record), 0o600)
  await writeExample(layout, record)
  const folders = [dirname(layout.podLogs), layout.podLogs, layout.agentRoot, layout.settings]
  for (const folder of folders) await makeFolder(folder, FOLDER_MODE)
  await writeSandboxProfile(layout, record)
  // Containers write what they like into their logs, and manifests have passwords in them: none of it is for other users.
  for (const folder of [...folders, layout.manifests]) await restrictMode(folder, FOLDER_MODE)
}

/** Made for the image of sandboxes that is the node's own; another runtime has another. */
async function writeSandboxProfile({ agentRoot }: NodeLayout, { runtime }: NodeRecord): Promise<void> {
  const path = sandboxProfilePath(agentRoot)
  await makeFolder(dirname(path), FOLDER_MODE)
  if (runtime === undefined) await writeIfChanged(path, createSandboxSeccompProfile(), 0o600)
  else await removeTree(path)
}

/** A node that is as it was needs no space, and so comes up again on a full disk. */
async function writeIfChanged(file: string, text: string, mode: number): Promise<void> {
  if ((await readTextIfPresent(file)) !== text) await writeFileDurably(file, text, { mode })
  else await restrictMode(file, mode)
}

/** Only into a folder that is new: a user who removed the example does not want it back. Its image is our runtime's alone. */
async function writeExample(layout: NodeLayout, record: NodeRecord): Promise<void> {
  const isNew = !(await listFolder(layout.state)).includes('manifests')
  await makeFolder(record.manifests, FOLDER_MODE).catch((error: unknown) => {
    throw toFolderError(record.manifests, error)
  })
  if (!isNew || record.manifests !== layout.manifests || record.runtime !== undefined) return
  await writeFileDurably(`${layout.manifests}/${EXAMPLE_FILE}`, examplePod, { mode: 0o600 })
}
