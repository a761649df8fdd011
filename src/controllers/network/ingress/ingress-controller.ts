import { sameValue } from '../../../base/document/same-value.ts'
import type {
  EndpointSlice,
  Ingress,
  IngressClass,
  IngressLoadBalancerIngress,
} from '../../../model/generated/api-groups.ts'
import type { Node, Secret, Service } from '../../../model/generated/core-v1.ts'
import type { KubeObject } from '../../../protocols/kube-api/list-watch/kube-object.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import { SERVICE_NAME_LABEL } from '../endpoints/service-labels.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { createQueue } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { computeBackendTargets } from './compute-backend-targets.ts'
import type { BackendTargets } from './compute-backend-targets.ts'
import { computeCertificates } from './compute-certificates.ts'
import { computeIngressStatus } from './compute-ingress-status.ts'
import { computeRoutes, computeServed, listBackends } from './compute-routes.ts'
import { createFallbackCertificate } from './certificate-table.ts'
import { IngressProxy } from './ingress-proxy.ts'
import type { IngressPorts, OpenedPorts, PortProblem } from './ingress-ports.ts'
import { computePortProblems } from './compute-port-problems.ts'
import type { RouteBackend, IngressProblem } from './ingress-route.ts'

export interface IngressOptions {
  readonly ports: IngressPorts
  /** See ProxyDeps. */
  readonly sharedPort?: number
  /** Called once the ports were tried, and whenever that has another result. */
  readonly onPorts?: (result: OpenedPorts) => Promise<void> | void
}

type Followed<T extends KubeObject> = Pick<ApiObjects<T>, 'known' | 'untilSynced'>

export interface IngressDeps extends Pick<ControllerDeps, 'clock' | 'log' | 'record'> {
  readonly nodeName: string
  readonly services: Followed<Service>
  readonly slices: Followed<EndpointSlice>
  readonly nodes: Followed<Node>
  readonly ingresses: ApiObjects<Ingress>
  readonly classes: Followed<IngressClass>
  /** Those with certificates. */
  readonly secrets: Followed<Secret>
}

type ServiceBackend = RouteBackend & { readonly kind: 'service' }

// What one Ingress gets depends on all the others.
const ALL = '/all'
const COMPONENT = 'deckhand-ingress'
// Another program may leave a port at any time.
const REOPEN_MS = 2000

/** Serves Ingresses of the node's own class: routes, certificates, their status and what is wrong with them. */
export function createIngressController(deps: IngressDeps, options: IngressOptions): Controller {
  const controller = new IngressController(deps, options)
  return { name: 'ingress', run: (signal) => controller.run(signal) }
}

class IngressController {
  readonly #deps: IngressDeps
  readonly #options: IngressOptions
  readonly #queue
  readonly #record: RecordEvent
  /** The endpoints of backends since the last change of any. */
  readonly #targets = new Map<string, BackendTargets>()
  /** What was said about each Ingress, by its UID. */
  readonly #said = new Map<string, string>()
  #opened: OpenedPorts | undefined

  constructor(deps: IngressDeps, options: IngressOptions) {
    this.#deps = deps
    this.#options = options
    this.#queue = createQueue('ingress', deps)
    this.#record = createObjectEvents(deps.record, COMPONENT, deps.ingresses.kind)
    const { ingresses, classes, secrets, services, slices, nodes } = deps
    const queueAll = () => this.#queue.add(ALL)
    for (const { known } of [classes, secrets]) known.onChange(queueAll)
    ingresses.known.onChange((after, before) => {
      // The rest of it, such as its version, changes nothing.
      if (!sameValue(relevantOf(after), relevantOf(before))) queueAll()
    })
    services.known.onChange((after, before) => {
      if (sameValue(after?.spec, before?.spec)) return
      this.#targets.clear()
      queueAll()
    })
    slices.known.onChange(() => this.#targets.clear())
    nodes.known.onChange((after, before) => {
      if (!sameValue(after?.status?.addresses, before?.status?.addresses)) queueAll()
    })
  }

  async run(signal: AbortSignal): Promise<never> {
    const { clock, log, ingresses, classes, secrets, services, slices, nodes } = this.#deps
    // Half of what there is would answer 404 for what works.
    for (const objects of [ingresses, classes, secrets, services, slices, nodes]) await objects.untilSynced(signal)
    const proxy = new IngressProxy({
      clock,
      log,
      sharedPort: this.#options.sharedPort,
      targetsOf: (backend) => this.#targetsOf(backend),
      fallbackCertificate: () => createFallbackCertificate(clock.now()),
    })
    this.#opened = undefined
    try {
      this.#queue.add(ALL)
      return await this.#queue.run((_key, s) => this.#sync(proxy, s), signal)
    } finally {
      proxy.close()
    }
  }

  async #sync(proxy: IngressProxy, signal: AbortSignal): Promise<NextTurn> {
    const { ingresses, classes, secrets, nodes } = this.#deps
    const served = computeServed(ingresses.known.all(), classes.known.all())
    const routes = computeRoutes(served)
    const certificates = computeCertificates(served)
    proxy.route(routes.table)
    const closed = await this.#open(proxy)
    const bad = proxy.certify(certificates.uses, (namespace, name) => secrets.known.get(namespace, name))
    const problems = [...routes.problems, ...certificates.problems, ...bad, ...this.#backendProblems(served)]
    this.#say(served, [...computePortProblems(served, this.#options.ports, closed), ...problems])
    const open = [proxy.ports.http, proxy.ports.https].filter((port) => port !== undefined)
    const address = computeIngressStatus(nodes.known.all()[0], open)
    const own = new Set(served.map(({ metadata }) => metadata.uid))
    let failure: unknown
    for (const ingress of ingresses.known.all()) {
      const shown = ingress.status?.loadBalancer?.ingress ?? []
      const isOwn = own.has(ingress.metadata.uid)
      // One that is not ours any more, and of which only we would say that it is here.
      const wanted = isOwn ? address : sameValue(shown, address) ? [] : shown
      if (sameValue(shown, wanted)) continue
      // The trouble of one is not that of the others.
      await this.#write(ingress, wanted, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        failure = error
      })
    }
    if (failure !== undefined) throw failure
    return closed.length === 0 ? undefined : { afterMs: REOPEN_MS }
  }

  /** Listens where it does not yet; returns the ports that cannot be listened on. */
  async #open(proxy: IngressProxy): Promise<readonly PortProblem[]> {
    const { ports, onPorts } = this.#options
    const problems = await proxy.open(ports)
    const opened = { open: proxy.ports, problems }
    if (sameValue(this.#opened, opened)) return problems
    this.#opened = opened
    for (const { port, why } of problems)
      this.#deps.log.warn('the ingress cannot listen on a port, will try again', { port, why })
    await onPorts?.(opened)
    return problems
  }

  async #write(
    ingress: Live<Ingress>,
    shown: readonly IngressLoadBalancerIngress[],
    signal: AbortSignal,
  ): Promise<void> {
    await writeAddress(this.#deps.ingresses, ingress, shown, signal)
    const addresses = shown.map(({ ip }) => ip).join(' and ')
    const ports = (shown[0]?.ports ?? []).map(({ port }) => port).join(' and ')
    if (shown.length > 0) this.#record(ingress, 'Normal', 'Sync', `Served at ${addresses}, port ${ports}`)
  }

  /** Each thing once, until something else is wrong. */
  #say(served: readonly Live<Ingress>[], problems: readonly IngressProblem[]): void {
    const left = new Set(this.#said.keys())
    for (const { metadata } of served) {
      left.delete(metadata.uid)
      const own = problems.filter(({ ingress }) => ingress.metadata.uid === metadata.uid)
      const text = JSON.stringify(own.map(({ reason, message }) => [reason, message]))
      if (this.#said.get(metadata.uid) === text) continue
      this.#said.set(metadata.uid, text)
      for (const { ingress, reason, message } of own) this.#record(ingress, 'Warning', reason, message)
    }
    for (const uid of left) this.#said.delete(uid)
  }

  #backendProblems(served: readonly Live<Ingress>[]): readonly IngressProblem[] {
    return listBackends(served).flatMap(({ ingress, backend }) => {
      if (backend.kind === 'refused') return [{ ingress, reason: 'UnsupportedBackend', message: backend.why }]
      const found = this.#find(backend)
      return found.kind === 'problem' ? [{ ingress, reason: 'BadBackend', message: found.why }] : []
    })
  }

  #targetsOf(backend: ServiceBackend): readonly EndpointTarget[] {
    const found = this.#find(backend)
    return found.kind === 'targets' ? found.targets : []
  }

  #find(backend: ServiceBackend): BackendTargets {
    const { namespace, name, port } = backend
    const key = `${namespace}/${name}/${port}`
    const known = this.#targets.get(key)
    if (known !== undefined) return known
    const { services, slices, nodeName } = this.#deps
    const own = slices.known
      .all()
      .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.[SERVICE_NAME_LABEL] === name)
    const found = computeBackendTargets(backend, services.known.get(namespace, name), own, nodeName)
    this.#targets.set(key, found)
    return found
  }
}

/** Takes back, at a start without ports for it, what an earlier run said about Ingresses. */
export function createUnservedIngresses(
  deps: Pick<IngressDeps, 'record' | 'log' | 'ingresses' | 'classes'>,
  why: string,
): Controller {
  const record = createObjectEvents(deps.record, COMPONENT, deps.ingresses.kind)
  return {
    name: 'unserved-ingresses',
    async run(signal) {
      for (const objects of [deps.ingresses, deps.classes]) await objects.untilSynced(signal)
      for (const ingress of computeServed(deps.ingresses.known.all(), deps.classes.known.all())) {
        const { namespace, name } = ingress.metadata
        deps.log.warn('an ingress is not served', { ingress: `${namespace}/${name}`, why })
        record(ingress, 'Warning', 'NotServed', `The Ingress is not served: ${why}`)
        if ((ingress.status?.loadBalancer?.ingress ?? []).length > 0)
          await writeAddress(deps.ingresses, ingress, [], signal)
      }
    },
  }
}

async function writeAddress(
  ingresses: ApiObjects<Ingress>,
  ingress: Live<Ingress>,
  shown: readonly IngressLoadBalancerIngress[],
  signal: AbortSignal,
): Promise<void> {
  const loadBalancer = shown.length === 0 ? {} : { ingress: shown }
  await ingresses.updateStatus({ ...ingress, status: { ...ingress.status, loadBalancer } }, signal)
}

/** The parts of an Ingress that anything depends on. */
function relevantOf(ingress: Live<Ingress> | undefined) {
  if (ingress === undefined) return undefined
  const { annotations, deletionTimestamp } = ingress.metadata
  return { spec: ingress.spec, annotations, deletionTimestamp, status: ingress.status }
}
