import type { HTTPIngressPath, Ingress, IngressBackend, IngressClass } from '../../../model/generated/api-groups.ts'
import { ingressClassOf, OWN_INGRESS_CONTROLLER } from '../../../model/networking/ingress-classes.ts'
import type { Live } from '../../engine/live-object.ts'
import type { RouteBackend, HostRoutes, IngressProblem, PathRoute, IngressRoutes } from './ingress-route.ts'

/** The Ingresses that are ours to serve, oldest first: of two that ask for the same the older one has it. */
export function computeServed(
  ingresses: readonly Live<Ingress>[],
  classes: readonly Live<IngressClass>[],
): readonly Live<Ingress>[] {
  const own = new Set(
    classes.filter(({ spec }) => spec.controller === OWN_INGRESS_CONTROLLER).map(({ metadata }) => metadata.name),
  )
  return ingresses
    .filter((ingress) => own.has(ingressClassOf(ingress) ?? '') && ingress.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
}

interface HostDraft {
  readonly paths: Map<string, PathRoute & { readonly owner: string }>
  fallback: RouteBackend | undefined
}

/** What requests are matched against, and what of the Ingresses could not be taken into it. */
export function computeRoutes(served: readonly Live<Ingress>[]): {
  readonly table: IngressRoutes
  readonly problems: readonly IngressProblem[]
} {
  const hosts = new Map<string, HostDraft>()
  const problems: IngressProblem[] = []
  let fallback: { readonly backend: RouteBackend; readonly owner: string } | undefined
  for (const ingress of served) {
    const { rules = [], defaultBackend } = ingress.spec
    const owner = nameOf(ingress)
    const own = defaultBackend && toBackend(ingress, defaultBackend)
    for (const { host = '', http } of rules) {
      const draft: HostDraft = hosts.get(host) ?? { paths: new Map(), fallback: undefined }
      hosts.set(host, draft)
      draft.fallback ??= own
      for (const path of http?.paths ?? []) {
        const message = addPath(draft, ingress, path)
        const place = `${host === '' ? 'all hosts' : host}, path ${path.path || '/'}`
        if (message !== undefined)
          problems.push({ ingress, reason: 'ConflictingPath', message: `${place}: ${message}` })
      }
    }
    if (own !== undefined && fallback !== undefined && rules.length === 0) {
      const message = `the default backend for requests that nothing else is for belongs to ${fallback.owner}, which is older`
      problems.push({ ingress, reason: 'ConflictingBackend', message })
    }
    if (own !== undefined) fallback ??= { backend: own, owner }
  }
  const sorted = [...hosts].map(([host, draft]): readonly [string, HostRoutes] => [host, toRoutes(draft)])
  return { table: { hosts: new Map(sorted), fallback: fallback?.backend }, problems }
}

/** The longest first, and of two of a length the one that is exact. */
function toRoutes({ paths, fallback }: HostDraft): HostRoutes {
  const routes = [...paths.values()].map(({ path, isExact, backend }) => ({ path, isExact, backend }))
  return {
    paths: routes.toSorted((a, b) => b.path.length - a.path.length || Number(b.isExact) - Number(a.isExact)),
    fallback,
  }
}

/** Returns why it was not taken. */
function addPath(
  draft: HostDraft,
  ingress: Live<Ingress>,
  { path: written = '', pathType, backend }: HTTPIngressPath,
): string | undefined {
  // ImplementationSpecific paths are prefixes, as with most other ingress controllers.
  const isExact = pathType === 'Exact'
  const path = written === '' ? '/' : written
  const key = `${isExact} ${path}`
  const taken = draft.paths.get(key)
  const owner = nameOf(ingress)
  if (taken?.owner === owner) return 'it is there twice, the first one is used'
  if (taken !== undefined) return `it belongs to ${taken.owner}, which is older`
  draft.paths.set(key, { path, isExact, backend: toBackend(ingress, backend), owner })
  return undefined
}

function toBackend({ metadata }: Live<Ingress>, { service, resource }: IngressBackend): RouteBackend {
  if (service === undefined)
    return { kind: 'refused', why: `a backend of the kind ${resource?.kind} cannot be used here, only services can` }
  const { name, port = {} } = service
  return { kind: 'service', namespace: metadata.namespace, name, port: port.name || (port.number ?? 0) }
}

function nameOf({ metadata }: Live<Ingress>): string {
  return `${metadata.namespace}/${metadata.name}`
}

function ageOf(ingress: Live<Ingress>): string {
  return `${ingress.metadata.creationTimestamp ?? ''} ${nameOf(ingress)}`
}

/** Every backend that requests may be sent to, with the Ingress that names it. */
export function listBackends(
  served: readonly Live<Ingress>[],
): readonly { readonly ingress: Live<Ingress>; readonly backend: RouteBackend }[] {
  return served.flatMap((ingress) => {
    const { defaultBackend, rules = [] } = ingress.spec
    const all = [
      ...(defaultBackend === undefined ? [] : [defaultBackend]),
      ...rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
    ]
    return all.map((backend) => ({ ingress, backend: toBackend(ingress, backend) }))
  })
}
