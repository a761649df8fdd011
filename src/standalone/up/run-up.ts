import { TaskGroup } from '../../base/async/task-group.ts'
import { runMemoryTrim } from '../../base/telemetry/run-memory-trim.ts'
import { removeTree } from '../../system/files/files-and-folders.ts'
import { startAgent, stopAgent, waitUntilHealthy } from '../node/agent/agent-process.ts'
import { finishRestore } from '../backup/replace-node.ts'
import { createKustomizationBuilder } from '../apply/build-kustomization.ts'
import { runAppliedFolder } from '../apply/run-applied-folder.ts'
import { AUTO_RUNTIME, DOCKER_ENDPOINT } from '../arguments/up-options.ts'
import type { UpOptions } from '../arguments/up-options.ts'
import { checkRoot, chooseRuntime, checkAppliedFolder } from '../node/check-requirements.ts'
import { stopContainerd } from '../node/runtime/containerd.ts'
import type { StandaloneDeps, UpDeps } from '../node/node-deps.ts'
import { computeRanges } from '../node/node-layout.ts'
import type { NodeLayout } from '../node/node-layout.ts'
import { OWN_NAME } from '../node/own-name.ts'
import { createPortReporter } from '../node/network/ingress-problems.ts'
import { findIngressRefusal } from '../node/network/ingress-refusal.ts'
import { prepareMasquerade } from '../node/network/prepare-masquerade.ts'
import { findNftProblem, findRulesProgram } from '../node/network/find-rules-program.ts'
import { findPolicyRefusal } from '../node/network/policy-refusal.ts'
import { prepareServiceNetwork, removeUnkeptRules, warnOfForwardDrops } from '../node/network/service-network.ts'
import { startStandaloneApi } from '../node/api/start-standalone-api.ts'
import { startNodePage } from '../node/page/start-node-page.ts'
import { runSupervision } from '../node/supervision.ts'
import { announceNode } from './announce-node.ts'
import { openStateFolder, prepareNode } from './prepare-node.ts'
import { prepareDocker, startPrivateRuntime } from './prepare-runtime.ts'

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
  // The network of another runtime's pods is not ours.
  const ranges = computeRanges(layout, options.isDualStack)
  const masqueradeProgram =
    options.runtime === undefined
      ? await prepareMasquerade(deps, { ...layout, ...ranges, nftProblem }, signal)
      : undefined
  if (options.runtime === undefined) {
    const { ociRuntime, isDualStack } = options
    const node = { layout, ociRuntime, isDualStack, masquerade: masqueradeProgram === undefined }
    const isStarted = await startPrivateRuntime(deps, node, signal)
    // Nothing goes on after a start that failed.
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
  await announceNode(deps, { layout, record, agent, hasPage }, signal)
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

async function leaveAgent(
  deps: StandaloneDeps,
  node: { readonly layout: NodeLayout; readonly nodeName: string; readonly isUp: boolean },
): Promise<void> {
  if (await stopAgent(deps.clock, node, new AbortController().signal)) deps.say('The agent stopped.')
  if (!node.isUp) return
  deps.say(`Pods and runtime go on: "${OWN_NAME} up" takes over again, "${OWN_NAME} down" stops all.`)
}
