import { dirname } from 'node:path'
import { TaskGroup } from '../base/async/task-group.ts'
import { runMemoryTrim } from '../base/telemetry/run-memory-trim.ts'
import { makeCgroup } from '../system/cgroups/cgroup-tree.ts'
import { readMachine } from '../system/machine/read-machine.ts'
import { listFolder, readTextIfPresent, realFolder, removeTree } from '../system/files/state/state-folder.ts'
import { inspectPath } from '../system/files/read-manifest-file.ts'
import { listPods } from './node/agent/agent-client.ts'
import type { PodSummary } from './node/agent/agent-client.ts'
import { computeNodeName } from './node/compute-node-name.ts'
import { createAgentConfig } from './node/agent/agent-config.ts'
import { knownAgent, startAgent, waitUntilHealthy } from './node/agent/agent-process.ts'
import type { AgentProcess } from './node/agent/agent-process.ts'
import { finishRestore } from './backup/replace-node.ts'
import { createKustomizationBuilder } from './apply/build-kustomization.ts'
import { runAppliedFolder } from './apply/run-applied-folder.ts'
import { AUTO_RUNTIME, DOCKER_ENDPOINT } from './arguments/up-options.ts'
import type { UpOptions } from './arguments/up-options.ts'
import {
  checkAddresses,
  checkIpv6,
  checkIngressPorts,
  checkPorts,
  checkPrograms,
  checkRoot,
  checkRuntime,
  chooseRuntime,
  findOciRuntime,
  toFolderError,
  checkAppliedFolder,
} from './node/check-machine.ts'
import {
  configureContainerd,
  configureNetwork,
  findContainerd,
  isConfigured,
  startContainerd,
  stopContainerd,
} from './node/runtime/containerd.ts'
import { EXAMPLE_POD, examplePod } from './images/example-pod.ts'
import { importNodeImages } from './images/import-images.ts'
import { stopProcess } from './node/known-process.ts'
import type { StandaloneDeps, UpDeps } from './node/node-deps.ts'
import { computeNodeLayout, computeRanges } from './node/node-layout.ts'
import type { NodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'
import type { NodeRecord } from './node/node-record.ts'
import { OWN_NAME } from './node/own-name.ts'
import { createPortReporter } from './node/network/ingress-problems.ts'
import { findIngressRefusal, formatIngressPorts, hasIngress } from './node/network/ingress-refusal.ts'
import { prepareMasquerade } from './node/network/prepare-masquerade.ts'
import { findNftProblem, findRulesProgram } from './node/network/find-rules-program.ts'
import { findPolicyRefusal } from './node/network/policy-refusal.ts'
import {
  checkServicePrograms,
  prepareServiceNetwork,
  removeUnkeptRules,
  warnOfForwardDrops,
} from './node/network/service-network.ts'
import { POD_NETWORK } from './node/runtime/cni.ts'
import { startStandaloneApi } from './node/api/start-standalone-api.ts'
import { startNodePage } from './node/page/start-node-page.ts'
import { runSupervision } from './node/supervision.ts'
import { describePage } from './node/page/describe-page.ts'
import { stateOption } from './node/state-option.ts'
import { takeUpLock } from './node/up-lock.ts'
import { makeFolder, writeFileDurably } from '../system/files/durable-file.ts'
import { restrictMode } from '../system/files/restrict-mode.ts'

/** The line that says so. */
export const NODE_IS_UP = 'The node is up.'

const AGENT_GRACE_MS = 15_000
// For root and its group.
const FOLDER_MODE = 0o750
const EXAMPLE_DEADLINE_MS = 60_000
const POLL_MS = 50
const EXAMPLE_FILE = `${EXAMPLE_POD}.yaml`

/** Runs a standalone node until the signal aborts; then the agent leaves, and pods and runtime stay. */
export async function runUp(deps: UpDeps, asked: UpOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  if (asked.apply !== undefined) await checkAppliedFolder(asked.apply)
  const options = await chooseOptions(deps, asked)
  await using cleanup = new AsyncDisposableStack()
  const layout = await openStateFolder(deps, options.state, cleanup)
  await finishRestore(layout.state, deps.clock)
  const nftProblem = await findNftProblem(deps, signal)
  const record = await prepareNode(deps, layout, { ...options, nftProblem }, signal)
  const { nodeName } = record
  let isUp = false
  // Of another runtime's pods the network is not ours.
  const ranges = computeRanges(layout, options.isDualStack)
  const masqueradeProgram =
    options.runtime === undefined
      ? await prepareMasquerade(deps, { ...layout, ...ranges, nftProblem }, signal)
      : undefined
  if (options.runtime === undefined) {
    const { ociRuntime, isDualStack } = options
    const node = { layout, ociRuntime, isDualStack, masquerade: masqueradeProgram === undefined }
    const isStarted = await startRuntime(deps, node, signal)
    // Of a start that failed nothing goes on.
    cleanup.defer(async () => {
      if (isStarted && !isUp) await stopContainerd(deps.clock, layout.containerd, new AbortController().signal)
    })
  } else if (await deps.isDocker(options.runtime, signal)) await prepareDocker(deps, options.runtime, signal)
  const group = cleanup.use(new TaskGroup(signal))
  const { without, addresses, isDualStack } = options
  const { hasAddresses: hasServiceAddress, seesBridge } = await prepareServiceNetwork(
    deps,
    { ...layout, isDualStack },
    signal,
  )
  const policyRefusal = findPolicyRefusal({ ...options, nftProblem })
  const usable = await findRulesProgram(nftProblem, deps.programPath)
  const rulesProgram = without.includes('services') ? undefined : usable
  if (rulesProgram === 'iptables') deps.say(`${nftProblem}: the rules of Services are written with iptables`)
  const kept = { services: rulesProgram, masquerade: masqueradeProgram, policies: policyRefusal === undefined }
  await removeUnkeptRules(deps.clock, layout, kept, signal)
  // Docker makes such a chain itself, and accepts what its own network forwards.
  if (options.runtime === undefined) await warnOfForwardDrops(deps, usable ?? 'nft', signal)
  const refusals = { policies: policyRefusal, ingress: findIngressRefusal(options) }
  await startStandaloneApi(deps, { layout, record, without, ...ranges, hasServiceAddress, refusals }, group)
  const client = await deps.openClient(layout.adminKubeconfig, group)
  group.run('memory', (s) => runMemoryTrim({ ...deps.memory, clock: deps.clock }, s))
  if (!without.includes('scheduler'))
    group.run('scheduler', (s) => deps.runScheduler({ client, nodeName, logFile: layout.apiLog }, s))
  const { services, bridge } = layout
  // Of an earlier run.
  await removeTree(layout.ingressProblems)
  const ingress =
    refusals.ingress === undefined
      ? { ports: options.ingressPorts, onPorts: createPortReporter(deps, layout) }
      : { refusal: refusals.ingress }
  const network = { services, ...ranges, seesBridge, bridge, rulesProgram, masqueradeProgram, policyRefusal, ingress }
  const controllers = {
    kubeconfig: layout.adminKubeconfig,
    nodeName,
    without,
    logFile: layout.controllersLog,
    volumes: layout.volumes,
    ...network,
  }
  group.run('controllers', (s) => deps.runControllers(controllers, s))
  cleanup.defer(() => leaveAgent(deps, { layout, nodeName, isUp }))
  const kubelet = options.kubelet === undefined ? deps.ownKubelet : [options.kubelet]
  const agent = await startAgent(deps, { layout, nodeName, addresses }, kubelet)
  await waitUntilHealthy(deps, { agent, layout, record }, signal)
  isUp = true
  // Of an earlier run.
  await removeTree(layout.appliedProblems)
  if (options.apply !== undefined) {
    const applied = {
      folder: options.apply,
      recordFile: layout.applied,
      random: deps.random,
      problemsFile: layout.appliedProblems,
      buildKustomization: createKustomizationBuilder(deps.clock, deps.programPath),
    }
    const say = (line: string) => deps.say(line)
    group.run('applied folder', (s) => runAppliedFolder({ ...applied, client, clock: deps.clock, say }, s))
  }
  const hasPage = await startNodePage(deps, { layout, nodeName, port: options.pagePort }, group)
  await announce(deps, { layout, record, agent, hasPage }, signal)
  await runSupervision(
    deps,
    { layout, nodeName, addresses, privateRuntime: options.runtime === undefined, kubelet },
    agent,
    signal,
  )
}

/** With a runtime in place of "auto". */
async function chooseOptions(deps: UpDeps, asked: UpOptions): Promise<UpOptions> {
  if (asked.runtime !== AUTO_RUNTIME) return asked
  const runtime = await chooseRuntime(deps.programPath, DOCKER_ENDPOINT)
  deps.say(runtime === undefined ? 'runtime: a private containerd' : `runtime: Docker at ${runtime}`)
  return { ...asked, runtime }
}

/** Docker has no image of sandboxes of its own, and may not reach a registry that has one. */
async function prepareDocker(deps: UpDeps, endpoint: string, signal: AbortSignal): Promise<void> {
  // Loaded only where there is Docker.
  const { loadIntoDocker } = await import('./images/load-into-docker.ts')
  const loaded = await loadIntoDocker(deps.clock, endpoint.replace('unix://', ''), signal)
  if (loaded.length > 0) deps.say(`images made for Docker: ${loaded.join(', ')}`)
}

async function openStateFolder(
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
async function prepareNode(
  deps: UpDeps,
  layout: NodeLayout,
  options: UpOptions & { readonly nftProblem: string | undefined },
  signal: AbortSignal,
): Promise<NodeRecord> {
  const before = await readNodeRecord(layout.record)
  const nodeName = before?.nodeName ?? computeNodeName(deps.hostname)
  if (before === undefined && nodeName !== deps.hostname.trim().toLowerCase())
    deps.say(`the host name "${deps.hostname}" cannot name a node: this one is called "${nodeName}"`)
  const stale = { ...knownAgent({ layout, nodeName }), graceMs: AGENT_GRACE_MS }
  if (await stopProcess(deps.clock, stale, signal)) deps.say('stopped an agent that a killed "deckhand up" had left')
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
    const { checkSettings } = await import('./node/check-settings.ts')
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
  // Containers write what they like into their logs, and manifests have passwords in them: none of it is for other users.
  for (const folder of [...folders, layout.manifests]) await restrictMode(folder, FOLDER_MODE)
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

/** True when it was not running before. */
async function startRuntime(
  deps: UpDeps,
  node: {
    readonly layout: NodeLayout
    readonly ociRuntime: string | undefined
    readonly isDualStack: boolean
    readonly masquerade: boolean
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { layout, ociRuntime: asked, isDualStack, masquerade } = node
  const containerd = { paths: layout.containerd, enter: [] }
  const running = await findContainerd(layout.containerd)
  const { bridge, subnet } = layout
  const network = {
    name: POD_NETWORK,
    bridge,
    subnet,
    subnet6: isDualStack ? layout.subnet6 : undefined,
    masquerade,
  }
  if (running === undefined) {
    const ociRuntime = asked ?? (await findOciRuntime(deps.programPath))
    await configureContainerd(deps.clock, containerd, { network, ociRuntime }, signal).catch(async (error: unknown) => {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
      // That of the last "up" does as well.
      if (!isFull || !(await isConfigured(layout.containerd))) throw toFolderError(layout.state, error)
    })
    const { pid } = await startContainerd(deps.clock, containerd, signal)
    deps.say(`containerd started (pid ${pid})`)
  } else {
    deps.say(`containerd found running (pid ${running})`)
    if (await configureNetwork(layout.containerd, network).catch(() => false))
      deps.say('the network of pods has changed: those that run keep theirs until they are made again')
  }
  const imported = await importNodeImages(deps.clock, containerd, signal)
  if (imported.length > 0) deps.say(`images made: ${imported.join(', ')}`)
  return running === undefined
}

async function announce(
  deps: UpDeps,
  node: {
    readonly layout: NodeLayout
    readonly record: NodeRecord
    readonly agent: AgentProcess
    readonly hasPage: boolean
  },
  signal: AbortSignal,
): Promise<void> {
  const { layout, record, agent, hasPage } = node
  deps.say(`agent healthy (pid ${agent.pid})`)
  if ((await listFolder(record.manifests)).includes(EXAMPLE_FILE)) {
    deps.say(formatExample(await waitForExample(deps, layout, signal)))
  }
  const command = stateOption(layout)
  deps.say('')
  deps.say(NODE_IS_UP)
  deps.say(`  kubectl       export KUBECONFIG=${layout.adminKubeconfig}`)
  if (record.addresses !== undefined)
    deps.say(`  elsewhere     ${OWN_NAME} kubeconfig${command} > FILE, for kubectl on other machines`)
  deps.say(`  run pods      kubectl apply -f FILE, or put manifests into ${record.manifests}`)
  deps.say(`  see pods      kubectl get pods -A, or ${OWN_NAME} status${command}`)
  deps.say(`  explain one   ${OWN_NAME} why POD${command}`)
  const page = hasPage ? await describePage(deps, layout) : undefined
  if (page !== undefined) deps.say(`  look at it    ${page}`)
  if (record.ingressPorts !== undefined) deps.say(`  Ingresses     ${formatIngressPorts(record.ingressPorts)}`)
  deps.say(`  add images    ${OWN_NAME} images pull NAME, or load FILE${command}`)
  deps.say(`  settings      *.conf files in ${layout.settings}, read at the start`)
  deps.say(`  pods' logs    ${layout.podLogs}/<namespace>_<pod>_<uid>/<container>/<n>.log`)
  deps.say(`  agent's log   ${layout.agentLog}`)
  deps.say(`  leave         Ctrl-C: the agent stops, pods go on`)
  deps.say(`  stop all      ${OWN_NAME} down${command}`)
}

async function waitForExample(
  deps: StandaloneDeps,
  layout: NodeLayout,
  signal: AbortSignal,
): Promise<PodSummary | undefined> {
  const end = deps.clock.monotonic() + EXAMPLE_DEADLINE_MS
  for (;;) {
    const pods = await listPods(layout, signal).catch(() => [])
    const example = pods.find(({ name }) => name.startsWith(`${EXAMPLE_POD}-`))
    if (example?.ready === true || deps.clock.monotonic() > end) return example
    await deps.clock.sleep(POLL_MS, signal)
  }
}

function formatExample(example: PodSummary | undefined): string {
  if (example === undefined) return 'example pod: the agent does not know it yet'
  if (example.ready && example.address === '') return 'example pod runs'
  if (example.ready) return `example pod runs: curl http://${example.address}:8080`
  return `example pod does not run yet: ${example.phase} ${example.waiting}`.trimEnd()
}

async function leaveAgent(
  deps: StandaloneDeps,
  node: { readonly layout: NodeLayout; readonly nodeName: string; readonly isUp: boolean },
): Promise<void> {
  const stopped = { ...knownAgent(node), graceMs: AGENT_GRACE_MS }
  if (await stopProcess(deps.clock, stopped, new AbortController().signal)) deps.say('The agent stopped.')
  if (!node.isUp) return
  deps.say(`Pods and runtime go on: "${OWN_NAME} up" takes over again, "${OWN_NAME} down" stops all.`)
}
