import type { TaskGroup } from '../../../base/async/task-group.ts'
import { BackOff } from '../../../base/async/back-off.ts'
import { OWN_INGRESS_CONTROLLER } from '../../../model/networking/ingress-classes.ts'
import { LOCAL_PROVISIONER } from '../../../model/storage/storage-classes.ts'
import type { UpDeps } from '../node-deps.ts'
import { exitCodes, NodeError } from '../node-error.ts'
import type { NodeLayout } from '../node-layout.ts'
import { apiUrls } from '../node-record.ts'
import type { NodeRecord } from '../node-record.ts'
import { INGRESSES } from '../network/ingress-refusal.ts'
import { POLICIES } from '../network/policy-refusal.ts'
import { switchedOff } from '../switchable-parts.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** The name that most manifests use which name one. */
const DEFAULT_CLASS = { name: 'standard', provisioner: LOCAL_PROVISIONER }
const INGRESS_CLASS = { name: 'deckhand', controller: OWN_INGRESS_CONTROLLER }
const RESTARTS = { firstMs: 1000, longestMs: 30_000 }
// What lasts, such as a full disk, is logged again now and then.
const SAID_AGAIN_MS = 10 * 60_000

/** Serves the Kubernetes API of the node in the group, again whenever it ends by itself. Resolves when clients may come. */
export async function startStandaloneApi(
  deps: UpDeps,
  {
    layout,
    record,
    without,
    serviceRanges,
    hasServiceAddress,
    refusals,
  }: {
    readonly layout: NodeLayout
    readonly record: NodeRecord
    readonly without: readonly string[]
    readonly serviceRanges: readonly string[]
    readonly hasServiceAddress: boolean
    /** Why network policies and Ingresses are not taken, if they are not. */
    readonly refusals: { readonly policies: string | undefined; readonly ingress: string | undefined }
  },
  group: TaskGroup,
): Promise<void> {
  const ready = Promise.withResolvers<void>()
  const options = {
    folder: layout.api,
    port: record.ports.kubernetes,
    addresses: record.addresses ?? [],
    nodeName: record.nodeName,
    adminKubeconfig: layout.adminKubeconfig,
    readerKubeconfig: layout.readerKubeconfig,
    agentKubeconfig: layout.agentKubeconfig,
    logFile: layout.apiLog,
    agentSocket: layout.agentSocket,
    serviceRange: serviceRanges.join(','),
    hasServiceAddress,
    switchedOff: new Map([
      ...switchedOff(without),
      ...(refusals.policies === undefined ? [] : [[POLICIES, refusals.policies] as const]),
      ...(refusals.ingress === undefined ? [] : [[INGRESSES, refusals.ingress] as const]),
    ]),
    storageClass: without.includes('storage') ? undefined : DEFAULT_CLASS,
    ingressClass: refusals.ingress === undefined ? INGRESS_CLASS : undefined,
  }
  const reportError = createErrorReporter(deps, layout.apiLog)
  let isReady = false
  const backOff = new BackOff(RESTARTS)
  const onReady = () => {
    isReady = true
    backOff.reset()
    ready.resolve()
  }
  group.run('kubernetes API', async (signal) => {
    for (;;) {
      try {
        await deps.serveApi({ ...options, onReady, onError: reportError }, signal)
        await deps.clock.sleep(backOff.next(), signal)
      } catch (error) {
        if (signal.aborted) throw error
        const message = errorMessage(error)
        if (!isReady) {
          const text = `Cannot serve the Kubernetes API: ${message}; see ${layout.apiLog}`
          ready.reject(new NodeError(text, exitCodes.failed, { cause: error }))
          return
        }
        // Pods need no API to go on: the node stays.
        const pauseMs = backOff.next()
        deps.say(
          `the Kubernetes API ended (${message}), starting it again in ${pauseMs / 1000} s; see ${layout.apiLog}`,
        )
        await deps.clock.sleep(pauseMs, signal)
      }
    }
  })
  group.signal.addEventListener('abort', () => ready.reject(group.signal.reason), { once: true })
  await ready.promise
  deps.say(`Kubernetes API on ${apiUrls(record).join(' and ')}`)
}

/** Errors of the API that a person at the terminal should see, each once in a while: a full disk fails every request. */
export function createErrorReporter(deps: Pick<UpDeps, 'say' | 'clock'>, logFile: string): (what: string) => void {
  let said = { what: '', at: -Infinity }
  return (what) => {
    const now = deps.clock.monotonic()
    if (said.what === what && now - said.at < SAID_AGAIN_MS) return
    said = { what, at: now }
    deps.say(`the Kubernetes API: ${what}; see ${logFile}`)
  }
}
