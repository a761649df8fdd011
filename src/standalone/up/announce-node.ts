import { listFolder } from '../../system/files/files-and-folders.ts'
import { listPods } from '../node/agent/agent-client.ts'
import type { PodSummary } from '../node/agent/agent-client.ts'
import type { AgentProcess } from '../node/agent/agent-process.ts'
import { EXAMPLE_FILE, EXAMPLE_POD } from '../images/example-pod.ts'
import type { StandaloneDeps, UpDeps } from '../node/node-deps.ts'
import type { NodeLayout } from '../node/node-layout.ts'
import type { NodeRecord } from '../node/node-record.ts'
import { OWN_NAME } from '../node/own-name.ts'
import { formatIngressPorts } from '../node/network/ingress-refusal.ts'
import { describePage } from '../node/page/describe-page.ts'
import { stateOption } from '../node/state-option.ts'

/** The line that says so. */
export const NODE_IS_UP = 'The node is up.'

const EXAMPLE_DEADLINE_MS = 60_000
const POLL_MS = 50

/** Says that the node is up, and what can be done with it. */
export async function announceNode(
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
